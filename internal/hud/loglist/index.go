package loglist

import (
	"container/heap"
	"math"

	"github.com/hone-dev/hone/pkg/model"
)

// index holds the numbers of the lines that were found, by resource, so that lines which a resource's bounds push out can be
// removed at once.
type index struct {
	// low and high bound the lines that were looked at: every line with low <= Seq <= high.
	low, high uint64
	resources map[model.ManifestName]*found
	n         int
}

// found are the lines of one resource: those that were found going back from the start, then those going forward.
type found struct {
	name  model.ManifestName
	older run // falls
	newer run
}

// ref is a line that was found.
type ref struct {
	seq      uint64
	resource model.ManifestName
}

// newIndex returns an index whose search starts between the lines numbered start and start+1.
func newIndex(start uint64) *index {
	return &index{low: start + 1, high: start, resources: map[model.ManifestName]*found{}}
}

func (x *index) add(r ref, back bool) {
	f := x.resources[r.resource]
	if f == nil {
		f = &found{name: r.resource, older: run{falls: true}}
		x.resources[r.resource] = f
	}
	if back {
		f.older.add(r.seq)
	} else {
		f.newer.add(r.seq)
	}
	x.n++
}

// trim removes the lines of a resource below the number oldest.
func (x *index) trim(resource model.ManifestName, oldest uint64) {
	f := x.resources[resource]
	if f == nil {
		return
	}
	before := f.len()
	if f.older.n > 0 {
		f.older.trim(oldest)
	}
	if f.older.n == 0 {
		f.newer.trim(oldest)
	}
	x.n += f.len() - before
	if f.len() == 0 {
		delete(x.resources, resource)
	}
}

// rank returns the number of lines with a lower number than seq.
func (x *index) rank(seq uint64) int {
	n := 0
	for _, f := range x.resources {
		n += f.rank(seq)
	}
	return n
}

// before returns the last n lines with a lower number than seq, oldest first.
func (x *index) before(seq uint64, n int) []ref {
	h := heads{back: true}
	for _, f := range x.resources {
		if i := f.rank(seq) - 1; i >= 0 {
			h.list = append(h.list, head{f, i, f.get(i)})
		}
	}
	out := h.take(n)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// after returns the first n lines with a higher number than seq.
func (x *index) after(seq uint64, n int) []ref {
	if seq == math.MaxUint64 {
		return nil
	}
	h := heads{}
	for _, f := range x.resources {
		if i := f.rank(seq + 1); i < f.len() {
			h.list = append(h.list, head{f, i, f.get(i)})
		}
	}
	return h.take(n)
}

func (f *found) len() int { return f.older.n + f.newer.n }

// get returns number i in rising order.
func (f *found) get(i int) uint64 {
	if i < f.older.n {
		return f.older.get(f.older.n - 1 - i)
	}
	return f.newer.get(i - f.older.n)
}

// rank returns the number of line numbers below seq.
func (f *found) rank(seq uint64) int {
	if seq == 0 {
		return 0
	}
	if f.older.n > 0 {
		// In falling order, the numbers from this index on are below seq.
		if below := f.older.n - f.older.from(seq-1); below < f.older.n || f.newer.n == 0 {
			return below
		}
	}
	return f.older.n + f.newer.from(seq)
}

// heads is a heap of the next line of each resource.
type heads struct {
	list []head
	back bool
}

type head struct {
	f   *found
	i   int
	seq uint64
}

// take returns the next n lines.
func (h *heads) take(n int) []ref {
	heap.Init(h)
	out := make([]ref, 0, min(n, 64))
	for len(out) < n && len(h.list) > 0 {
		top := &h.list[0]
		out = append(out, ref{top.seq, top.f.name})
		if h.back {
			top.i--
		} else {
			top.i++
		}
		if top.i < 0 || top.i >= top.f.len() {
			heap.Pop(h)
			continue
		}
		top.seq = top.f.get(top.i)
		heap.Fix(h, 0)
	}
	return out
}

// Len implements heap.Interface.
func (h *heads) Len() int { return len(h.list) }

// Less implements heap.Interface.
func (h *heads) Less(i, j int) bool {
	if h.back {
		return h.list[i].seq > h.list[j].seq
	}
	return h.list[i].seq < h.list[j].seq
}

// Swap implements heap.Interface.
func (h *heads) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }

// Push implements heap.Interface; nothing is ever pushed.
func (h *heads) Push(x any) { h.list = append(h.list, x.(head)) }

// Pop implements heap.Interface.
func (h *heads) Pop() any {
	last := len(h.list) - 1
	x := h.list[last]
	h.list = h.list[:last]
	return x
}
