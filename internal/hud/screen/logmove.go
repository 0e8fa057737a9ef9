package screen

import (
	"math"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// scroll scrolls by a number of rows; a cursor that gets out of sight moves along. Scrolling up pauses following; reaching the
// end resumes it.
func (p *logPane) scroll(by int) {
	defer p.catch()
	p.read()
	if len(p.rows) == 0 {
		return
	}
	now := p.rows[0].spot()
	switch {
	case by < 0:
		if earlier := p.before(now, -by); len(earlier) > 0 {
			p.pause(earlier[0].spot())
		}
	case !p.follow:
		later, end := p.from(now, p.area.h+by)
		spare := max(0, len(later)-p.area.h)
		p.follow = end && spare <= by && p.cursor == 0
		if spare > 0 {
			p.top = later[min(by, spare)].spot()
		}
	}
	p.read()
}

// catch moves the cursor back into sight.
func (p *logPane) catch() {
	if p.cursor == 0 || len(p.rows) == 0 {
		return
	}
	if first, _ := p.shows(p.cursor); first < 0 {
		p.cursor = max(min(p.cursor, p.rows[len(p.rows)-1].item.First), p.rows[0].item.First)
	}
}

// pause stops following and shows the rows from a spot on.
func (p *logPane) pause(top spot) {
	if p.follow {
		p.paused = p.list.Len()
	}
	p.follow, p.top = false, top
}

// move moves the cursor. Moving it up pauses following; moving it past the end resumes it.
func (p *logPane) move(by int) {
	for ; by < 0; by++ {
		p.up()
	}
	for ; by > 0; by-- {
		p.down()
	}
}

func (p *logPane) up() {
	p.read()
	if len(p.rows) == 0 {
		return
	}
	switch first := p.rows[0]; {
	case p.cursor == 0:
		p.pause(first.spot())
		p.cursor = p.rows[len(p.rows)-1].item.First
	case first.item.First == p.cursor && first.row > 0: // the rest of an item that is taller than the pane
		p.scroll(-1)
	default:
		if earlier := p.list.ItemsBefore(p.cursor, 1, p.fold()); len(earlier) > 0 {
			p.place(earlier[0].First)
		}
	}
}

func (p *logPane) down() {
	p.read()
	if len(p.rows) == 0 {
		return
	}
	switch last := p.rows[len(p.rows)-1]; {
	case p.cursor == 0:
		p.scroll(1)
	case last.item.First == p.cursor && last.row < len(last.item.rows)-1:
		p.scroll(1)
	default:
		later := p.list.ItemsAfter(p.cursor-1, 2, p.fold())
		if len(later) > 1 {
			p.place(later[1].First)
		} else if p.anchor == 0 && p.list.Reaches(p.cursor, math.MaxUint64) {
			p.end()
		}
	}
}

// page scrolls by pages.
func (p *logPane) page(pages int) { p.scroll(pages * max(1, p.area.h-1)) }

// place puts the cursor on an item and scrolls as little as necessary to show it.
func (p *logPane) place(seq uint64) {
	p.cursor = seq
	p.read()
	first, last := p.shows(seq)
	own := p.flatten(p.list.ItemsAfter(seq-1, 1, p.fold()))
	switch {
	case len(own) == 0:
	case last-first+1 == len(own):
		if p.follow {
			p.pause(p.rows[0].spot())
		}
	case len(p.rows) == 0 || seq <= p.rows[0].item.First:
		p.pause(spot{seq, max(0, len(own)-p.area.h)})
		if len(own) > p.area.h {
			p.pause(spot{seq, len(own) - 1})
		}
	default: // below: its last row is the lowest, or its first one if it is taller than the pane
		room := p.area.h - len(own)
		if room < 0 {
			room = p.area.h - 1
		}
		top := spot{seq, 0}
		if above := p.before(top, room); len(above) > 0 {
			top = above[0].spot()
		}
		p.pause(top)
	}
	p.read()
}

// shows returns the first and the last row of an item that are shown; -1 and -2 if none is.
func (p *logPane) shows(seq uint64) (first, last int) {
	first, last = -1, -2
	for i, r := range p.rows {
		if r.item.First == seq {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	return first, last
}

// reveal shows a line in the upper part of the pane, and puts the cursor on its item.
func (p *logPane) reveal(seq uint64) {
	it, ok := p.list.ItemOf(seq, p.fold())
	if !ok {
		return
	}
	first := it.First
	top := spot{first, 0}
	if earlier := p.before(top, p.area.h/3); len(earlier) > 0 {
		top = earlier[0].spot()
	}
	if rows, end := p.from(top, p.area.h); end && len(rows) < p.area.h { // near the end, the pane stays full
		if earlier := p.before(top, p.area.h-len(rows)); len(earlier) > 0 {
			top = earlier[0].spot()
		}
	}
	p.pause(top)
	p.cursor = first
	p.read()
}

// edge shows the oldest lines, or follows the newest.
func (p *logPane) edge(last bool) {
	if last {
		p.end()
		return
	}
	if first := p.list.ItemsAfter(0, 1, p.fold()); len(first) > 0 {
		p.pause(spot{first[0].First, 0})
		p.cursor = first[0].First
	}
	p.read()
}

// end follows the newest lines.
func (p *logPane) end() {
	p.follow, p.cursor, p.anchor, p.region = true, 0, 0, nil
	p.read()
}

// sideways moves lines that are cut.
func (p *logPane) sideways(by int) {
	if p.shape.cut {
		p.shape.left = max(0, p.shape.left+by*20)
	}
}

// jumpUpdate shows where the previous or the next update begins, and reports whether there is one.
func (p *logPane) jumpUpdate(back bool) bool { return p.jump(p.updates(), back) }

// jump shows the nearest beginning of one of the spans.
func (p *logPane) jump(spans []logstore.SpanInfo, back bool) bool {
	p.read()
	at := uint64(math.MaxUint64)
	if p.cursor != 0 {
		at = p.cursor
	} else if !p.follow && len(p.rows) > 0 {
		at = p.rows[0].item.First
	}
	begins := make([]uint64, len(spans))
	for i, span := range spans {
		begins[i] = span.First
	}
	slices.Sort(begins)
	begins = slices.Compact(begins)
	i, here := slices.BinarySearch(begins, at)
	switch {
	case back:
		i--
	case here:
		i++
	}
	if !between(i, 0, len(begins)) {
		return false
	}
	p.reveal(begins[i])
	return true
}
