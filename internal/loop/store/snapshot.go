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
	// At is the dispatch time of the newest action in it. All actions that it does not hold have later times.
	At       time.Time
	schema   *Schema
	contents []*content
	versions []uint64
	// derived and lists are shared by all snapshots of a store.
	derived []derivation
	lists   []*listing // for each table
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

// check panics if the reader did not declare a table.
func (v View) check(index int, name string) {
	if v.allowed != nil && !v.allowed[index] {
		panic(&UndeclaredError{Subscriber: v.reader, What: "read table " + name})
	}
}

// rows returns the rows of a table.
func (v View) rows(index int, name string) rows {
	v.check(index, name)
	return rows{v.contents[index], v.versions[index], v.lists[index]}
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
			if !yield(t.name, s.contents[i].Len()) {
				return
			}
		}
	}
}

// Dump yields the entries of the named table as metadata and value; ok is false when there is no such table.
func (s *Snapshot) Dump(table string) (entries iter.Seq2[Meta, any], ok bool) {
	t, i := s.schema.table(table)
	if t == nil {
		return nil, false
	}
	return func(yield func(Meta, any) bool) {
		for _, e := range (rows{m: s.contents[i]}).all() {
			if !yield(*e.Metadata(), e.Any()) {
				return
			}
		}
	}, true
}

// Rows yields the entries of the named table in the order of their ids; none when there is no such table. Like Table.In
// it panics when the view's reader did not declare the table.
func (v View) Rows(table string) iter.Seq[Row] {
	t, i := v.schema.table(table)
	if t == nil {
		return func(func(Row) bool) {}
	}
	all := v.rows(i, table)
	return func(yield func(Row) bool) {
		for _, e := range all.all() {
			if !yield(e) {
				return
			}
		}
	}
}

// UndeclaredError reports that a subscriber used something that its contract does not declare.
type UndeclaredError struct {
	Subscriber string
	What       string
}

// Error names the subscriber and the undeclared use.
func (e *UndeclaredError) Error() string {
	return fmt.Sprintf("subscriber %q must not %s: its contract does not declare it", e.Subscriber, e.What)
}

var _ error = (*UndeclaredError)(nil)
