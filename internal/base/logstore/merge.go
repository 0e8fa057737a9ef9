package logstore

import (
	"slices"
	"sync"
)

// merge yields the lines of several sources in the order of their numbers. It opens a source only when the source may
// have the next line, so that a page of a thousand resources costs little more than a page of one.
type merge struct {
	heads []*source
	back  bool
	// slab holds the sources, if it goes back to slabs.
	slab *[]source
}

// slabs have the memory for the sources of pages: 200 KB for 1,000 resources.
var slabs = sync.Pool{New: func() any { return new([]source) }}

func newMerge(sources []*source, back bool) *merge {
	m := &merge{heads: sources, back: back}
	for i := len(m.heads)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m
}

// slabFor returns memory for n sources.
func slabFor(n int) *[]source {
	slab := slabs.Get().(*[]source)
	*slab = slices.Grow((*slab)[:0], n)
	return slab
}

// release ends the merge.
func (m *merge) release() {
	for _, it := range m.heads {
		it.release()
	}
	m.heads = nil
	if m.slab != nil {
		clear(*m.slab)
		slabs.Put(m.slab)
		m.slab = nil
	}
}

// top returns the source whose line is next, or nil.
func (m *merge) top() *source {
	for len(m.heads) > 0 && !m.heads[0].opened {
		if it := m.heads[0]; len(m.heads) > 1 && it.locatable() {
			it.locate()
			m.down(0)
			continue
		}
		m.heads[0].opened = true
		m.advance()
	}
	if len(m.heads) == 0 {
		return nil
	}
	return m.heads[0]
}

// advance moves past the line of top.
func (m *merge) advance() {
	if !m.heads[0].next() {
		m.heads[0].release()
		n := len(m.heads) - 1
		m.heads[0] = m.heads[n]
		m.heads = m.heads[:n]
	}
	m.down(0)
}

// before reports whether line i comes before line j.
func (m *merge) before(i, j int) bool {
	a, b := m.heads[i].key(), m.heads[j].key()
	if m.back {
		return a > b
	}
	return a < b
}

func (m *merge) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(m.heads); c++ {
			if m.before(c, least) {
				least = c
			}
		}
		if least == i {
			return
		}
		m.heads[i], m.heads[least] = m.heads[least], m.heads[i]
		i = least
	}
}
