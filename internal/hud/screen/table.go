package screen

import (
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// table is the list of resources.
type table struct {
	*tview.Box
	theme theme

	rows []view.Row // that match the query
	// lines are the drawn lines: headings of groups and rows.
	lines  []tableLine
	folded map[string]bool
	query  string
	all    []view.Row
	// selected is kept by name, so that it survives every change of order. previous is the index of its line.
	selected model.ManifestName
	previous int
	offset   int // the first line that is drawn
	focused  bool
	step     int // of the spinner
}

// tableLine is a row, or the heading of a group.
type tableLine struct {
	row     *view.Row
	group   string
	members int
	failed  int
}

func newTable(t theme) *table {
	return &table{Box: tview.NewBox(), theme: t, folded: map[string]bool{}, focused: true}
}

// setRows replaces the rows.
func (t *table) setRows(rows []view.Row) {
	t.all = rows
	t.arrange()
}

// setQuery limits the table to the rows that match a query.
func (t *table) setQuery(q string) {
	t.query = q
	t.arrange()
}

// arrange computes the lines and keeps a row selected.
func (t *table) arrange() {
	t.rows = t.all
	if t.query != "" {
		t.rows = slices.DeleteFunc(slices.Clone(t.all), func(r view.Row) bool { return !r.Matches(t.query) })
	}
	t.lines = t.lines[:0]
	grouped := slices.ContainsFunc(t.rows, func(r view.Row) bool { return r.Group != "" })
	for i := range t.rows {
		r := &t.rows[i]
		if grouped && r.Name != model.TiltfileName {
			if h := t.heading(r.Group); h == nil {
				t.lines = append(t.lines, tableLine{group: r.Group})
			}
			h := t.heading(r.Group)
			h.members++
			if r.Err() != "" {
				h.failed++
			}
			if t.folded[r.Group] {
				continue
			}
		}
		t.lines = append(t.lines, tableLine{row: r, group: r.Group})
	}
	t.reselect()
}

// heading returns the last heading if it is the heading of the given group, else nil.
func (t *table) heading(group string) *tableLine {
	for i := len(t.lines) - 1; i >= 0; i-- {
		if l := &t.lines[i]; l.row == nil {
			if l.group == group {
				return l
			}
			return nil
		}
	}
	return nil
}

// reselect keeps the selection on the same name, or at the same place if that row is gone.
func (t *table) reselect() {
	if i := t.index(); i >= 0 {
		t.previous = i
		return
	}
	t.selected = ""
	for _, i := range []int{t.next(t.previous, 1), t.next(t.previous, -1)} {
		if i >= 0 {
			t.choose(i)
			return
		}
	}
}

// index returns the line of the selected row; -1 if there is none.
func (t *table) index() int {
	return slices.IndexFunc(t.lines, func(l tableLine) bool { return l.row != nil && l.row.Name == t.selected })
}

// next returns the first line with a row, starting at i in the given direction; -1 if there is none.
func (t *table) next(i, direction int) int {
	for ; i >= 0 && i < len(t.lines); i += direction {
		if t.lines[i].row != nil {
			return i
		}
	}
	return -1
}

func (t *table) choose(i int) {
	t.selected, t.previous = t.lines[i].row.Name, i
}

// current returns the selected row; nil if there is none.
func (t *table) current() *view.Row {
	if i := t.index(); i >= 0 {
		return t.lines[i].row
	}
	return nil
}

// move moves the selection by the given number of rows; negative numbers move it up.
func (t *table) move(by int) {
	direction := 1
	if by < 0 {
		direction, by = -1, -by
	}
	for ; by > 0; by-- {
		i := t.next(t.index()+direction, direction)
		if i < 0 {
			if direction < 0 {
				t.offset = 0
			}
			return
		}
		t.choose(i)
	}
}

// edge moves the selection to the first or the last row.
func (t *table) edge(last bool) {
	i := t.next(0, 1)
	if last {
		i = t.next(len(t.lines)-1, -1)
	}
	if i >= 0 {
		t.choose(i)
	}
	t.offset = 0
}

// nextError selects the next row that fails, also in folded groups, and reports whether there is one.
func (t *table) nextError() bool {
	at := slices.IndexFunc(t.rows, func(r view.Row) bool { return r.Name == t.selected })
	for n := 1; n <= len(t.rows); n++ {
		r := t.rows[(at+n+len(t.rows))%len(t.rows)]
		if r.Err() != "" {
			t.folded[r.Group] = false
			t.selected = r.Name
			t.arrange()
			return true
		}
	}
	return false
}

// fold hides or shows the members of the selected row's group.
func (t *table) fold(hide bool) {
	r := t.current()
	switch {
	case r == nil || r.Name == model.TiltfileName:
	case hide:
		t.folded[r.Group] = true
		t.arrange()
	}
	if !hide {
		clear(t.folded)
		t.arrange()
	}
}

// height returns how many lines the whole table takes.
func (t *table) height() int { return 1 + max(1, len(t.lines)) }

// page returns how many rows fit.
func (t *table) page() int {
	_, _, _, h := t.GetRect()
	return max(1, h-2)
}

// Draw implements tview.Primitive.
func (t *table) Draw(screen tcell.Screen) {
	x, y, width, height := t.GetRect()
	if width <= 0 || height <= 0 {
		return
	}
	c := canvas{screen, t.theme}
	longest := 0
	for _, r := range t.all {
		longest = max(longest, text.Width(string(r.Name)))
	}
	columns := view.Columns(width, longest)
	at := x + view.Margin
	for _, col := range columns {
		c.text(at, y, col.Width, col.Title, t.theme.style(view.Dim))
		at += col.Width + view.Gap
	}
	t.scroll(height - 1)
	for i := 0; i < height-1 && t.offset+i < len(t.lines); i++ {
		l := t.lines[t.offset+i]
		if l.row == nil {
			t.drawHeading(c, x, y+1+i, width, l)
		} else {
			t.drawRow(c, x, y+1+i, width, columns, *l.row)
		}
	}
	if len(t.lines) == 0 && height > 1 && t.query != "" {
		c.text(x+view.Margin, y+1, width-view.Margin, fmt.Sprintf("no resource matches %q", t.query), t.theme.style(view.Dim))
	}
}

// scroll moves the offset so that the selected line is visible, and the heading above it where there is room.
func (t *table) scroll(height int) {
	i := t.index()
	if i >= 0 {
		first := i
		if i > 0 && t.lines[i-1].row == nil {
			first = i - 1
		}
		t.offset = min(t.offset, first)
		t.offset = max(t.offset, i-height+1)
	}
	t.offset = max(0, min(t.offset, len(t.lines)-height))
}

func (t *table) drawHeading(c canvas, x, y, width int, l tableLine) {
	mark, name := "▾", l.group
	if t.folded[l.group] {
		mark = "▸"
	}
	if name == "" {
		name = "no label"
	}
	dim := t.theme.style(view.Dim)
	tail := fmt.Sprintf(" %d", l.members)
	if l.failed > 0 {
		tail += fmt.Sprintf(" · ✖ %d", l.failed)
	}
	tail += " "
	end := c.text(x+1, y, width-2, mark+" "+text.CutMiddle(name, width/2)+" ", dim)
	start := x + width - text.Width(tail) - 1
	c.rule(end, y, start-end, dim)
	c.text(start, y, text.Width(tail), tail, dim)
}

func (t *table) drawRow(c canvas, x, y, width int, columns []view.Column, r view.Row) {
	selected := r.Name == t.selected
	if selected {
		style := t.theme.style(view.Accent)
		if !t.focused {
			style = t.theme.style(view.Dim)
		}
		c.text(x+1, y, 1, "▌", style)
	}
	glyph := glyphs[r.Status]
	if r.Status == view.Updating {
		glyph = t.theme.moving(t.step)
	}
	c.spans(x+3, y, 1, view.Cell{glyph})
	hasChanged := columns[len(columns)-1].Kind == view.ColumnChanged
	at := x + view.Margin
	for _, col := range columns {
		c.spans(at, y, min(col.Width, x+width-at), r.Text(col, hasChanged))
		if selected && col.Kind == view.ColumnName {
			c.restyle(at, y, col.Width, func(s tcell.Style) tcell.Style { return s.Bold(true).Dim(false) })
		}
		at += col.Width + view.Gap
	}
}
