package store

import (
	"fmt"
	"slices"
	"sync"
)

// Derived is a value computed from tables, once for each state of the tables, however many readers request it.
type Derived[T any] struct {
	name   string
	index  int
	tables []int
	names  []string
	of     func(v View, before *T) T
}

// source is a table or a derived value, which another one is derived from.
type source interface{ reads() []string }

func (d *Derived[T]) reads() []string { return d.names }

// Derive adds a derived value to the schema, before a Store uses it. of must be pure, and read nothing but the named
// tables, and the tables of the named other values; its result is shared, and must not be changed. The name appears in the error when of reads another table.
func Derive[T any](s *Schema, name string, of func(View) T, from ...source) *Derived[T] {
	return DeriveFrom(s, name, func(v View, _ *T) T { return of(v) }, from...)
}

// DeriveFrom is Derive for a value that is quicker to compute from an earlier one. before is the value of some other state
// of the tables, nil at first; it must not be changed, and the result of of must not depend on it.
func DeriveFrom[T any](s *Schema, name string, of func(v View, before *T) T, from ...source) *Derived[T] {
	d := &Derived[T]{name: name, index: s.derived, of: of}
	for _, f := range from {
		for _, t := range f.reads() {
			_, i := s.table(t)
			if i < 0 {
				panic(fmt.Sprintf("store: %s is derived from table %q, which does not exist", name, t)) // as in Define
			}
			if !slices.Contains(d.names, t) {
				d.tables, d.names = append(d.tables, i), append(d.names, t)
			}
		}
	}
	s.derived++
	return d
}

// In returns the value for v. The first caller computes it, and the others wait for the result. It panics with
// *UndeclaredError when v belongs to a subscriber that did not declare the tables as inputs.
func (d *Derived[T]) In(v View) T {
	for i, t := range d.tables {
		v.check(t, d.names[i])
	}
	return v.derived[d.index].value(v.Snapshot, d.tables, func(before any) any {
		own := View{Snapshot: v.Snapshot, reader: d.name, allowed: make([]bool, len(v.contents))}
		for _, t := range d.tables {
			own.allowed[t] = true
		}
		if before == nil {
			return d.of(own, nil)
		}
		known := before.(T)
		return d.of(own, &known)
	}).(T)
}

// Inputs declares the tables, for subscribers that read the value.
func (d *Derived[T]) Inputs() []Input {
	in := make([]Input, len(d.names))
	for i, n := range d.names {
		in[i] = Input{Table: n}
	}
	return in
}

// derivation is the newest value of a Derived in one store.
type derivation struct {
	mu    sync.Mutex
	known bool
	// seq and versions identify the snapshot, and the versions of the tables, that is was computed from.
	seq      uint64
	versions []uint64
	is       any
}

// value returns the value for a snapshot. A value for a snapshot older than the newest requested one is not kept.
func (d *derivation) value(s *Snapshot, tables []int, compute func(before any) any) any {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known && d.holds(s, tables) {
		d.seq = max(d.seq, s.Seq)
		return d.is
	}
	is := compute(d.is)
	if d.known && s.Seq < d.seq {
		return is
	}
	if d.versions == nil {
		d.versions = make([]uint64, len(tables))
	}
	for i, t := range tables {
		d.versions[i] = s.versions[t]
	}
	d.known, d.seq, d.is = true, s.Seq, is
	return is
}

// holds reports whether the tables have the same versions in a snapshot as the value was computed from.
func (d *derivation) holds(s *Snapshot, tables []int) bool {
	for i, t := range tables {
		if s.versions[t] != d.versions[i] {
			return false
		}
	}
	return true
}
