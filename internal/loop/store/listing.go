package store

import (
	"slices"
	"strings"
	"sync"
)

// listing is a table's newest entries as a list in the order of their ids, made at the first request. Many readers iterate
// over all entries of every snapshot, and a list takes a quarter of the time of the map. Snapshots share the listing, so
// that a retained old snapshot retains no list.
type listing struct {
	mu    sync.Mutex
	known bool
	// version is the version of the table that list was made from.
	version uint64
	list    []Row
}

// patched is the maximum number of changes for which a list is made from the previous one.
const patched = 32

// of returns the entries of a table that has this version.
func (l *listing) of(m *content, version uint64) []Row {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known && l.version == version {
		return l.list
	}
	entries := list(m)
	if !l.known || l.version < version {
		l.known, l.version, l.list = true, version, entries
	}
	return entries
}

// follow makes the list of a table from the list of the previous version, if that was requested. Only the entries with the
// given ids may have changed.
func (l *listing) follow(m *content, version uint64, touched []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known || l.version != version-1 || len(touched) > patched {
		return
	}
	list := make([]Row, len(l.list), max(len(l.list), m.Len()))
	copy(list, l.list)
	for _, id := range touched {
		i, was := slices.BinarySearchFunc(list, id, func(e Row, id string) int { return strings.Compare(e.Metadata().ID, id) })
		switch e, is := m.Get(id); {
		case was && is:
			list[i] = e
		case is:
			list = slices.Insert(list, i, e)
		case was:
			list = slices.Delete(list, i, i+1)
		}
	}
	l.version, l.list = version, list
}
