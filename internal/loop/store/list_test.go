package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// TestChanges compares lists of a table that changes at random: their changes lead from one to the other.
func TestChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	f := newFixture()
	s := New(f.schema)
	var lists []List[job]
	for range 300 {
		for range random.IntN(6) {
			id := fmt.Sprint(random.IntN(20))
			if random.IntN(2) == 0 {
				s.Dispatch(hired{id})
			} else {
				s.Dispatch(left{id})
			}
		}
		s.Step()
		lists = append(lists, f.jobs.In(s.Snapshot().All()).List())
		before, now := lists[random.IntN(len(lists))], lists[random.IntN(len(lists))]
		got := byID(before)
		for was, is := range now.Changes(before) {
			switch {
			case was == is || was == nil && got[is.ID] != nil || was != nil && got[was.ID] != was:
				t.Fatalf("%v to %v", was, is)
			case is == nil:
				delete(got, was.ID)
			default:
				got[is.ID] = is
			}
		}
		if want := byID(now); !maps.Equal(got, want) {
			t.Fatalf("the changes lead to %v, want %v", got, want)
		}
	}
}

func byID[T any](l List[T]) map[string]*Entry[T] {
	out := map[string]*Entry[T]{}
	for _, e := range l.of {
		out[e.Metadata().ID] = entryOf[T](e)
	}
	return out
}
