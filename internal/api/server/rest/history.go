package rest

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/loop/store"
)

const (
	// maxChanges limits how many changes a kind remembers, and maxAge for how long.
	maxChanges = 4096
	maxAge     = 5 * time.Minute
)

// item is an object in one state. Items are immutable.
type item struct {
	projection.Item
	// version is the number of the first snapshot with this state.
	version uint64
}

// alone returns a copy of the item that shares no memory with other items and can be kept.
func (it *item) alone() *item {
	own := *it
	own.Maker = own.Alone()
	return &own
}

// change is a change of one object: was is nil for a new object, is is nil for a deleted object.
type change struct {
	seq     uint64
	at      time.Time
	was, is *item
}

// name returns the name of the object.
func (c change) name() string {
	if c.is != nil {
		return c.is.Name
	}
	return c.was.Name
}

// history is the objects of a kind in the newest snapshot that was read, and their recent changes.
type history struct {
	kind projection.Kind

	mu     sync.Mutex
	looked bool
	// seq is the number of the newest snapshot, and versions are the versions of the kind's tables in it.
	seq      uint64
	versions []uint64
	items    []*item // by name; the slice is replaced, never changed
	// changes are those after the snapshot of number horizon, oldest first.
	changes []change
	horizon uint64
}

// at returns the newest objects and the number of their snapshot, which is v or newer.
func (h *history) at(v store.View) (uint64, []*item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.look(v)
	return h.seq, h.items
}

// since returns the changes after snapshot number from, and the number of the newest snapshot. ok is false if from is too old
// or in the future.
func (h *history) since(v store.View, from uint64) (seq uint64, changes []change, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changes, ok = h.after(v, from)
	return h.seq, slices.Clone(changes), ok
}

// exactly returns the objects of an earlier snapshot.
func (h *history) exactly(v store.View, seq uint64) (items []*item, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changes, ok := h.after(v, seq)
	if !ok || len(changes) == 0 {
		return h.items, ok
	}
	byName := make(map[string]*item, len(h.items))
	for _, it := range h.items {
		byName[it.Name] = it
	}
	for _, c := range slices.Backward(changes) {
		if c.was != nil {
			byName[c.name()] = c.was
		} else {
			delete(byName, c.name())
		}
	}
	return slices.SortedFunc(maps.Values(byName), byItemName), true
}

// after returns the changes after a snapshot, which the caller must not keep. The mutex is held.
func (h *history) after(v store.View, from uint64) (changes []change, ok bool) {
	h.look(v)
	if from < h.horizon || from > h.seq {
		return nil, false
	}
	i, _ := slices.BinarySearchFunc(h.changes, from+1, func(c change, seq uint64) int { return cmp.Compare(c.seq, seq) })
	return h.changes[i:], true
}

// look updates the history to a snapshot. The mutex is held.
func (h *history) look(v store.View) {
	if h.looked && v.Seq <= h.seq {
		return
	}
	versions := make([]uint64, len(h.kind.Tables))
	for i, t := range h.kind.Tables {
		versions[i] = v.Version(t)
	}
	if h.looked && len(versions) > 0 && slices.Equal(versions, h.versions) {
		h.seq = v.Seq
		return
	}
	h.items = h.merge(collect(h.kind, v, len(h.items)+1), v.Seq)
	if !h.looked {
		h.looked, h.horizon = true, v.Seq
	}
	h.seq, h.versions = v.Seq, versions
	h.forget()
}

// collect returns the objects of a snapshot, sorted by name, as new items. If several objects have the same name, it takes the
// first.
func collect(k projection.Kind, v store.View, about int) []item {
	items := make([]item, 0, about)
	sorted := true
	for it := range k.Items(v) {
		sorted = sorted && (len(items) == 0 || items[len(items)-1].Name < it.Name)
		items = append(items, item{it, v.Seq})
	}
	if !sorted {
		slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.Name, b.Name) })
		items = slices.CompactFunc(items, func(a, b item) bool { return a.Name == b.Name })
	}
	return items
}

// merge assigns the previous versions to the items of a snapshot that have not changed, records the changes, and returns all
// items. The items refer only to the new snapshot, so that an object that stays the same for a long time does not keep an old
// snapshot alive. A recorded change keeps only its own object.
func (h *history) merge(now []item, seq uint64) []*item {
	out := make([]*item, len(now))
	was := h.items
	at := time.Now()
	note := func(was, is *item) {
		if !h.looked {
			return // no client knows an earlier snapshot
		}
		if was != nil {
			was = was.alone()
		}
		if is != nil {
			is = is.alone()
		}
		h.changes = append(h.changes, change{seq, at, was, is})
	}
	for i := range now {
		n := &now[i]
		out[i] = n
		for len(was) > 0 && was[0].Name < n.Name {
			note(was[0], nil)
			was = was[1:]
		}
		var old *item
		if len(was) > 0 && was[0].Name == n.Name {
			old, was = was[0], was[1:]
		}
		if old != nil && old.Key == n.Key {
			n.version = old.version
			continue
		}
		note(old, n)
	}
	for _, gone := range was {
		note(gone, nil)
	}
	return out
}

// forget drops the oldest changes when there are too many, and changes that are too old.
func (h *history) forget() {
	n := 0
	if len(h.changes) > 2*maxChanges {
		n = len(h.changes) - maxChanges
	}
	limit := time.Now().Add(-maxAge)
	for n < len(h.changes) && h.changes[n].at.Before(limit) {
		n++
	}
	if n == 0 {
		return
	}
	h.horizon = h.changes[n-1].seq
	for n < len(h.changes) && h.changes[n].seq == h.horizon { // the changes of a snapshot stay together
		n++
	}
	h.changes = slices.Clone(h.changes[n:])
}

func byItemName(a, b *item) int { return cmp.Compare(a.Name, b.Name) }

// find returns the item with the given name; nil if there is none.
func find(items []*item, name string) *item {
	i, ok := slices.BinarySearchFunc(items, name, func(it *item, name string) int { return cmp.Compare(it.Name, name) })
	if !ok {
		return nil
	}
	return items[i]
}
