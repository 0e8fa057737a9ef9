package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestListing changes a table at random, in batches both smaller and larger than patched, and reads it in some of the
// snapshots, sometimes in an older one: the list agrees with the map.
func TestListing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	f := newFixture()
	s := New(f.schema)
	var older []*Snapshot
	for batch := range 2000 {
		for range 1 + random.IntN(2*patched) {
			id := fmt.Sprint(random.IntN(60))
			switch random.IntN(3) {
			case 0:
				s.Dispatch(left{id}) // no subscriber holds it
			case 1:
				s.Dispatch(hired{id})
			case 2:
				s.Dispatch(added{id})
			}
		}
		s.Step()
		older = append(older, s.Snapshot())
		if random.IntN(4) == 0 {
			continue // a batch without a reader
		}
		for _, at := range []*Snapshot{s.Snapshot(), older[random.IntN(len(older))], s.Snapshot()} {
			listed(t, batch, f.jobs.In(at.All()))
			listed(t, batch, f.counters.In(at.All()))
		}
	}
}

func listed[T any](t *testing.T, batch int, rows Rows[T]) {
	t.Helper()
	got := slices.Collect(rows.Refs())
	rows.of.listing = nil
	if want := slices.Collect(rows.Refs()); !slices.Equal(got, want) {
		t.Fatalf("batch %d: %d entries, want %d", batch, len(got), len(want))
	}
}

func BenchmarkListing(b *testing.B) {
	f := newFixture()
	s := New(f.schema)
	for i := range 1000 {
		s.Dispatch(added{fmt.Sprint(i)})
	}
	s.Step()
	b.Run("map", func(b *testing.B) {
		rows := f.counters.In(s.Snapshot().All())
		rows.of.listing = nil
		for b.Loop() {
			sum(rows)
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			sum(f.counters.In(s.Snapshot().All()))
		}
	})
	b.Run("change and list", func(b *testing.B) {
		for b.Loop() {
			s.Dispatch(added{"500"})
			s.Step()
			sum(f.counters.In(s.Snapshot().All()))
		}
	})
}

func sum(rows Rows[counter]) (n int) {
	for e := range rows.Refs() {
		n += e.Value.N
	}
	return n
}
