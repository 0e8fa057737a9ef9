package store

// Follow lets a table take in what happens to the entries of another one, whatever action it comes from: follow is called
// after each action, once for each change of an entry, in the order of the changes. Was is nil for a new entry, is for one
// that is gone; neither must be changed. It is a reducer and as pure as one. A table that follows others is not followed
// itself.
func Follow[T, S any](t *Table[T], source *Table[S], follow func(d *Draft[T], was, is *Entry[S])) {
	if t.follows = true; t.followers != nil || source.follows {
		panic("store: table " + t.name + " must not follow " + source.name + ": one of them follows or is followed already") // as in Define
	}
	source.followers = append(source.followers, follower[S]{t.index, func(d drafter, was, is *Entry[S]) {
		follow(d.(*Draft[T]), was, is)
	}})
	t.schema.follows = append(t.schema.follows, following{source.name, t.name})
}

// following is a table and one that follows it, by their names.
type following struct{ source, table string }

// follower is what a table that follows another one does about a change.
type follower[T any] struct {
	table  int
	follow func(d drafter, was, is *Entry[T])
}

// change is what happened to an entry.
type change[T any] struct{ was, is *Entry[T] }

// note remembers a change for those who follow the table.
func (d *Draft[T]) note(id string, is *Entry[T]) {
	if len(d.table.followers) > 0 {
		was, _ := d.rows.Get(id)
		d.changes = append(d.changes, change[T]{was, is})
	}
}

// tell hands the changes since the last call to those who follow the table. Draft returns the draft of a table.
func (d *Draft[T]) tell(draft func(table int) drafter) {
	for _, c := range d.changes {
		for _, f := range d.table.followers {
			f.follow(draft(f.table), c.was, c.is)
		}
	}
	clear(d.changes)
	d.changes = d.changes[:0]
}

// changed returns the tables that an action changes: those that accept it, and those that follow them.
func (s *Schema) changed(a ActionType) []string {
	out := append([]string(nil), s.accepts[a]...)
	for _, f := range s.follows {
		for _, table := range s.accepts[a] {
			if table == f.source {
				out = append(out, f.table)
			}
		}
	}
	return out
}
