package store

import "github.com/benbjohnson/immutable"

// content is the entries of a table by their ids.
type content = immutable.SortedMap[string, Row]

// rows are the entries of a table of any type at one moment.
type rows struct {
	m *content
	// version and listing belong to the snapshot; listing is nil for rows that a batch has changed.
	version uint64
	listing *listing
}

func (r rows) len() int { return r.m.Len() }

// get returns nil when there is no such entry.
func (r rows) get(id string) Row {
	e, _ := r.m.Get(id)
	return e
}

// all returns the entries in the order of their ids. The list may be shared.
func (r rows) all() []Row {
	if r.listing != nil {
		return r.listing.of(r.m, r.version)
	}
	return list(r.m)
}

func (r rows) after(id string, yield func(Row) bool) {
	it := r.m.Iterator()
	for it.Seek(id); !it.Done(); {
		if at, e, _ := it.Next(); at != id && !yield(e) {
			return
		}
	}
}

func (r rows) ends() (first, last Row) {
	if r.m.Len() == 0 {
		return nil, nil
	}
	it := r.m.Iterator()
	_, first, _ = it.Next()
	it.Last()
	_, last, _ = it.Next()
	return first, last
}

func list(m *content) []Row {
	out := make([]Row, 0, m.Len())
	for it := m.Iterator(); !it.Done(); {
		_, e, _ := it.Next()
		out = append(out, e)
	}
	return out
}
