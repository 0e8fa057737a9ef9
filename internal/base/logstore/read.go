package logstore

import (
	"context"
	"math"
	"slices"
)

// narrower is the part of a filter that checks the line itself.
type narrower struct {
	f     Filter
	since int64
	buf   []byte
}

func newNarrower(f Filter) *narrower {
	n := &narrower{f: f, since: math.MinInt64}
	if !f.Since.IsZero() {
		n.since = f.Since.UnixNano()
	}
	return n
}

func (n *narrower) passes(it *source) bool {
	rec := it.head()
	if rec.time < n.since || n.f.Span != "" && it.v.strs[rec.span] != n.f.Span {
		return false
	}
	if n.f.Match == nil {
		return true
	}
	prefix := it.v.strs[rec.prefix]
	if prefix == "" {
		return n.f.Match(rec.text)
	}
	n.buf = append(append(n.buf[:0], prefix...), rec.text...)
	return n.f.Match(n.buf)
}

// open returns a merge of the lines with from < Seq < to that the filter may match.
func (s *Store) open(f Filter, from, to uint64, back bool) *merge {
	m := f.mask()
	s.mu.Lock()
	to = min(to, s.seq+1)
	if from >= to {
		s.mu.Unlock()
		return newMerge(nil, back)
	}
	var its []*source
	for _, r := range s.chosenLocked(f) {
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
		it := &source{s: s, r: r, m: m, back: back, pos: first - 1, end: last}
		if back {
			it.pos, it.end = last+1, first
		}
		its = append(its, it)
	}
	s.mu.Unlock()
	return newMerge(its, back)
}

// scanStep is how many lines are scanned between two checks for cancellation.
const scanStep = 1 << 10

// scan calls yield for each line with from < Seq < to that the filter matches, until yield returns false. It
// periodically calls check, if not nil, and ends with its error.
func (s *Store) scan(check func() error, f Filter, from, to uint64, back bool, yield func(*source) bool) error {
	mg, n := s.open(f, from, to, back), newNarrower(f)
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

// Count returns the number of stored lines that the filter matches. It is immediate for filters by resource, source and
// level; other filters scan every line.
func (s *Store) Count(f Filter) int {
	n := 0
	if f.narrow() {
		_ = s.scan(nil, f, 0, math.MaxUint64, false, func(*source) bool { n++; return true })
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

// Newest returns the number of the newest line, 0 if there is none.
func (s *Store) Newest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}
