package state

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benbjohnson/immutable"
)

// Changes are files that changed, each with the time of its newest change. A value is immutable: With and Without return a
// new value that shares as much as possible with the old one. Their cost, and the cost of reading the newest changes, grows
// with the number of files concerned, not with the number of other files, except for an occasional cleanup. The zero value
// is empty, and no other value is. Values are safe for concurrent reading.
type Changes struct {
	// times are the valid times by path; nil when there are none.
	times *immutable.Map[string, time.Time]
	// newest begins a list of the files by time, newest first. It holds every file of times once, under its valid time. It
	// may also hold a limited number of files under outdated times, but its first batch holds at least one valid time.
	newest *batch
}

// batch are the files that changed at one time. It is immutable.
type batch struct {
	at time.Time
	// paths are sorted, each once.
	paths []string
	// older is the rest of the list, all before at. total is the number of paths in the list from here on.
	older *batch
	total int
}

// slack is the number of paths by which a list may exceed twice the number of files.
const slack = 64

// behind returns the list that begins with the given files, newer than all of b, and continues with b.
func (b *batch) behind(at time.Time, paths []string) *batch {
	out := &batch{at: at, paths: paths, older: b, total: len(paths)}
	if b != nil {
		out.total += b.total
	}
	return out
}

// with returns the list with the given files, sorted, at their place. The rest of the list is shared with b.
func (b *batch) with(at time.Time, paths []string) *batch {
	var newer []*batch
	for ; b != nil && b.at.After(at); b = b.older {
		newer = append(newer, b)
	}
	if b != nil && b.at.Equal(at) {
		paths, b = sortedSet(slices.Concat(b.paths, paths)), b.older
	}
	b = b.behind(at, paths)
	for _, n := range slices.Backward(newer) {
		b = b.behind(n.at, n.paths)
	}
	return b
}

// sortedSet sorts paths in place and returns each once.
func sortedSet(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

// timesBuilder returns a builder for times.
func timesBuilder() *immutable.MapBuilder[string, time.Time] {
	return immutable.NewMapBuilder[string, time.Time](nil)
}

// many reports whether an operation concerns so many of c's files that rebuilding all times is cheaper.
func (c Changes) many(paths int) bool { return paths > c.Len()/4 }

// Len is the number of files.
func (c Changes) Len() int {
	if c.times == nil {
		return 0
	}
	return c.times.Len()
}

// Empty reports whether there are no files.
func (c Changes) Empty() bool { return c.times == nil }

// Newest returns when the newest of the files changed; zero when there are none.
func (c Changes) Newest() time.Time {
	if c.newest == nil {
		return time.Time{}
	}
	return c.newest.at
}

// At returns when a file changed last; ok is false for a file without a change.
func (c Changes) At(path string) (at time.Time, ok bool) {
	if c.times == nil {
		return time.Time{}, false
	}
	return c.times.Get(path)
}

// has reports whether the given time is the one at which a file changed last.
func (c Changes) has(path string, at time.Time) bool {
	newest, ok := c.At(path)
	return ok && newest.Equal(at)
}

// With returns c with files that changed at the given time. Files that have changed later stay as they are.
func (c Changes) With(paths []string, at time.Time) Changes {
	var added []string
	for _, p := range paths {
		if was, ok := c.At(p); !ok || was.Before(at) {
			added = append(added, p)
		}
	}
	if len(added) == 0 {
		return c
	}
	added = sortedSet(added)
	out := Changes{times: c.times, newest: c.newest.with(at, added)}
	if !c.many(len(added)) {
		for _, p := range added {
			out.times = out.times.Set(p, at)
		}
		return out.tidied()
	}
	times := timesBuilder()
	for p, was := range c.All() {
		times.Set(p, was)
	}
	for _, p := range added {
		times.Set(p, at)
	}
	out.times = times.Map()
	return out.tidied()
}

// Without returns c without the given files.
func (c Changes) Without(paths []string) Changes {
	gone := map[string]bool{}
	for _, p := range paths {
		if _, ok := c.At(p); ok {
			gone[p] = true
		}
	}
	switch {
	case len(gone) == 0:
		return c
	case len(gone) == c.Len():
		return Changes{}
	case c.many(len(gone)):
		times := timesBuilder()
		for p, at := range c.All() {
			if !gone[p] {
				times.Set(p, at)
			}
		}
		c.times = times.Map()
	default:
		for p := range gone {
			c.times = c.times.Delete(p)
		}
	}
	for !slices.ContainsFunc(c.newest.paths, func(p string) bool { return c.has(p, c.newest.at) }) {
		c.newest = c.newest.older
	}
	return c.tidied()
}

// Later returns the files of c that changed after the given time.
func (c Changes) Later(than time.Time) Changes {
	end := c.newest
	for end != nil && end.at.After(than) {
		end = end.older
	}
	if end == nil {
		return c
	}
	times := timesBuilder()
	for p, at := range c.After(than) {
		times.Set(p, at)
	}
	if times.Len() == 0 {
		return Changes{}
	}
	return Changes{times: times.Map(), newest: c.listed(end)}
}

// tidied returns c, with a list of only the valid times once the list has too many outdated ones.
func (c Changes) tidied() Changes {
	if c.newest.total > 2*c.Len()+slack {
		c.newest = c.listed(nil)
	}
	return c
}

// listed returns a list of the valid times, up to the given batch.
func (c Changes) listed(end *batch) *batch {
	var old []*batch
	for b := c.newest; b != end; b = b.older {
		old = append(old, b)
	}
	var list *batch
	for _, b := range slices.Backward(old) {
		var counting []string
		for _, p := range b.paths {
			if c.has(p, b.at) {
				counting = append(counting, p)
			}
		}
		if len(counting) > 0 {
			list = list.behind(b.at, counting)
		}
	}
	return list
}

// All yields every file and when it changed last, newest first; of those that changed together, in the order of names.
func (c Changes) All() iter.Seq2[string, time.Time] {
	return c.while(func(*batch) bool { return true })
}

// After yields the files that changed after the given time, as All does. It looks at no others.
func (c Changes) After(t time.Time) iter.Seq2[string, time.Time] {
	return c.while(func(b *batch) bool { return b.at.After(t) })
}

func (c Changes) while(wanted func(*batch) bool) iter.Seq2[string, time.Time] {
	return func(yield func(string, time.Time) bool) {
		for b := c.newest; b != nil && wanted(b); b = b.older {
			for _, p := range b.paths {
				if c.has(p, b.at) && !yield(p, b.at) {
					return
				}
			}
		}
	}
}

// Since yields the files that have changed since an older version from which c was made, newest first: files that the older
// version lacks or has under another time. The data that both versions share is skipped.
func (c Changes) Since(was Changes) iter.Seq[string] {
	return func(yield func(string) bool) {
		for b, old := c.newest, was.newest; b != nil && b != old; {
			if old != nil && old.at.After(b.at) {
				old = old.older
				continue
			}
			for _, p := range b.paths {
				if c.has(p, b.at) && !was.has(p, b.at) && !yield(p) {
					return
				}
			}
			if old != nil && old.at.Equal(b.at) {
				old = old.older
			}
			b = b.older
		}
	}
}

// Shown returns the JSON form: the times by path.
func (c Changes) Shown() any { return maps.Collect(c.All()) }

// Restore sets the changes to those that Shown has returned.
func (c *Changes) Restore(shown any) {
	*c = Changes{}
	changes := shown.(map[string]time.Time)
	paths := slices.SortedFunc(maps.Keys(changes), func(a, b string) int {
		return cmp.Or(changes[a].Compare(changes[b]), strings.Compare(a, b))
	})
	for _, p := range paths {
		*c = c.With([]string{p}, changes[p])
	}
}

// PathsOf returns the files of a set of changes, sorted.
func PathsOf(c Changes) []string {
	paths := make([]string, 0, c.Len())
	for p := range c.All() {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}
