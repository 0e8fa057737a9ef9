package logstore

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// narrower is the part of a filter that checks the line itself.
type narrower struct {
	f     Filter
	since int64
}

func newNarrower(f Filter) *narrower {
	n := &narrower{f: f, since: math.MinInt64}
	if !f.Since.IsZero() {
		n.since = f.Since.UnixNano()
	}
	return n
}

// passes reports whether the current line of a source matches the filter's time, span, pod, container and text. The source itself
// has checked resource, source and level.
func (n *narrower) passes(it *source) bool {
	rec := it.head()
	if rec.time < n.since || n.f.Span != "" && it.v.strs[rec.span] != n.f.Span {
		return false
	}
	return n.f.Match == nil || n.f.Match(it.ref())
}

// open returns a merge of the lines with from < Seq < to that the filter may match. With once, lines are valid until
// the merge advances, and segments from disk do not go into the cache.
func (s *Store) open(f Filter, from, to uint64, back, once bool) *merge {
	m := f.mask()
	s.mu.Lock()
	to = min(to, s.seq+1)
	if from >= to {
		s.mu.Unlock()
		return newMerge(nil, back)
	}
	chosen := s.chosenLocked(f)
	slab, its := slabFor(len(chosen)), make([]*source, 0, len(chosen))
	for _, r := range chosen {
		first, last := from+1, min(to-1, r.last)
		if f.Span != "" {
			sp := r.spans[f.Span]
			if sp == nil {
				continue
			}
			first, last = max(first, sp.first), min(last, sp.last)
		}
		if first > last {
			continue
		}
		*slab = append(*slab, source{s: s, r: r, m: m, back: back, pos: first - 1, end: last})
		it := &(*slab)[len(*slab)-1]
		if back {
			it.pos, it.end = last+1, first
		}
		if once {
			it.once = &spillBuffer{}
		}
		its = append(its, it)
	}
	s.mu.Unlock()
	all := newMerge(its, back)
	all.slab = slab
	return all
}

// scanStep is the number of lines that are scanned between two checks for cancellation.
const scanStep = 1 << 10

// scan calls yield for each line with from < Seq < to that the filter matches, until yield returns false. It
// periodically calls check and ends with its error. A scan that may have to be ended that way is one over much of the
// history, so it leaves the cache to the readers that come back; without check, it uses the cache.
func (s *Store) scan(check func() error, f Filter, from, to uint64, back bool, yield func(*source) bool) error {
	mg, n := s.open(f, from, to, back, check != nil), newNarrower(f)
	defer mg.release()
	for i := 1; ; i++ {
		it := mg.top()
		if it == nil {
			return nil
		}
		if check != nil && i%scanStep == 0 {
			if err := check(); err != nil {
				return err
			}
		}
		if n.passes(it) && !yield(it) {
			return nil
		}
		mg.advance()
	}
}

func (s *Store) collect(check func() error, f Filter, from, to uint64, n int, back bool) ([]Line, error) {
	if n <= 0 {
		return nil, nil
	}
	var lines []Line
	err := s.scan(check, f, from, to, back, func(it *source) bool {
		lines = append(lines, it.line())
		return len(lines) < n
	})
	if back {
		slices.Reverse(lines)
	}
	return lines, err
}

// Tail returns the newest n lines, oldest first.
func (s *Store) Tail(f Filter, n int) []Line { return s.ReadBefore(f, math.MaxUint64, n) }

// ReadBefore returns the last n lines before number seq, oldest first. A line with that number need not exist.
func (s *Store) ReadBefore(f Filter, seq uint64, n int) []Line {
	lines, _ := s.collect(nil, f, 0, seq, n, true)
	return lines
}

// ReadBetween returns the last n lines after number from and before number to, oldest first. It looks at no others.
func (s *Store) ReadBetween(f Filter, from, to uint64, n int) []Line {
	lines, _ := s.collect(nil, f, from, to, n, true)
	return lines
}

// ReadAfter returns the first n lines after number seq, oldest first.
func (s *Store) ReadAfter(f Filter, seq uint64, n int) []Line {
	lines, _ := s.collect(nil, f, seq, math.MaxUint64, n, false)
	return lines
}

// Search is ReadAfter, or ReadBefore with back, for filters that may scan very many lines: it ends early with ctx, and
// then returns the lines found so far with the context's error.
func (s *Store) Search(ctx context.Context, f Filter, seq uint64, n int, back bool) ([]Line, error) {
	check := func() error { return context.Cause(ctx) }
	if back {
		return s.collect(check, f, 0, seq, n, true)
	}
	return s.collect(check, f, seq, math.MaxUint64, n, false)
}

// LineRef names the line that Scan has found, with the facts by which a reader decides whether to remember it.
type LineRef struct {
	Seq      uint64
	Time     time.Time
	Resource model.ManifestName
	Span     string
	Source   Source
	Level    Level
	// Continues, Prefix, Pod and Container are as in Line.
	Continues              bool
	Prefix, Pod, Container string
	// Replaced is set for a line of a progress that a later line replaces: one that is not the last of its series.
	Replaced bool
	// Text is the line's text. It is valid until yield returns, and must not be changed.
	Text []byte
}

// Scan calls yield for each line with from < Seq < to that the filter matches, oldest first, or newest first with back,
// until yield returns false. It ends early with ctx, and then returns its cause. It copies nothing, allocates nothing
// per line, and does not disturb other readers: it is for building an index over much of the history. The line with
// the number of a LineRef is ReadAfter(Filter{Resources: {ref.Resource}}, ref.Seq-1, 1).
func (s *Store) Scan(ctx context.Context, f Filter, from, to uint64, back bool, yield func(line LineRef) bool) error {
	check := func() error { return context.Cause(ctx) }
	if err := check(); err != nil {
		return err
	}
	return s.scan(check, f, from, to, back, func(it *source) bool { return yield(it.ref()) })
}

// Oldest returns the number below which no line that the filter matches is stored: the number of the oldest such line, or, if
// there is none, of the line that will be stored next. It is immediate for filters by resource; others may scan
// lines.
func (s *Store) Oldest(f Filter) uint64 {
	all := Filter{Resources: f.Resources}
	if f.narrow() || f.mask() != all.mask() {
		next := s.Newest() + 1
		_ = s.scan(func() error { return nil }, f, 0, math.MaxUint64, false, func(it *source) bool {
			next = it.head().seq
			return false
		})
		return next
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := s.seq + 1
	for _, r := range s.chosenLocked(f) {
		if len(r.segs) > 0 {
			oldest = min(oldest, r.segs[0].first)
		}
	}
	return oldest
}

// Spans returns the ranges of a resource's stored spans, in the order of their first lines.
func (s *Store) Spans(resource model.ManifestName) []SpanInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.resources[resource]
	if r == nil {
		return nil
	}
	return r.spanInfos()
}

// Count returns the number of stored lines that the filter matches. It is immediate for filters by resource, source and
// level; other filters scan every line.
func (s *Store) Count(f Filter) int {
	n := 0
	if f.narrow() {
		_ = s.scan(func() error { return nil }, f, 0, math.MaxUint64, false, func(*source) bool { n++; return true })
		return n
	}
	m := f.mask()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.chosenLocked(f) {
		n += int(r.counts.of(m))
	}
	return n
}

// Volume is the size of all that a resource has written since the store was opened or the resource was last dropped, stored or not.
type Volume struct {
	Resource model.ManifestName
	// Lines counts all lines, Errors those at error level.
	Lines, Errors uint64
}

// Volumes appends the volume of each resource that has lines, in no particular order, counting the lines of one source.
func (s *Store) Volumes(source Source, to []Volume) []Volume {
	i := sourceIndex(source)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.resources {
		v := Volume{Resource: r.name}
		for level := range levels {
			v.Lines += r.counts[i][level] + r.dropped[i][level]
		}
		v.Errors = r.counts[i][LevelError] + r.dropped[i][LevelError]
		to = append(to, v)
	}
	return to
}

// Newest returns the number of the newest line, 0 if there is none.
func (s *Store) Newest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}
