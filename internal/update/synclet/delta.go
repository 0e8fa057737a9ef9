package synclet

import (
	"bytes"
	"io"

	"github.com/hone-dev/hone/internal/update/agent/chunk"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// deltaFrom is the size in bytes from which on only what differs of a file is sent. Below it, a whole file costs less than to find
// out.
const deltaFrom = 16 << 10

// chunks are the chunks of a file in the container, cut with these bounds.
type chunks struct {
	bounds uint
	list   chunk.List
}

// part is a part of a file's content. It is the same as a part of the container's file, or it has to be sent.
type part struct {
	at, size uint64
	// same means that the container has it, at from.
	same bool
	from uint64
}

// delta finds out which parts of a file the container has.
type delta struct {
	old     chunks
	offsets []uint64       // of the old chunks
	index   map[uint64]int // of the old chunks, by hash; made on the first search
	next    int            // the old chunk that is expected; len of the list if none is
	at      uint64
	parts   []part
	list    chunk.List // of the new content
}

// newDelta returns a delta to chunks, which may be none.
func newDelta(old *chunks, size uint64) *delta {
	d := &delta{old: chunks{bounds: chunk.Bounds(size)}}
	if old != nil && old.bounds+2 >= d.old.bounds { // a file that has grown a lot is cut anew
		d.old = *old
	}
	d.offsets = make([]uint64, len(d.old.list))
	at := uint64(0)
	for i, c := range d.old.list {
		d.offsets[i], at = at, at+uint64(c.Size)
	}
	return d
}

// scan reads the new content.
func (d *delta) scan(r io.Reader) (sum protocol.Sum, size uint64, err error) {
	return chunk.Scan(r, chunk.Max(d.old.bounds), d.take)
}

// take takes the next chunk off the content. What follows a chunk that is the same usually follows it in the old file too: to see
// that takes a third of the time that it takes to cut.
func (d *delta) take(content []byte) int {
	if d.next < len(d.old.list) {
		c := d.old.list[d.next]
		if n := int(c.Size); n <= len(content) && chunk.Of(content[:n]) == c {
			d.add(c, d.next)
			return n
		}
	}
	n := chunk.Cut(content, d.old.bounds)
	c := chunk.Of(content[:n])
	d.add(c, d.find(c))
	return n
}

// find returns the number of an old chunk with the same content, or the number of old chunks if there is none.
func (d *delta) find(c chunk.Chunk) int {
	if d.index == nil {
		d.index = make(map[uint64]int, len(d.old.list))
		for i, c := range d.old.list {
			d.index[c.Hash] = i
		}
	}
	if i, ok := d.index[c.Hash]; ok && d.old.list[i].Size == c.Size {
		return i
	}
	return len(d.old.list)
}

// add adds a chunk that is the same as the given old one.
func (d *delta) add(c chunk.Chunk, old int) {
	p := part{at: d.at, size: uint64(c.Size)}
	if d.next = old; old < len(d.old.list) {
		p.same, p.from = true, d.offsets[old]
		d.next++
	}
	d.list = append(d.list, c)
	d.at += p.size
	if last := len(d.parts) - 1; last >= 0 && d.parts[last].same == p.same && (!p.same || d.parts[last].from+d.parts[last].size == p.from) {
		d.parts[last].size += p.size
		return
	}
	d.parts = append(d.parts, p)
}

// fresh returns how many bytes of the parts have to be sent.
func fresh(parts []part) (n uint64) {
	for _, p := range parts {
		if !p.same {
			n += p.size
		}
	}
	return n
}

// compare compares content in memory with the container's file.
func (l *local) compare(r io.Reader, size uint64, old *chunks) error {
	d := newDelta(old, size)
	sum, size, err := d.scan(r)
	if err != nil {
		return err
	}
	l.put.Sum, l.put.Size = sum, size
	l.chunks, l.parts = &chunks{d.old.bounds, d.list}, d.parts
	if fresh(d.parts) > size*9/10 { // no need to depend on what the container has
		l.whole()
	}
	return nil
}

// whole makes everything be sent.
func (l *local) whole() { l.parts = []part{{size: l.put.Size}} }

// based reports whether content of the container's file is used.
func (l *local) based() bool {
	for _, p := range l.parts {
		if p.same {
			return true
		}
	}
	return false
}

// reader returns the content of a part that has to be sent.
func (l *local) reader(f io.ReaderAt, p part) io.Reader {
	if f == nil {
		return bytes.NewReader(l.data[p.at : p.at+p.size])
	}
	return io.NewSectionReader(f, int64(p.at), int64(p.size))
}
