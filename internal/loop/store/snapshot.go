package store

import (
	"fmt"
	"iter"
	"time"
)

// Snapshot is the whole state after one batch. It is immutable.
type Snapshot struct {
	// Seq numbers snapshots from 0, the empty one, without gaps.
	Seq uint64
	// At is when the newest action in it was dispatched. Actions that are not in it yet have later times.
	At       time.Time
	schema   *Schema
	contents []any
	versions []uint64
	// derived and lists are shared by all snapshots of a store.
	derived []derivation
	lists   []any // *listing[T] for each table
}

// View is a snapshot as one reader may see it. The zero View is empty and must not be read.
type View struct {
	*Snapshot
	reader string
	// allowed holds a flag per table; nil allows all.
	allowed []bool
}

// All returns a view of the whole snapshot, for readers outside of the subscribers' contracts: tests and dumps.
func (s *Snapshot) All() View { return View{Snapshot: s} }

func (v View) content(index int, name string) any {
	if v.allowed != nil && !v.allowed[index] {
		panic(&UndeclaredError{Subscriber: v.reader, What: "read table " + name})
	}
	return v.contents[index]
}

// Version returns a number that grows with each batch that changes the table.
func (v View) Version(table string) uint64 {
	_, i := v.schema.table(table)
	if i < 0 {
		return 0
	}
	return v.versions[i]
}

// Tables yields the name and the number of entries of every table, in the order of definition.
func (s *Snapshot) Tables() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for i, t := range s.schema.tables {
			if !yield(t.Name(), t.size(s.contents[i])) {
				return
			}
		}
	}
}

// Dump yields the entries of the named table as metadata and value; ok is false when there is no such table.
func (s *Snapshot) Dump(table string) (rows iter.Seq2[Meta, any], ok bool) {
	t, i := s.schema.table(table)
	if t == nil {
		return nil, false
	}
	return t.rows(s.contents[i]), true
}

// Rows yields the entries of the named table in the order of their ids; none when there is no such table. Like Table.In
// it panics when the view's reader did not declare the table.
func (v View) Rows(table string) iter.Seq[Row] {
	t, i := v.schema.table(table)
	if t == nil {
		return func(func(Row) bool) {}
	}
	v.content(i, table)
	return t.refs(v)
}

// UndeclaredError reports that a subscriber used something that its contract does not declare.
type UndeclaredError struct {
	Subscriber string
	What       string
}

// Error names the subscriber and what it did.
func (e *UndeclaredError) Error() string {
	return fmt.Sprintf("subscriber %q must not %s: its contract does not declare it", e.Subscriber, e.What)
}

var _ error = (*UndeclaredError)(nil)
