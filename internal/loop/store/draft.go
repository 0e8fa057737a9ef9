package store

import (
	"slices"
	"time"
)

// draft is a table of any type during a batch. Only the loop uses it.
type draft struct {
	table      *definition
	rows       rows
	view       any // the *Draft[T] on it
	changed    bool
	beyond     bool     // more than releases of entries that others still hold
	touched    []string // ids of entries that were set or removed, up to one more than patched
	finalizers []string
	now        time.Time
	changes    []change
}

func newDraft(table *definition, before *Snapshot, finalizers []string) *draft {
	d := &draft{table: table, rows: before.All().rows(table.index, table.name), finalizers: finalizers}
	d.view = table.view(d)
	return d
}

func (d *draft) onlyReleased() bool { return d.changed && !d.beyond }

// freeze returns the content of the table's next version.
func (d *draft) freeze(l *listing, version uint64) *content {
	l.follow(d.rows.m, version, d.touched)
	return d.rows.m
}

func (d *draft) last() string {
	if _, last := d.rows.ends(); last != nil {
		return last.Metadata().ID
	}
	return ""
}

// meta returns the metadata of the entry with the given id, or the metadata for a new entry if there is none.
func (d *draft) meta(id string) Meta {
	if e := d.rows.get(id); e != nil {
		return *e.Metadata()
	}
	m := Meta{ID: id, Phase: Running, Created: d.now}
	if d.table.finalizers {
		m.Finalizers = d.finalizers
	}
	return m
}

func (d *draft) delete(id string) {
	if d.rows.get(id) != nil {
		d.remove(id)
	}
}

func (d *draft) teardown(id string) {
	e := d.rows.get(id)
	if e == nil || e.Metadata().Phase == TearingDown {
		return
	}
	m := *e.Metadata()
	m.Phase = TearingDown
	d.set(e.with(m))
	d.destroyIfFree(id)
}

func (d *draft) release(id, finalizer string) {
	e := d.rows.get(id)
	if e == nil || e.Metadata().Phase != TearingDown {
		return
	}
	m := *e.Metadata()
	i := slices.Index(m.Finalizers, finalizer)
	if i < 0 {
		return
	}
	m.Finalizers = slices.Delete(slices.Clone(m.Finalizers), i, i+1)
	beyond := d.beyond
	d.set(e.with(m))
	d.beyond = beyond
	d.destroyIfFree(id)
}

func (d *draft) destroyIfFree(id string) {
	e := d.rows.get(id)
	if e == nil || len(e.Metadata().Finalizers) > 0 {
		return
	}
	d.remove(id)
	if d.table.onDestroy != nil {
		d.table.onDestroy(d, e)
	}
}

// set stores a new entry, and fills in its version and its time: no one else may have the entry yet.
func (d *draft) set(e Row) {
	m := e.Metadata()
	m.Version++
	m.Updated = d.now
	d.note(m.ID, e)
	d.rows = rows{m: d.rows.m.Set(m.ID, e)}
	d.touch(m.ID)
}

func (d *draft) remove(id string) {
	d.note(id, nil)
	d.rows = rows{m: d.rows.m.Delete(id)}
	d.touch(id)
}

func (d *draft) touch(id string) {
	d.changed, d.beyond = true, true
	if len(d.touched) <= patched {
		d.touched = append(d.touched, id)
	}
}
