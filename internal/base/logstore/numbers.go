package logstore

import (
	"encoding/binary"
	"os"
	"sync"
)

// numbers are the line numbers of a segment: of each line but the first, the distance from the line before, as a varint. They stand
// beside the segment on disk, uncompressed, so that a merge of a thousand resources can tell which segments have the lines that it
// is to yield, without unpacking a thousand of them.
type numbers []byte

// numbersOf returns the numbers of a segment's lines.
func numbersOf(buf []byte) (n numbers, err error) {
	prev, first := mark{}, true
	for rest := buf; len(rest) > 0; {
		r, _, isDef, next, err := decode(rest, prev)
		if err != nil {
			return nil, err
		}
		rest = next
		if isDef {
			continue
		}
		if !first {
			n = binary.AppendUvarint(n, r.seq-prev.seq)
		}
		prev.seq, first = r.seq, false
	}
	return n, nil
}

// after returns the least number above seq, which there must be. first is the number of the segment's first line.
func (n numbers) after(first, seq uint64) uint64 {
	at := first
	for at <= seq {
		distance, size := binary.Uvarint(n)
		if size <= 0 {
			break
		}
		at, n = at+distance, n[size:]
	}
	return at
}

// before returns the greatest number below seq, which there must be.
func (n numbers) before(first, seq uint64) uint64 {
	at := first
	for {
		distance, size := binary.Uvarint(n)
		if size <= 0 || at+distance >= seq {
			return at
		}
		at, n = at+distance, n[size:]
	}
}

// numberCache keeps the numbers of the segments that were looked at last.
type numberCache struct {
	mu sync.Mutex
	// young has the numbers that were used since old was replaced by it.
	young, old map[*segment]numbers
	bytes      int // of young
}

// cachedNumbers bounds young in bytes: the numbers of a thousand segments of the usual size.
const cachedNumbers = 2 << 20

func (c *numberCache) get(seg *segment) (numbers, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.young[seg]; ok {
		return n, true
	}
	n, ok := c.old[seg]
	if ok {
		c.keepLocked(seg, n)
	}
	return n, ok
}

func (c *numberCache) put(seg *segment, n numbers) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keepLocked(seg, n)
}

func (c *numberCache) keepLocked(seg *segment, n numbers) {
	if c.young == nil || c.bytes+len(n) > cachedNumbers {
		c.young, c.old, c.bytes = map[*segment]numbers{}, c.young, 0
	}
	c.young[seg] = n
	c.bytes += len(n)
}

// numbersAt returns the numbers of a segment on disk.
func (s *Store) numbersAt(seg *segment, p *place) (numbers, error) {
	if n, ok := s.numbers.get(seg); ok {
		return n, nil
	}
	file, err := os.Open(p.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	n := make(numbers, p.numbers)
	if _, err := file.ReadAt(n, p.offset+p.length); err != nil {
		return nil, err
	}
	s.numbers.put(seg, n)
	return n, nil
}

// locatable reports whether locate may move the source: only once before it is opened.
func (it *source) locatable() bool { return !it.located && it.paged() }

// paged reports whether the source reads through the cache, and reports no segments.
func (it *source) paged() bool { return it.once == nil && it.passed == nil }

// locate moves to the earliest position at which the next line can be, without unpacking anything. The line itself may come later,
// where the filter omits lines by their level or source.
func (it *source) locate() {
	it.located = true
	seg, at, ok := it.spilledNext()
	if !ok {
		return
	}
	n, err := it.s.numbersAt(seg, &at)
	if err != nil {
		return // fetch reports it
	}
	if it.back {
		next := n.before(seg.first, it.pos)
		it.pos, it.final = next+1, next < it.end
		return
	}
	next := n.after(seg.first, it.pos)
	it.pos, it.final = next-1, next > it.end
}

// spilledNext returns the next segment with lines that the filter may let through, and its place; ok is false if it is not on disk.
func (it *source) spilledNext() (seg *segment, at place, ok bool) {
	it.s.mu.Lock()
	defer it.s.mu.Unlock()
	if it.r.gone {
		return nil, place{}, false
	}
	for {
		seg := it.nextSegment()
		switch {
		case seg == nil:
			return nil, place{}, false
		case seg.counts.of(it.m) == 0:
			it.skip(seg)
		case seg.file == nil:
			return nil, place{}, false
		default:
			return seg, seg.place(), true
		}
	}
}
