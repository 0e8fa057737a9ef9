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

// Restore returns the snapshot with the given number and time whose tables hold the given entries, by the names of the
// tables; those that are not named are empty. No reducer runs: entries and their metadata stay unchanged. It is for looking
// at a session that runs elsewhere or has ended. A table that the schema lacks, a value of another type, or two entries
// with one id are errors.
func Restore(schema *Schema, seq uint64, at time.Time, tables map[string][]Kept) (*Snapshot, error) {
	s := &Snapshot{Seq: seq, At: at, schema: schema, contents: make([]*content, len(schema.tables)), versions: make([]uint64, len(schema.tables)),
		derived: make([]derivation, schema.derived), lists: make([]*listing, len(schema.tables))}
	for i := range schema.tables {
		s.contents[i], s.lists[i] = immutable.NewSortedMap[string, Row](nil), &listing{}
	}
	for name, kept := range tables {
		t, i := schema.table(name)
		if t == nil {
			return nil, fmt.Errorf("there is no table %q", name)
		}
		content, err := t.restore(kept)
		if err != nil {
			return nil, fmt.Errorf("restore table %s: %w", name, err)
		}
		s.contents[i], s.versions[i] = content, seq
	}
	return s, nil
}

// restore returns the content of a table that holds the given entries.
func (t *definition) restore(kept []Kept) (*content, error) {
	kept = slices.SortedFunc(slices.Values(kept), func(a, b Kept) int { return strings.Compare(a.ID, b.ID) })
	entries := immutable.NewSortedMapBuilder[string, Row](nil)
	for i, k := range kept {
		e, ok := t.row(k.Meta, k.Value)
		if !ok {
			return nil, fmt.Errorf("%s is a %T, not a %s", k.ID, k.Value, t.value)
		}
		if i > 0 && kept[i-1].ID == k.ID {
			return nil, fmt.Errorf("%s is there twice", k.ID)
		}
		entries.Set(k.ID, e)
	}
	return entries.Map(), nil
}
