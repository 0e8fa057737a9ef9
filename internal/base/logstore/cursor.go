package logstore

import "sync"

// Cursor follows the lines that a filter matches, in order. It is safe for use by several goroutines; each of them then
// gets a part of the lines.
type Cursor struct {
	s *Store
	f Filter
	m mask

	mu  sync.Mutex
	pos uint64
	// skipped counts the lines dropped before those that Next returned last, gap those dropped after them.
	skipped, gap uint64
	// seen counts, by resource, the lines before the cursor that the mask lets through. A resource drops its first
	// lines first, so dropped lines beyond seen were dropped unread.
	seen map[*resource]uint64
}

// Cursor returns a cursor that starts at the oldest stored line.
func (s *Store) Cursor(f Filter) *Cursor {
	c := &Cursor{s: s, f: f, m: f.mask(), seen: map[*resource]uint64{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.chosenLocked(f) {
		c.seen[r] = r.dropped.of(c.m)
	}
	return c
}

// CursorAt returns a cursor that starts after the line numbered seq. Lines that were dropped
// before the call do not count as skipped.
func (s *Store) CursorAt(f Filter, seq uint64) *Cursor {
	c := s.Cursor(f)
	s.mu.Lock()
	c.pos = min(seq, s.seq)
	partly := map[*resource]uint64{} // to the first line of the segment that contains the cursor
	for _, r := range s.chosenLocked(f) {
		c.seen[r] = r.dropped.of(c.m)
		for _, seg := range r.segs {
			if seg.last > c.pos {
				if seg.first <= c.pos {
					partly[r] = seg.first
				}
				break
			}
			c.seen[r] += seg.counts.of(c.m)
		}
	}
	s.mu.Unlock()
	for r, first := range partly {
		it := &source{s: s, r: r, m: c.m, pos: first - 1, end: c.pos}
		for it.next() {
			c.seen[r]++
		}
	}
	return c
}

// Next returns up to max lines after the ones returned before, or none if there is no newer line. It stops where lines
// were dropped, so that the lines that Skipped counts are always missing before the first line.
func (c *Cursor) Next(max int) []Line {
	if max <= 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	mg, limit := c.open()
	n := newNarrower(c.f)
	var lines []Line
	for len(lines) < max {
		it := mg.top()
		if c.gap > 0 {
			if len(lines) > 0 {
				break
			}
			c.skipped, c.gap = c.skipped+c.gap, 0
		}
		if it == nil {
			c.pos = limit
			break
		}
		c.pos = it.head().seq
		c.seen[it.r]++
		if n.passes(it) {
			lines = append(lines, it.line())
		}
		mg.advance()
	}
	return lines
}

// open starts a merge of all lines from the cursor to the newest.
func (c *Cursor) open() (mg *merge, limit uint64) {
	s := c.s
	s.mu.Lock()
	limit = s.seq
	var its []*source
	for _, r := range s.chosenLocked(c.f) {
		c.account(r)
		if r.last > c.pos {
			its = append(its, &source{s: s, r: r, m: c.m, pos: c.pos, end: limit, passed: c.account})
		}
	}
	for r := range c.seen {
		if r.gone {
			delete(c.seen, r)
		}
	}
	s.mu.Unlock()
	return newMerge(its, false), limit
}

// account counts the lines of a resource that were dropped before the cursor reached them. The store's mutex is held.
func (c *Cursor) account(r *resource) {
	if d := r.dropped.of(c.m); d > c.seen[r] {
		c.gap += d - c.seen[r]
		c.seen[r] = d
	}
}

// Skipped returns how many lines were dropped before those that Next returned last, since the last call of Skipped. It
// considers only resource, source and level.
func (c *Cursor) Skipped() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.skipped
	c.skipped = 0
	return n
}
