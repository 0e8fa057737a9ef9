package loglist

import (
	"encoding/binary"
	"sort"
)

// chunkLines is the number of line numbers in a chunk.
const chunkLines = 256

// run is a list of line numbers of one resource, in rising or in falling order. A number takes one or two bytes.
type run struct {
	chunks []chunk
	n      int
	falls  bool
	last   uint64
	// skipped are the numbers at the beginning that were trimmed, in chunks that are gone or partly gone.
	skipped int

	// decoded holds the numbers of chunk `at`, since a page is read number by number.
	decoded []uint64
	at      int
}

// chunk is up to chunkLines numbers: the first, and the distance of each other one to the number before it.
type chunk struct {
	first uint64
	n     int
	rest  []byte
}

func (r *run) add(seq uint64) {
	if k := len(r.chunks); k > 0 && r.chunks[k-1].n < chunkLines {
		c := &r.chunks[k-1]
		distance := seq - r.last
		if r.falls {
			distance = r.last - seq
		}
		c.rest = binary.AppendUvarint(c.rest, distance)
		c.n++
		if len(r.decoded) > 0 && r.at == k-1 {
			r.decoded = append(r.decoded, seq)
		}
	} else {
		r.chunks = append(r.chunks, chunk{first: seq, n: 1})
	}
	r.last = seq
	r.n++
}

// get returns number i, counted from the first that was not trimmed.
func (r *run) get(i int) uint64 {
	i += r.skipped
	r.decode(i / chunkLines)
	return r.decoded[i%chunkLines]
}

func (r *run) decode(at int) {
	if len(r.decoded) > 0 && r.at == at {
		return
	}
	c := r.chunks[at]
	r.at, r.decoded = at, append(r.decoded[:0], c.first)
	for seq, rest := c.first, c.rest; len(rest) > 0; {
		distance, n := binary.Uvarint(rest)
		rest = rest[n:]
		if r.falls {
			seq -= distance
		} else {
			seq += distance
		}
		r.decoded = append(r.decoded, seq)
	}
}

// from returns the index of the first number that is at least seq in a rising run, or at most seq in a falling one.
func (r *run) from(seq uint64) int {
	reached := func(is uint64) bool {
		if r.falls {
			return is <= seq
		}
		return is >= seq
	}
	// The number may also be in the chunk before the first one that begins at seq or beyond.
	k := sort.Search(len(r.chunks), func(k int) bool { return reached(r.chunks[k].first) })
	if k > 0 {
		k--
	}
	if k >= len(r.chunks) {
		return r.n
	}
	r.decode(k)
	i := k*chunkLines + sort.Search(len(r.decoded), func(i int) bool { return reached(r.decoded[i]) })
	return min(max(0, i-r.skipped), r.n)
}

// trim removes the numbers below oldest.
func (r *run) trim(oldest uint64) {
	if r.n == 0 {
		return
	}
	if r.falls {
		r.cut(r.from(oldest - 1))
		return
	}
	i := r.from(oldest)
	r.n -= i
	r.skipped += i
	if whole := r.skipped / chunkLines; whole > 0 {
		r.chunks = append([]chunk(nil), r.chunks[whole:]...)
		r.skipped -= whole * chunkLines
		r.decoded, r.at = r.decoded[:0], 0
	}
}

// cut keeps the first n numbers of a falling run, which is never trimmed at its beginning.
func (r *run) cut(n int) {
	if n == r.n {
		return
	}
	whole := n / chunkLines
	var partly []uint64
	if n%chunkLines > 0 {
		r.decode(whole)
		partly = append(partly, r.decoded[:n%chunkLines]...)
	}
	*r = run{chunks: r.chunks[:whole:whole], n: whole * chunkLines, falls: true}
	for _, seq := range partly {
		r.add(seq)
	}
}
