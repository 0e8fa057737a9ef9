package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benbjohnson/immutable"
)

// Kept is an entry that was stored outside of a store. Value has the type of its table's values.
type Kept struct {
	Meta
	Value any
}

// Change is the difference of a table between two snapshots.
type Change struct {
	// Set are the entries that are new or have changed, and Gone are the ids of those that are no longer there.
	Set  []Kept
	Gone []string
}

// Restore returns the snapshot with the given number and time whose tables hold the given entries, by the names of the
// tables; those that are not named are empty. No reducer runs: entries and their metadata stay unchanged. It is for looking
// at a session that runs elsewhere or has ended. A table that the schema lacks, a value of another type, or two entries
// with one id are errors.
func Restore(schema *Schema, seq uint64, at time.Time, tables map[string][]Kept) (*Snapshot, error) {
	s := &Snapshot{schema: schema, contents: make([]*content, len(schema.tables)), versions: make([]uint64, len(schema.tables)),
		derived: make([]derivation, schema.derived), lists: make([]*listing, len(schema.tables))}
	for i := range schema.tables {
		s.contents[i], s.lists[i] = immutable.NewSortedMap[string, Row](nil), &listing{}
	}
	changes := make(map[string]Change, len(tables))
	for name, kept := range tables {
		changes[name] = Change{Set: kept}
	}
	return s.After(seq, at, changes)
}

// After returns a later snapshot of a session that runs elsewhere: s with the changes of the tables. Its number must be higher. The
// rules of Restore apply. Entries that have not changed stay the same, and so do the values derived from them.
func (s *Snapshot) After(seq uint64, at time.Time, changes map[string]Change) (*Snapshot, error) {
	next := *s
	next.Seq, next.At, next.contents, next.versions = seq, at, slices.Clone(s.contents), slices.Clone(s.versions)
	for name, change := range changes {
		t, i := s.schema.table(name)
		if t == nil {
			return nil, fmt.Errorf("there is no table %q", name)
		}
		content, err := t.after(s.contents[i], change)
		if err != nil {
			return nil, fmt.Errorf("restore table %s: %w", name, err)
		}
		next.contents[i], next.versions[i] = content, seq
	}
	return &next, nil
}

// after returns the content of a table after a change.
func (t *definition) after(entries *content, change Change) (*content, error) {
	for _, id := range change.Gone {
		entries = entries.Delete(id)
	}
	set := slices.SortedFunc(slices.Values(change.Set), func(a, b Kept) int { return strings.Compare(a.ID, b.ID) })
	for i, k := range set {
		e, ok := t.row(k.Meta, k.Value)
		if !ok {
			return nil, fmt.Errorf("%s is a %T, not a %s", k.ID, k.Value, t.value)
		}
		if i > 0 && set[i-1].ID == k.ID {
			return nil, fmt.Errorf("%s is there twice", k.ID)
		}
		entries = entries.Set(k.ID, e)
	}
	return entries, nil
}

// Since returns the entries of the named table that are new or have changed since an earlier view of the same store, and the ids of
// those that are gone. Since the zero View, all entries are new.
func (v View) Since(before View, table string) (set []Row, gone []string) {
	t, i := v.schema.table(table)
	if t == nil {
		return nil, nil
	}
	is := v.rows(i, table)
	if before.Snapshot == nil {
		return is.all(), nil
	}
	if v.versions[i] == before.versions[i] {
		return nil, nil
	}
	was := before.rows(i, table)
	for _, e := range is.all() {
		if was.get(e.Metadata().ID) != e {
			set = append(set, e)
		}
	}
	for _, e := range was.all() {
		if id := e.Metadata().ID; is.get(id) == nil {
			gone = append(gone, id)
		}
	}
	return set, gone
}
