package store

import (
	"iter"
	"reflect"
	"time"
)

// Phase is the phase of an entry's life.
type Phase string

// The phases of an entry.
const (
	Running     Phase = "running"
	TearingDown Phase = "tearing-down"
)

// Meta holds the facts that the store records about an entry in addition to its value.
type Meta struct {
	ID string
	// Version counts the changes of this entry, from 1.
	Version uint64
	// Owner names the subscriber or part whose action created the entry, if the reducer sets it.
	Owner string
	Phase Phase
	// Finalizers name the subscribers that still hold the entry.
	Finalizers []string
	Labels     map[string]string
	Created    time.Time
	Updated    time.Time
}

// Entry is one row of a table. Entries are immutable: callers may keep them.
type Entry[T any] struct {
	Meta
	Value T
}

// Row is an entry of any table. It is comparable, and equal only to itself: a changed entry is another row.
type Row interface {
	// Metadata is the entry's own and must not be changed.
	Metadata() *Meta
	// Any returns a copy of the value.
	Any() any
	// with returns the entry with other metadata.
	with(Meta) Row
}

// Metadata implements Row.
func (e *Entry[T]) Metadata() *Meta { return &e.Meta }

// Any implements Row.
func (e *Entry[T]) Any() any { return e.Value }

func (e *Entry[T]) with(m Meta) Row { return &Entry[T]{m, e.Value} }

// entryOf returns a row as an entry of its type, or nil if there is no row.
func entryOf[T any](r Row) *Entry[T] {
	e, _ := r.(*Entry[T])
	return e
}

// definition is a table without the type of its values. The store works with definitions, rows and drafts of any table: the
// compiler makes a copy of generic code for each type and in each package that uses it, and Table, Rows and Draft are but thin
// views of the code here.
type definition struct {
	index      int
	name       string
	doc        string
	finalizers bool
	schema     *Schema
	value      reflect.Type
	followers  []follower
	// row makes an entry of a value of the table's type; ok is false for a value of another type.
	row func(m Meta, value any) (r Row, ok bool)
	// view returns the *Draft[T] of a draft.
	view func(d *draft) any
	// onDestroy may be nil.
	onDestroy func(d *draft, gone Row)
}

// Name returns the table's name.
func (t *definition) Name() string { return t.name }

// Table describes a set of entries of one type. It holds no entries itself: Table.In reads them from a View.
type Table[T any] struct{ of *definition }

// Name returns the table's name.
func (t *Table[T]) Name() string { return t.of.name }

func (t *Table[T]) reads() []string { return []string{t.of.name} }

// In returns the table's rows in v. It panics with *UndeclaredError when v belongs to a subscriber that did not declare the
// table as an input; the supervisor counts that as a crash of the subscriber.
func (t *Table[T]) In(v View) Rows[T] { return Rows[T]{v.rows(t.of.index, t.of.name)} }

// Rows are the entries of a table at one moment.
type Rows[T any] struct{ of rows }

// Len returns the number of entries.
func (r Rows[T]) Len() int { return r.of.len() }

// Ref returns the table's own entry with the given id, which must not be changed; nil when there is none.
func (r Rows[T]) Ref(id string) *Entry[T] { return entryOf[T](r.of.get(id)) }

// Value returns the value of the entry with the given id, or the zero value.
func (r Rows[T]) Value(id string) (value T) {
	if e := r.Ref(id); e != nil {
		value = e.Value
	}
	return value
}

// Refs yields the table's own entries, which must not be changed, in the order of their ids.
func (r Rows[T]) Refs() iter.Seq[*Entry[T]] {
	return func(yield func(*Entry[T]) bool) {
		for _, e := range r.of.all() {
			if !yield(e.(*Entry[T])) {
				return
			}
		}
	}
}

// After yields the table's own entries, which must not be changed, whose ids come after the given one, in their order.
func (r Rows[T]) After(id string) iter.Seq[*Entry[T]] {
	return func(yield func(*Entry[T]) bool) {
		r.of.after(id, func(e Row) bool { return yield(e.(*Entry[T])) })
	}
}

// Ends returns the first and the last of the table's own entries, which must not be changed; nil when there is none.
func (r Rows[T]) Ends() (first, last *Entry[T]) {
	a, b := r.of.ends()
	return entryOf[T](a), entryOf[T](b)
}

// Draft is a table during a batch: only reducers read and write it.
type Draft[T any] struct{ of *draft }

// Now is the time at which the action that is being reduced was dispatched.
func (d *Draft[T]) Now() time.Time { return d.of.now }

// Ref returns the entry with the given id, which must not be changed; nil when there is none.
func (d *Draft[T]) Ref(id string) *Entry[T] { return Rows[T]{d.of.rows}.Ref(id) }

// Value returns the value of the entry with the given id, or the zero value.
func (d *Draft[T]) Value(id string) T { return Rows[T]{d.of.rows}.Value(id) }

// Refs yields the entries, which must not be changed, in the order of their ids, as they were when the iteration began: the draft may be
// changed meanwhile.
func (d *Draft[T]) Refs() iter.Seq[*Entry[T]] { return Rows[T]{d.of.rows}.Refs() }

// Last returns the id of the last entry, empty when there is none.
func (d *Draft[T]) Last() string { return d.of.last() }

// Len returns the number of entries.
func (d *Draft[T]) Len() int { return d.of.rows.len() }

// Put creates or replaces the value of the entry with the given id. An entry that is being torn down keeps its phase.
func (d *Draft[T]) Put(id string, value T) { d.of.set(&Entry[T]{d.of.meta(id), value}) }

// PutOwned is Put that also names the owner and the labels of the entry.
func (d *Draft[T]) PutOwned(id, owner string, labels map[string]string, value T) {
	m := d.of.meta(id)
	m.Owner, m.Labels = owner, labels
	d.of.set(&Entry[T]{m, value})
}

// Update applies change to the value of an entry. It does nothing if there is no such entry.
func (d *Draft[T]) Update(id string, change func(T) T) {
	if e := entryOf[T](d.of.rows.get(id)); e != nil {
		d.of.set(&Entry[T]{e.Meta, change(e.Value)})
	}
}

// Delete removes an entry at once. In tables with finalizers reducers call Teardown instead.
func (d *Draft[T]) Delete(id string) { d.of.delete(id) }

// Teardown begins to tear an entry down: it is destroyed when its last finalizer is released, at once if it has none.
func (d *Draft[T]) Teardown(id string) { d.of.teardown(id) }
