package store

import "slices"

// Follow lets a table process the changes of another table's entries, whatever action causes them: follow is called after
// each action, once for each change of an entry, in the order of the changes. was is nil for a new entry, and is is nil for
// a removed one; neither must be changed. follow is a reducer and must be pure. A table that follows others may itself be
// followed, but not by a table that it follows.
func Follow[T, S any](t *Table[T], source *Table[S], follow func(d *Draft[T], was, is *Entry[S])) {
	if t.of.schema.follow(source.Name(), t.Name()) {
		panic("store: table " + t.Name() + " must not follow " + source.Name() + ", which follows it") // as in Define
	}
	source.of.followers = append(source.of.followers, follower{t.of.index, func(d *draft, was, is Row) {
		follow(d.view.(*Draft[T]), entryOf[S](was), entryOf[S](is))
	}})
	t.of.schema.follows = append(t.of.schema.follows, following{source.Name(), t.Name()})
}

// following names a table and a table that follows it.
type following struct{ source, table string }

// follower is a table that follows another one: follow reduces each change of an entry there.
type follower struct {
	table  int
	follow func(d *draft, was, is Row)
}

// change is one change of an entry: was is nil for a new entry, is for a removed one.
type change struct{ was, is Row }

// note records a change for the table's followers.
func (d *draft) note(id string, is Row) {
	if len(d.table.followers) > 0 {
		d.changes = append(d.changes, change{d.rows.get(id), is})
	}
}

// tell passes the changes since the last call to the table's followers. draftOf returns the draft of a table.
func (d *draft) tell(draftOf func(table int) *draft) {
	for _, c := range d.changes {
		for _, f := range d.table.followers {
			f.follow(draftOf(f.table), c.was, c.is)
		}
	}
	clear(d.changes)
	d.changes = d.changes[:0]
}

// follow reports whether a table is the other one, or follows it, directly or through others.
func (s *Schema) follow(table, other string) bool {
	return table == other || slices.ContainsFunc(s.follows, func(f following) bool { return f.table == table && s.follow(f.source, other) })
}

// passing returns the tables that follow others and are followed, each after those that it follows.
func (s *Schema) passing() []int {
	var out []int
	for i, t := range s.tables {
		follows := slices.ContainsFunc(s.follows, func(f following) bool { return f.table == t.name })
		followed := slices.ContainsFunc(s.follows, func(f following) bool { return f.source == t.name })
		if !follows || !followed {
			continue
		}
		at := slices.IndexFunc(out, func(j int) bool { return s.follow(s.tables[j].name, t.name) })
		if at < 0 {
			at = len(out)
		}
		out = slices.Insert(out, at, i)
	}
	return out
}

// changed returns the tables that an action changes: those that accept it, and those that follow them.
func (s *Schema) changed(a ActionType) []string {
	var out []string
	for _, t := range s.tables {
		if slices.ContainsFunc(s.accepts[a], func(accepts string) bool { return s.follow(t.name, accepts) }) {
			out = append(out, t.name)
		}
	}
	return out
}
