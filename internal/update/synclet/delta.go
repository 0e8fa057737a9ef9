package synclet

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/hone-dev/hone/internal/update/agent/chunk"
	"github.com/hone-dev/hone/internal/update/agent/patch"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// deltaFrom is the size in bytes from which on only the differences of a file are sent. Below it, sending the whole file costs less
// than finding them.
const deltaFrom = 16 << 10

// chunks are the chunks of a file in the container, cut with these bounds.
type chunks struct {
	bounds uint
	list   chunk.List
}

// part is a part of a file's content.
type part struct {
	at, size uint64
	kind     partKind
	// from is the offset of the same content in the container's file, or of similar content.
	from uint64
}

// partKind tells how the container gets a part.
type partKind uint8

const (
	freshPart   partKind = iota // it is sent
	samePart                    // the container has it
	patchedPart                 // the container has a similar part, and the differences are sent
	holePart                    // it is zeros: nothing is sent, and it takes no room on the disk
)

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
	if old != nil && old.bounds+2 >= d.old.bounds { // a file that has grown a lot is cut into larger chunks
		d.old = *old
	}
	d.offsets = make([]uint64, len(d.old.list))
	at := uint64(0)
	for i, c := range d.old.list {
		d.offsets[i], at = at, at+uint64(c.Size)
	}
	return d
}

// scan reads the new content: held, or content if held is nil.
func (d *delta) scan(content io.ReaderAt, held []byte) (sum protocol.Sum, size uint64, err error) {
	if held != nil {
		sum, size = chunk.ScanHeld(held, d.take)
		return sum, size, nil
	}
	return chunk.Scan(io.NewSectionReader(content, 0, math.MaxInt64), chunk.Max(d.old.bounds), d.take)
}

// take takes the next chunk off the content. The chunk that comes after an unchanged one is usually unchanged, too: comparing it
// with the old one takes a third of the time of cutting.
func (d *delta) take(content []byte) int {
	if d.next < len(d.old.list) {
		c := d.old.list[d.next]
		if n := int(c.Size); n <= len(content) && chunk.Of(content[:n]) == c {
			d.add(c, d.next, content)
			return n
		}
	}
	n := chunk.Cut(content, d.old.bounds)
	c := chunk.Of(content[:n])
	d.add(c, d.find(c), content)
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

// add adds a chunk that equals the old chunk with the given number; the number of old chunks stands for none. content begins with
// the chunk.
func (d *delta) add(c chunk.Chunk, old int, content []byte) {
	p := part{at: d.at, size: uint64(c.Size)}
	if d.next = old; old < len(d.old.list) {
		p.kind, p.from = samePart, d.offsets[old]
		d.next++
	}
	if empty(content[:c.Size]) {
		p.kind, p.from = holePart, 0
	}
	d.list = append(d.list, c)
	d.at += p.size
	d.parts = appendPart(d.parts, p)
}

// zeros is longer than most chunks.
var zeros [256 << 10]byte

// empty reports whether content is zeros. Most other content shows that in its first byte.
func empty(content []byte) bool {
	for len(content) > 0 {
		n := min(len(content), len(zeros))
		if content[0] != 0 || !bytes.Equal(content[:n], zeros[:n]) {
			return false
		}
		content = content[n:]
	}
	return true
}

// appendPart appends a part, or extends the last one if the part continues it.
func appendPart(parts []part, p part) []part {
	if p.size == 0 {
		return parts
	}
	if last := len(parts) - 1; last >= 0 && parts[last].kind == p.kind && (p.kind == freshPart || p.kind == holePart || parts[last].from+parts[last].size == p.from) {
		parts[last].size += p.size
		return parts
	}
	return append(parts, p)
}

// similarRange finds ranges of a file that are similar to ranges of the old one.
type similarRange struct {
	content, old       io.ReaderAt
	size               uint64 // of the old file
	contentBuf, oldBuf []byte
}

// leastPatched is the size of a part, in bytes, from which on a similar range is worth a search.
const leastPatched = 64

// patches replaces the fresh parts by patched ones, as far as a similar range is found. Content between two unchanged parts is
// usually similar to the old content between them.
func (k *similarRange) patches(parts []part) (out []part, err error) {
	for i, p := range parts {
		if p.kind != freshPart || p.size < leastPatched {
			out = appendPart(out, p)
			continue
		}
		from, to := uint64(0), k.size
		if i > 0 {
			from = parts[i-1].from + parts[i-1].size
		}
		if i+1 < len(parts) {
			to = parts[i+1].from
		}
		front, back, err := k.ends(p, from, to)
		if err != nil {
			return nil, err
		}
		out = appendPart(out, part{at: p.at, size: front, kind: patchedPart, from: from})
		out = appendPart(out, part{at: p.at + front, size: p.size - front - back})
		out = appendPart(out, part{at: p.at + p.size - back, size: back, kind: patchedPart, from: to - back})
	}
	return out, nil
}

// ends returns the number of bytes at the beginning of a part that are similar to the old file behind the offset from, and the
// number of bytes at its end that are similar to the old file before the offset to.
func (k *similarRange) ends(p part, from, to uint64) (front, back uint64, err error) {
	for front < p.size && from+front < k.size {
		n := min(p.size-front, k.size-from-front, protocol.MaxData)
		content, old, err := k.read(p.at+front, from+front, n)
		if err != nil {
			return 0, 0, err
		}
		reach := uint64(patch.Forward(old, content))
		if front += reach; ended(reach, n) {
			break
		}
	}
	for back < p.size-front && back < to {
		n := min(p.size-front-back, to-back, protocol.MaxData)
		content, old, err := k.read(p.at+p.size-back-n, to-back-n, n)
		if err != nil {
			return 0, 0, err
		}
		reach := uint64(patch.Backward(old, content))
		if back += reach; ended(reach, n) {
			break
		}
	}
	return front, back, nil
}

// ended reports whether similarity ends within a block of n bytes of which reach bytes are similar. If only the last few bytes
// differ, it may continue in the next block.
func ended(reach, n uint64) bool { return reach == 0 || n-reach > patch.Stop }

// read reads n bytes of the content at the offset at, and of the old file at the offset from. The results are valid until the next
// call.
func (k *similarRange) read(at, from, n uint64) (content, old []byte, err error) {
	if k.contentBuf == nil {
		k.contentBuf, k.oldBuf = make([]byte, protocol.MaxData), make([]byte, protocol.MaxData)
	}
	content, old = k.contentBuf[:n], k.oldBuf[:n]
	if _, err := k.content.ReadAt(content, int64(at)); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if _, err := k.old.ReadAt(old, int64(from)); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return content, old, nil
}

// freshBytes returns how many bytes of the parts have to be sent as they are.
func freshBytes(parts []part) (n uint64) {
	for _, p := range parts {
		if p.kind == freshPart {
			n += p.size
		}
	}
	return n
}

// base is a file in the container from which parts can be copied.
type base struct {
	path   string
	chunks *chunks
	// content reads a copy of its content on this side; nil if there is none.
	content io.ReaderAt
}

// compare compares a file's content, which is the local data unless that is nil, with the container's file. It reads the content at
// most twice.
func (l *local) compare(content io.ReaderAt, size uint64, b base) error {
	d := newDelta(b.chunks, size)
	sum, size, err := d.scan(content, l.data)
	if err != nil {
		return err
	}
	l.put.Sum, l.put.Size = sum, size
	l.chunks, l.parts, l.base = &chunks{d.old.bounds, d.list}, d.parts, b.path
	if b.content != nil && len(d.offsets) > 0 {
		l.like = &similarRange{content: content, old: b.content, size: d.old.list.Size()}
		if l.parts, err = l.like.patches(l.parts); err != nil {
			return err
		}
	}
	if freshBytes(l.parts) > size*9/10 { // not worth depending on the container's file
		l.whole()
	}
	return nil
}

// whole makes the whole content one part that is sent.
func (l *local) whole() { l.parts = []part{{size: l.put.Size}} }

// based reports whether content of the container's file is used.
func (l *local) based() bool {
	for _, p := range l.parts {
		if p.kind == samePart || p.kind == patchedPart {
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
