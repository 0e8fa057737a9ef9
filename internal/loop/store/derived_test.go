package store

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// derived is a fixture with the number of counters, derived; computed counts the computations.
func derived(t *testing.T) (f fixture, n *Derived[int], computed *atomic.Int64) {
	t.Helper()
	f, computed = newFixture(), &atomic.Int64{}
	n = Derive(f.schema, "number of counters", func(v View) int {
		computed.Add(1)
		return f.counters.In(v).Len()
	}, f.counters)
	return f, n, computed
}

// TestDerived computes a value once for each state of its tables.
func TestDerived(t *testing.T) {
	f, n, computed := derived(t)
	s := New(f.schema)
	check := func(what string, v View, value int, computations int64) {
		t.Helper()
		if got := n.In(v); got != value || computed.Load() != computations {
			t.Errorf("%s: %d after %d computations, want %d after %d", what, got, computed.Load(), value, computations)
		}
	}
	empty := s.Snapshot().All()
	check("empty", empty, 0, 1)
	check("again", empty, 0, 1)
	s.Dispatch(added{"a"})
	s.Step()
	one := s.Snapshot().All()
	check("one", one, 1, 2)
	check("an older one", empty, 0, 3)
	check("the newest is kept", one, 1, 3)
	s.Dispatch(hired{"x"})
	s.Step()
	check("another table", s.Snapshot().All(), 1, 3)
	check("the same in an older snapshot", one, 1, 3)
	s.Dispatch(added{"b"})
	s.Step()
	check("two", s.Snapshot().All(), 2, 4)

	other := New(f.schema)
	check("another store", other.Snapshot().All(), 0, 5)
	check("the first store", s.Snapshot().All(), 2, 5)
	restored, err := Restore(f.schema, 7, empty.At, map[string][]Kept{"counters": {{Meta: Meta{ID: "a"}, Value: counter{1}}}})
	if err != nil {
		t.Fatal(err)
	}
	check("a restored snapshot", restored.All(), 1, 6)
}

// TestDerivedByMany has many readers request a value at once: one computes it, and all get the same.
func TestDerivedByMany(t *testing.T) {
	f, n, computed := derived(t)
	s := New(f.schema)
	s.Dispatch(added{"a"})
	s.Step()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if got := n.In(s.Snapshot().All()); got != 1 {
				t.Errorf("got %d", got)
			}
		})
	}
	all.Wait()
	if computed.Load() != 1 {
		t.Errorf("computed %d times", computed.Load())
	}
}

// TestDerivedKeepsContracts refuses readers that did not declare the tables that a value is derived from, also when the
// value is known, and values that read undeclared tables.
func TestDerivedKeepsContracts(t *testing.T) {
	f, n, _ := derived(t)
	greedy := Derive(f.schema, "greed", func(v View) int { return f.jobs.In(v).Len() }, f.counters)
	s := New(f.schema)
	v := s.Snapshot().All()
	n.In(v)
	refused := func(what string, read func()) {
		t.Helper()
		defer func() {
			err, _ := recover().(error)
			var undeclared *UndeclaredError
			if !errors.As(err, &undeclared) || !strings.Contains(err.Error(), what) {
				t.Errorf("got %v, want a refusal of %q", err, what)
			}
		}()
		read()
	}
	stranger := View{Snapshot: v.Snapshot, reader: "stranger", allowed: make([]bool, 2)}
	refused(`"stranger" must not read table counters`, func() { n.In(stranger) })
	refused(`"greed" must not read table jobs`, func() { greedy.In(v) })
	refused(`"greed" must not read table jobs`, func() { greedy.In(v) }) // and its lock was released
	defer func() {
		if recover() == nil {
			t.Error("derived from a table of another schema")
		}
	}()
	Derive(NewSchema(), "nothing", func(View) int { return 0 }, f.counters)
}

// TestIf reduces actions into a snapshot that is the store's in nothing: neither the store's next one nor the values kept for it change.
func TestIf(t *testing.T) {
	f, n, _ := derived(t)
	s := New(f.schema)
	s.Dispatch(added{"a"})
	s.Step()
	now := s.Snapshot()
	what := now.If(added{"b"}, added{"c"})
	list := func(v View) (ids []string) {
		for r := range v.Rows("counters") {
			ids = append(ids, r.Metadata().ID)
		}
		return ids
	}
	check := func(name string, s *Snapshot, want ...string) {
		t.Helper()
		if got, number := list(s.All()), n.In(s.All()); !slices.Equal(got, want) || number != len(want) {
			t.Errorf("%s: %v, %d", name, got, number)
		}
	}
	check("if", what, "a", "b", "c")
	check("now", now, "a")
	s.Dispatch(added{"z"})
	s.Step()
	check("next", s.Snapshot(), "a", "z")
	check("if, later", what, "a", "b", "c")
	if !what.At.After(now.At) {
		t.Errorf("at %s, after %s", what.At, now.At)
	}
}
