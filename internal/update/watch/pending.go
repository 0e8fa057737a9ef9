package watch

import (
	"container/heap"
	"slices"
	"time"
)

// pending holds paths that are to be looked at later, each once.
type pending struct {
	heap lookHeap
	at   map[string]*look
}

// look is a path to be looked at.
type look struct {
	path  string
	due   time.Time
	since time.Time // when the path began to wait
	// unclosed is set if the file was created or written, and has not been seen closed since.
	unclosed bool
	// open is set if the file existed before, so that it may stay open for as long as its writer runs.
	open  bool
	index int
}

func newPending() *pending { return &pending{at: map[string]*look{}} }

// put schedules a look at path, replacing any earlier schedule.
func (p *pending) put(path string, now time.Time, delay time.Duration, unclosed bool) {
	l := p.at[path]
	if l == nil {
		l = &look{path: path, since: now}
		p.at[path] = l
		l.due, l.unclosed = now.Add(delay), unclosed
		heap.Push(&p.heap, l)
		return
	}
	l.due, l.unclosed, l.open = now.Add(delay), unclosed, false
	heap.Fix(&p.heap, l.index)
}

// putOpen schedules a look at a path that is not waiting yet, because it was written to.
func (p *pending) putOpen(path string, now time.Time, delay time.Duration) {
	p.put(path, now, delay, true)
	p.at[path].open = true
}

// settled reports whether the only waiting paths are files that a process has open.
func (p *pending) settled() bool {
	return !slices.ContainsFunc(p.heap, func(l *look) bool { return !l.open })
}

// again puts back a look that was popped.
func (p *pending) again(l *look, due time.Time) {
	l.due = due
	p.at[l.path] = l
	heap.Push(&p.heap, l)
}

// drop forgets path.
func (p *pending) drop(path string) {
	if l := p.at[path]; l != nil {
		heap.Remove(&p.heap, l.index)
		delete(p.at, path)
	}
}

// next returns when the first path is due.
func (p *pending) next() (time.Time, bool) {
	if len(p.heap) == 0 {
		return time.Time{}, false
	}
	return p.heap[0].due, true
}

// pop removes and returns the first path that is due at now.
func (p *pending) pop(now time.Time) *look {
	if len(p.heap) == 0 || p.heap[0].due.After(now) {
		return nil
	}
	l := heap.Pop(&p.heap).(*look)
	delete(p.at, l.path)
	return l
}

// popAll removes and returns the paths that are due at now, the first one first.
func (p *pending) popAll(now time.Time) (all []*look) {
	for l := p.pop(now); l != nil; l = p.pop(now) {
		all = append(all, l)
	}
	return all
}

// lookHeap orders looks by due time, for container/heap.
type lookHeap []*look

func (h lookHeap) Len() int           { return len(h) }
func (h lookHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h lookHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push is for container/heap.
func (h *lookHeap) Push(x any) {
	l := x.(*look)
	l.index = len(*h)
	*h = append(*h, l)
}

// Pop is for container/heap.
func (h *lookHeap) Pop() any {
	old := *h
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return l
}
