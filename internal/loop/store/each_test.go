package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEach changes a list at random and checks every value, and that unchanged items are not computed again if only little
// changes.
func TestEach(t *testing.T) {
	f := newFixture()
	list := Derive(f.schema, "counters", func(v View) []*Entry[counter] { return slices.Collect(f.counters.In(v).Refs()) }, f.counters)
	computed := 0
	doubled := DeriveEach(f.schema, "doubles", list, func(e *Entry[counter]) string {
		computed++
		return fmt.Sprint(e.ID, 2*e.Value.N)
	})
	On(f.counters, func(d *Draft[counter], a left) { d.Delete(a.ID) })
	s := New(f.schema)
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 3000 {
		changes := 1 + random.IntN(3)
		if round%10 == 0 {
			changes = 100
		}
		for range changes {
			if id := fmt.Sprint(random.IntN(300)); random.IntN(3) == 0 {
				s.Dispatch(left{id})
			} else {
				s.Dispatch(added{id})
			}
		}
		s.Step()
		v := s.Snapshot().All()
		computed = 0
		items, values := doubled.In(v)
		if changes <= 3 && round%10 != 1 && computed > changes {
			t.Errorf("round %d: %d values were computed after %d changes", round, computed, changes)
		}
		if !slices.Equal(items, list.In(v)) || len(values) != len(items) {
			t.Fatalf("round %d: %d items, %d values", round, len(items), len(values))
		}
		for i, e := range items {
			if want := fmt.Sprint(e.ID, 2*e.Value.N); values[i] != want {
				t.Fatalf("round %d: %q, want %q", round, values[i], want)
			}
		}
	}
}
