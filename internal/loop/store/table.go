package store

import (
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/benbjohnson/immutable"
)

// Phase is the phase of an entry's life.
type Phase string

// The phases of an entry.
const (
	Running     Phase = "running"
	TearingDown Phase = "tearing-down"
)

// Meta is what the store records about an entry in addition to its value.
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
}

// Metadata implements Row.
func (e *Entry[T]) Metadata() *Meta { return &e.Meta }

// Any implements Row.
func (e *Entry[T]) Any() any { return e.Value }

// Table describes a set of entries of one type. It holds no entries itself: Table.In reads them from a View.
type Table[T any] struct {
	index      int
	name       string
	doc        string
	finalizers bool
	schema     *Schema
	onDestroy  func(d *Draft[T], gone Entry[T])
	followers  []follower[T]
}

// Name returns the table's name.
func (t *Table[T]) Name() string { return t.name }

// tableDef is the loop's view of a table of any type.
type tableDef interface {
	Name() string
	docText() string
	hasFinalizers() bool
	empty() any
	draft(content any, finalizers []string) drafter
	rows(content any) iter.Seq2[Meta, any]
	refs(v View) iter.Seq[Row]
	listing() any
	valueType() reflect.Type
	size(content any) int
	restore(kept []Kept) (any, error)
}

func (t *Table[T]) docText() string     { return t.doc }
func (t *Table[T]) hasFinalizers() bool { return t.finalizers }
func (t *Table[T]) empty() any          { return immutable.NewSortedMap[string, *Entry[T]](nil) }
func (t *Table[T]) listing() any        { return &listing[T]{} }

func (t *Table[T]) draft(content any, finalizers []string) drafter {
	return &Draft[T]{table: t, rows: content.(*sorted[T]), finalizers: finalizers}
}

func (t *Table[T]) rows(content any) iter.Seq2[Meta, any] {
	return func(yield func(Meta, any) bool) {
		for e := range (Rows[T]{m: content.(*sorted[T])}).Entries() {
			if !yield(e.Meta, e.Value) {
				return
			}
		}
	}
}

func (t *Table[T]) refs(v View) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for e := range t.In(v).Refs() {
			if !yield(e) {
				return
			}
		}
	}
}

func (t *Table[T]) valueType() reflect.Type { return reflect.TypeFor[T]() }

func (t *Table[T]) size(content any) int {
	return content.(*sorted[T]).Len()
}

// In returns the table's rows in v. It panics with *UndeclaredError when v belongs to a subscriber that did not declare the
// table as an input; the supervisor counts that as a crash of the subscriber.
func (t *Table[T]) In(v View) Rows[T] {
	return Rows[T]{v.content(t.index, t.name).(*sorted[T]), v.versions[t.index], v.lists[t.index].(*listing[T])}
}

// Rows are the entries of a table at one moment.
type Rows[T any] struct {
	m *sorted[T]
	// version and listing are those of the snapshot; outside of a snapshot listing is nil.
	version uint64
	listing *listing[T]
}

// Len returns the number of entries.
func (r Rows[T]) Len() int { return r.m.Len() }

// Get returns the entry with the given id.
func (r Rows[T]) Get(id string) (Entry[T], bool) {
	e, ok := r.m.Get(id)
	if !ok {
		return Entry[T]{}, false
	}
	return *e, true
}

// Ref returns the table's own entry with the given id, which must not be changed; nil when there is none.
func (r Rows[T]) Ref(id string) *Entry[T] {
	e, _ := r.m.Get(id)
	return e
}

// Value returns the value of the entry with the given id, or the zero value.
func (r Rows[T]) Value(id string) T {
	e, _ := r.Get(id)
	return e.Value
}

// Refs yields the table's own entries, which must not be changed, in the order of their ids. It is for readers of many
// large entries.
func (r Rows[T]) Refs() iter.Seq[*Entry[T]] {
	return func(yield func(*Entry[T]) bool) {
		if r.listing != nil {
			for _, e := range r.listing.of(r.m, r.version) {
				if !yield(e) {
					return
				}
			}
			return
		}
		for it := r.m.Iterator(); !it.Done(); {
			if _, e, _ := it.Next(); !yield(e) {
				return
			}
		}
	}
}

// After yields the table's own entries, which must not be changed, whose ids come after the given one, in their order.
func (r Rows[T]) After(id string) iter.Seq[*Entry[T]] {
	return func(yield func(*Entry[T]) bool) {
		it := r.m.Iterator()
		for it.Seek(id); !it.Done(); {
			if _, e, _ := it.Next(); e.ID != id && !yield(e) {
				return
			}
		}
	}
}

// Ends returns the first and the last of the table's own entries, which must not be changed; nil when there is none.
func (r Rows[T]) Ends() (first, last *Entry[T]) {
	if r.m.Len() == 0 {
		return nil, nil
	}
	it := r.m.Iterator()
	_, first, _ = it.Next()
	it.Last()
	_, last, _ = it.Next()
	return first, last
}

// Entries yields the entries in the order of their ids.
func (r Rows[T]) Entries() iter.Seq[Entry[T]] {
	return func(yield func(Entry[T]) bool) {
		for e := range r.Refs() {
			if !yield(*e) {
				return
			}
		}
	}
}

// Draft is a table during a batch: only reducers read and write it.
type Draft[T any] struct {
	table      *Table[T]
	rows       *sorted[T]
	dirty      bool
	beyond     bool     // more than releases of entries that others still hold
	touched    []string // ids of entries that were set or removed, up to one more than patched
	finalizers []string
	now        time.Time
	changes    []change[T]
}

type drafter interface {
	at(time.Time)
	changed() bool
	onlyReleased() bool
	freeze(listing any, version uint64) any
	release(id, finalizer string)
	tell(draft func(table int) drafter)
}

func (d *Draft[T]) at(now time.Time)   { d.now = now }
func (d *Draft[T]) changed() bool      { return d.dirty }
func (d *Draft[T]) onlyReleased() bool { return d.dirty && !d.beyond }

// freeze returns the content of the table's next version.
func (d *Draft[T]) freeze(list any, version uint64) any {
	list.(*listing[T]).follow(d.rows, version, d.touched)
	return d.rows
}

// Now is when the action that is being reduced was dispatched.
func (d *Draft[T]) Now() time.Time { return d.now }

// Get returns the entry with the given id.
func (d *Draft[T]) Get(id string) (Entry[T], bool) { return Rows[T]{m: d.rows}.Get(id) }

// Value returns the value of the entry with the given id, or the zero value.
func (d *Draft[T]) Value(id string) T {
	e, _ := d.Get(id)
	return e.Value
}

// All yields the entries in the order of their ids, as they were when the iteration began: the draft may be changed
// meanwhile.
func (d *Draft[T]) All() iter.Seq[Entry[T]] { return Rows[T]{m: d.rows}.Entries() }

// Last returns the id of the last entry, empty when there is none.
func (d *Draft[T]) Last() string {
	it := d.rows.Iterator()
	it.Last()
	if it.Done() {
		return ""
	}
	id, _, _ := it.Next()
	return id
}

// Len returns the number of entries.
func (d *Draft[T]) Len() int { return d.rows.Len() }

// Put creates or replaces the value of the entry with the given id. An entry that is being torn down keeps its phase.
func (d *Draft[T]) Put(id string, value T) {
	e := d.entry(id)
	e.Value = value
	d.set(e)
}

// PutOwned is Put that also names the owner and the labels of the entry.
func (d *Draft[T]) PutOwned(id, owner string, labels map[string]string, value T) {
	e := d.entry(id)
	e.Owner, e.Labels, e.Value = owner, labels, value
	d.set(e)
}

func (d *Draft[T]) entry(id string) Entry[T] {
	e, ok := d.Get(id)
	if !ok {
		e = Entry[T]{Meta: Meta{ID: id, Phase: Running, Created: d.now}}
		if d.table.finalizers {
			e.Finalizers = d.finalizers
		}
	}
	return e
}

// Update replaces the value of an entry with what change makes of it, and does nothing where there is no such entry.
func (d *Draft[T]) Update(id string, change func(T) T) {
	if e, ok := d.Get(id); ok {
		e.Value = change(e.Value)
		d.set(e)
	}
}

// Delete removes an entry at once. In tables with finalizers reducers call Teardown instead.
func (d *Draft[T]) Delete(id string) {
	if _, ok := d.Get(id); ok {
		d.remove(id)
	}
}

// Teardown begins to tear an entry down: it is destroyed when its last finalizer is released, at once if it has none.
func (d *Draft[T]) Teardown(id string) {
	e, ok := d.Get(id)
	if !ok || e.Phase == TearingDown {
		return
	}
	e.Phase = TearingDown
	d.set(e)
	d.destroyIfFree(id)
}

func (d *Draft[T]) release(id, finalizer string) {
	e, ok := d.Get(id)
	if !ok || e.Phase != TearingDown {
		return
	}
	i := slices.Index(e.Finalizers, finalizer)
	if i < 0 {
		return
	}
	e.Finalizers = slices.Delete(slices.Clone(e.Finalizers), i, i+1)
	beyond := d.beyond
	d.set(e)
	d.beyond = beyond
	d.destroyIfFree(id)
}

func (d *Draft[T]) destroyIfFree(id string) {
	e, ok := d.Get(id)
	if !ok || len(e.Finalizers) > 0 {
		return
	}
	d.remove(id)
	if d.table.onDestroy != nil {
		d.table.onDestroy(d, e)
	}
}

func (d *Draft[T]) set(e Entry[T]) {
	e.Version++
	e.Updated = d.now
	d.note(e.ID, &e)
	d.rows = d.rows.Set(e.ID, &e)
	d.touch(e.ID)
}

func (d *Draft[T]) remove(id string) {
	d.note(id, nil)
	d.rows = d.rows.Delete(id)
	d.touch(id)
}

func (d *Draft[T]) touch(id string) {
	d.dirty, d.beyond = true, true
	if len(d.touched) <= patched {
		d.touched = append(d.touched, id)
	}
}
