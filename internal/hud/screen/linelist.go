package screen

import (
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// lineList shows lines, some of which lead somewhere or hide others.
type lineList struct {
	// cursor is the selected line, offset the first row that is shown, and opened the lines that are unfolded, by their texts:
	// lines come and go.
	cursor, offset int
	opened         map[string]bool

	lines []listLine
	rows  int
	area  rect
	finds textFinder
	// followed is the match whose line was selected last.
	followed int
}

// listLine is a line, or one that is unfolded below it.
type listLine struct {
	view.Line
	key   string
	row   int // its first one
	nrows int
}

// opens reports whether a line can be selected, and covers a row.
func (l listLine) opens(row int) bool { return l.Selectable() && between(row, l.row, l.row+l.nrows) }

var _ mover = (*lineList)(nil)

// toggle unfolds a line, or folds it.
func (d *lineList) toggle(key string) {
	if d.opened[key] {
		delete(d.opened, key)
		return
	}
	d.open(key)
}

// open unfolds a line.
func (d *lineList) open(key string) {
	if d.opened == nil {
		d.opened = map[string]bool{}
	}
	d.opened[key] = true
}

// reset goes to the beginning of other lines.
func (d *lineList) reset() {
	d.cursor, d.offset = 0, 0
	d.finds.at, d.finds.fresh, d.finds.deep = -1, true, true
}

func (d *lineList) search() *textFinder              { return &d.finds }
func (d *lineList) window() (first *int, height int) { return &d.offset, d.area.h }

func (d *lineList) whole() []view.Cell {
	out := make([]view.Cell, len(d.lines))
	for i, l := range d.lines {
		out[i] = l.Cell
	}
	return out
}

// move moves the cursor by lines that can be selected, or scrolls where there is none.
func (d *lineList) move(by int) {
	step := 1
	if by < 0 {
		step = -1
	}
	for ; by != 0; by -= step {
		if next := d.next(step); next >= 0 && d.near(next) {
			d.cursor = next
			d.reveal()
		} else {
			d.scroll(step)
		}
	}
}

// next returns the next line in a direction that can be selected; -1 if there is none.
func (d *lineList) next(step int) int {
	for i := d.cursor + step; between(i, 0, len(d.lines)); i += step {
		if d.lines[i].Selectable() {
			return i
		}
	}
	return -1
}

// near reports whether a line is in sight, or becomes visible by scrolling one row.
func (d *lineList) near(i int) bool {
	return between(d.lines[i].row, d.offset-1, d.offset+d.area.h+1)
}

func (d *lineList) scroll(rows int) {
	d.offset = max(0, min(d.offset+rows, d.rows-d.area.h))
}

func (d *lineList) reveal() {
	l := d.lines[d.cursor]
	d.offset = min(d.offset, l.row)
	d.offset = max(d.offset, l.row+l.nrows-d.area.h)
}

func (d *lineList) page(pages int) {
	d.scroll(pages * max(1, d.area.h-1))
	for i, l := range d.lines { // the cursor stays in sight
		if l.Selectable() && between(l.row, d.offset, d.offset+d.area.h) {
			d.cursor = i
			break
		}
	}
}

func (d *lineList) edge(last bool) {
	d.offset, d.cursor = 0, 0
	if last {
		d.offset, d.cursor = max(0, d.rows-d.area.h), len(d.lines)-1
	}
}

// read takes in lines, wrapped to a width. empty is the message if there are none.
func (d *lineList) read(lines []view.Line, empty string, width int) {
	d.lines, d.rows = d.lines[:0], 0
	for _, l := range lines {
		d.add(l, "", width)
	}
	d.finds.deep = false
	if len(lines) == 0 {
		d.add(view.Line{Cell: view.Cell{{Text: empty, Tone: view.Dim}}}, "", width)
	}
	d.cursor = max(0, min(d.cursor, len(d.lines)-1))
	if !d.lines[d.cursor].Selectable() {
		for i, l := range d.lines {
			if l.Selectable() {
				d.cursor = i
				break
			}
		}
	}
}

func (d *lineList) add(l view.Line, above string, width int) {
	key := above + "\n" + l.Cell.String()
	n := len(l.Rows(width))
	d.lines = append(d.lines, listLine{l, key, d.rows, n})
	d.rows += n
	if d.finds.deep && d.hides(l) {
		d.open(key)
	}
	if d.opened[key] {
		for _, f := range l.Folded {
			d.add(f, key, width)
		}
	}
}

// hides reports whether the folded part of a line has a match.
func (d *lineList) hides(l view.Line) bool {
	return slices.ContainsFunc(l.Folded, func(f view.Line) bool { return d.finds.matches(f.Cell) || d.hides(f) })
}

// line returns the selected line; nil if there is none.
func (d *lineList) line() *listLine {
	if between(d.cursor, 0, len(d.lines)) && d.lines[d.cursor].Selectable() {
		return &d.lines[d.cursor]
	}
	return nil
}

// draw draws the lines in an area, whose first two columns are for marks.
func (d *lineList) draw(c canvas, area rect) {
	d.area = area
	width := max(area.w-4, 1)
	d.arrive(width)
	d.scroll(0)
	for i, l := range d.lines {
		for n, row := range l.Rows(width) {
			y := area.y + l.row + n - d.offset
			if !between(y, area.y, area.y+area.h) {
				continue
			}
			c.spans(area.x+2, y, width, row)
			if n == 0 && len(l.Folded) > 0 {
				c.text(area.x+1, y, 1, map[bool]string{true: "▾", false: "▸"}[d.opened[l.key]], c.theme.style(view.Dim))
			}
			if i == d.cursor && l.Selectable() {
				style := c.theme.selection(view.Accent)
				c.restyle(area.x+2, y, width, func(tcell.Style) tcell.Style { return style })
			}
			c.linkLine(area.x+2, y, width, l.Target, row)
			d.finds.mark(c, area.x+2, y, width, row.String())
		}
	}
	if below := d.rows - d.offset - area.h; below > 0 {
		sign := fmt.Sprintf(" ▼ %d ", below)
		c.text(area.x+area.w-text.Width(sign)-1, area.y+area.h-1, text.Width(sign), sign, c.theme.style(view.Accent))
	}
}

// arrive looks for the matches, and shows the first one of a new search. The line with the match that the user is at is selected.
func (d *lineList) arrive(width int) {
	if d.finds.found.Empty() {
		d.followed = -1
		return
	}
	var rows []view.Cell
	for _, l := range d.lines {
		rows = append(rows, l.Rows(width)...)
	}
	d.finds.look(rows)
	d.finds.arrive(&d.offset, d.area.h)
	if d.finds.at != d.followed {
		d.followed = d.finds.at
		d.follow()
	}
}

// follow selects the line with the match that the user is at.
func (d *lineList) follow() {
	f := &d.finds
	if !between(f.at, 0, len(f.rows)) {
		return
	}
	for i, l := range d.lines {
		if l.opens(f.rows[f.at]) {
			d.cursor = i
		}
	}
}

// at returns the line at a place of the terminal; -1 if none can be selected there.
func (d *lineList) at(x, y int) int {
	row := d.area.rowAt(x, y, d.offset, d.rows)
	return slices.IndexFunc(d.lines, func(l listLine) bool { return l.opens(row) })
}

// point returns the effect of a gesture of the mouse: the wheel scrolls, a click selects, a double click opens.
func (d *lineList) point(u *ui, g gesture) *verb {
	switch g.kind {
	case wheelUp:
		return &verb{name: "scroll", do: func(*ui) { d.scroll(-wheelRows) }}
	case wheelDown:
		return &verb{name: "scroll", do: func(*ui) { d.scroll(wheelRows) }}
	case press:
		if i := d.at(g.x, g.y); i >= 0 {
			return &verb{name: "select", do: func(*ui) { d.cursor = i }}
		}
	case doubleClick:
		return u.verb("open-detail")
	case click, drag, dropped:
	}
	return nil
}
