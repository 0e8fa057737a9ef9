package logstore

// merge yields the lines of several sources in the order of their numbers. It opens a source only when the source may
// have the next line, so that a page of a thousand resources costs little more than a page of one.
type merge struct {
	heads []*source
	back  bool
}

func newMerge(sources []*source, back bool) *merge {
	m := &merge{heads: sources, back: back}
	for i := len(m.heads)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m
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
