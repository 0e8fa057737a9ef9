package screen

import (
	"context"
	"fmt"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// detailsView shows what is known about one resource, in tabs.
type detailsView struct {
	ui   *ui
	name model.ManifestName
	tab  int

	// cursor is the selected line of the tab, offset the first row that is shown, and opened the lines that are unfolded, by
	// their texts: lines come and go.
	cursor, offset int
	opened         map[string]bool

	content view.Details
	lines   []detailLine
	rows    int
	area    rect // of the tab's rows
	tabs    []rect
}

// detailLine is a line of the tab that is shown, or one that is unfolded below it.
type detailLine struct {
	view.Line
	key   string
	row   int // its first one
	nrows int
}

var (
	_ layer   = (*detailsView)(nil)
	_ mover   = (*detailsView)(nil)
	_ pointed = (*detailsView)(nil)
)

// openDetails shows the details of a resource.
func (u *ui) openDetails(name model.ManifestName) {
	d := &detailsView{ui: u, name: name, opened: map[string]bool{}}
	if old, ok := u.top().(*detailsView); ok { // from resource to resource: Esc goes back to the main view
		d.tab = old.tab
		u.pop()
	}
	u.push(d)
}

func (d *detailsView) place() place { return inDetails }
func (d *detailsView) covers() bool { return true }
func (d *detailsView) mover() mover { return d }

// move moves the cursor by lines that can be selected, or scrolls where there is none.
func (d *detailsView) move(by int) {
	step := 1
	if by < 0 {
		step = -1
	}
	for ; by != 0; by -= step {
		next := d.cursor + step
		for next >= 0 && next < len(d.lines) && !d.lines[next].Selectable() {
			next += step
		}
		if next < 0 || next >= len(d.lines) || !d.near(next) {
			d.scroll(step)
			continue
		}
		d.cursor = next
		d.reveal()
	}
}

// near reports whether a line is in sight, or becomes visible by scrolling one row.
func (d *detailsView) near(i int) bool {
	l := d.lines[i]
	return l.row >= d.offset-1 && l.row < d.offset+d.area.h+1
}

func (d *detailsView) scroll(rows int) {
	d.offset = max(0, min(d.offset+rows, d.rows-d.area.h))
}

func (d *detailsView) reveal() {
	l := d.lines[d.cursor]
	d.offset = min(d.offset, l.row)
	d.offset = max(d.offset, l.row+l.nrows-d.area.h)
}

func (d *detailsView) turn(pages int) {
	d.scroll(pages * max(1, d.area.h-1))
	for i, l := range d.lines { // the cursor stays in sight
		if l.row >= d.offset && l.row < d.offset+d.area.h && l.Selectable() {
			d.cursor = i
			break
		}
	}
}

func (d *detailsView) edge(last bool) {
	d.offset, d.cursor = 0, 0
	if last {
		d.offset, d.cursor = max(0, d.rows-d.area.h), len(d.lines)-1
	}
}

func (d *detailsView) choose(tab int) {
	if tab >= 0 && tab < len(d.content.Tabs) && tab != d.tab {
		d.tab, d.cursor, d.offset = tab, 0, 0
	}
}

// read takes in the newest details.
func (d *detailsView) read(width int) {
	d.lines, d.rows = d.lines[:0], 0
	content, ok := view.Details{}, false
	if d.ui.frame.Details != nil {
		content, ok = d.ui.frame.Details(d.name)
	}
	d.content = content
	if !ok {
		d.add(view.Line{Cell: view.Cell{{Text: "this resource no longer exists", Tone: view.Dim}}}, "", width)
		return
	}
	d.tab = min(d.tab, len(content.Tabs)-1)
	tab := content.Tabs[d.tab]
	for _, l := range tab.Lines {
		d.add(l, "", width)
	}
	if len(tab.Lines) == 0 {
		d.add(view.Line{Cell: view.Cell{{Text: tab.Empty, Tone: view.Dim}}}, "", width)
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

func (d *detailsView) add(l view.Line, above string, width int) {
	key := above + "\n" + l.Cell.String()
	n := len(l.Rows(width))
	d.lines = append(d.lines, detailLine{l, key, d.rows, n})
	d.rows += n
	if d.opened[key] {
		for _, f := range l.Folded {
			d.add(f, key, width)
		}
	}
}

func (d *detailsView) draw(c canvas, area rect) {
	width := area.w - 4
	if width <= 0 {
		return
	}
	title, rest := area.top(1)
	d.read(width)
	d.drawTabs(c, title)
	for _, l := range d.content.Head {
		for _, row := range l.Rows(width) {
			if rest.h <= area.h/2 { // the tab gets at least half of the height
				break
			}
			c.spans(rest.x+2, rest.y, width, row)
			_, rest = rest.top(1)
		}
	}
	c.rule(rest.x, rest.y, rest.w, c.theme.style(view.Dim))
	_, rest = rest.top(1)
	d.area = rest
	d.scroll(0)
	for i, l := range d.lines {
		for n, row := range l.Rows(width) {
			y := rest.y + l.row + n - d.offset
			if y < rest.y || y >= rest.y+rest.h {
				continue
			}
			c.spans(rest.x+2, y, width, row)
			switch {
			case n == 0 && len(l.Folded) > 0:
				c.text(rest.x+1, y, 1, map[bool]string{true: "▾", false: "▸"}[d.opened[l.key]], c.theme.style(view.Dim))
			}
			if i == d.cursor && l.Selectable() {
				style := c.theme.selection(view.Accent)
				c.restyle(rest.x+2, y, width, func(tcell.Style) tcell.Style { return style })
			}
		}
	}
	if below := d.rows - d.offset - rest.h; below > 0 {
		sign := fmt.Sprintf(" ▼ %d ", below)
		c.text(rest.x+rest.w-text.Width(sign)-1, rest.y+rest.h-1, text.Width(sign), sign, c.theme.style(view.Accent))
	}
}

// drawTabs draws the name and the titles of the tabs; those that do not fit are cut.
func (d *detailsView) drawTabs(c canvas, area rect) {
	c.rule(area.x, area.y, area.w, c.theme.style(view.Dim))
	end := c.text(area.x+1, area.y, area.w-2, " "+text.CutMiddle(string(d.name), 30)+" ", c.theme.selection(view.Accent))
	back := " Esc back "
	room := area.x + area.w - text.Width(back) - 1
	d.tabs = d.tabs[:0]
	for i, t := range d.content.Tabs {
		style := c.theme.style(view.Dim)
		label := fmt.Sprintf("  %d %s ", i+1, t.Title)
		if i == d.tab {
			style = c.theme.style(view.Accent).Bold(true)
			label = fmt.Sprintf(" [%d %s]", i+1, t.Title)
		}
		if end+text.Width(label) > room {
			label = fmt.Sprintf(" %d ", i+1)
		}
		start := end
		end = c.text(end, area.y, room-end, label, style)
		d.tabs = append(d.tabs, rect{start, area.y, end - start, 1})
	}
	c.text(room, area.y, text.Width(back), back, c.theme.style(view.Dim))
}

// point implements pointed: a click on a tab shows it, a click on a line selects it, a double click opens it.
func (d *detailsView) point(g gesture) *verb {
	switch g.kind {
	case wheelUp:
		return &verb{name: "scroll", do: func(*ui) { d.scroll(-wheelRows) }}
	case wheelDown:
		return &verb{name: "scroll", do: func(*ui) { d.scroll(wheelRows) }}
	case press:
		for i, r := range d.tabs {
			if r.has(g.x, g.y) {
				return &verb{name: "tab", do: func(*ui) { d.choose(i) }}
			}
		}
		for i, l := range d.lines {
			if row := d.offset + g.y - d.area.y; d.area.has(g.x, g.y) && row >= l.row && row < l.row+l.nrows && l.Selectable() {
				return &verb{name: "select", do: func(*ui) { d.cursor = i }}
			}
		}
	case doubleClick:
		return d.ui.verb("open-detail")
	case click, drag, dropped:
	}
	return nil
}

func (u *ui) details() *detailsView {
	d, _ := u.top().(*detailsView)
	return d
}

func (u *ui) turnTab(by int) {
	if d := u.details(); d != nil && len(d.content.Tabs) > 0 {
		n := len(d.content.Tabs)
		d.choose((d.tab + by + n) % n)
	}
}

func (u *ui) chooseTab(i int) {
	if d := u.details(); d != nil {
		d.choose(i)
	}
}

// line returns the selected line of the details; nil if there is none.
func (d *detailsView) line() *detailLine {
	if d.cursor >= 0 && d.cursor < len(d.lines) && d.lines[d.cursor].Selectable() {
		return &d.lines[d.cursor]
	}
	return nil
}

// openDetail unfolds the selected line, or goes where it leads.
func (u *ui) openDetail() {
	d := u.details()
	if d == nil || d.line() == nil {
		return
	}
	l := d.line()
	switch t := l.Target; {
	case len(l.Folded) > 0:
		d.opened[l.key] = !d.opened[l.key]
	case t.Resource != "":
		u.openDetails(t.Resource)
	case t.URL != "":
		u.open(t.URL)
	case t.Object.Name != "":
		u.openObject(t.Object)
	case t.Span != "":
		u.showSpan(d.name, t.Span)
	case t.File != "":
		u.edit(t.File, t.Line)
	}
}

// showSpan shows the log of a resource from where a span begins.
func (u *ui) showSpan(name model.ManifestName, span string) {
	for _, s := range u.options.Logs.Spans(name) {
		if s.Name != span {
			continue
		}
		for u.pop() {
		}
		u.table.show(name)
		u.main.one, u.main.inLog = true, true
		u.log.source, u.log.level, u.log.terms = allSources, 0, loglist.Terms{}
		u.settle()
		u.log.reveal(s.First)
		return
	}
	u.say("its log is no longer there")
}

// openObject shows an object of the cluster as YAML, once the cluster has answered.
func (u *ui) openObject(o model.AppliedObject) {
	if u.options.Object == nil {
		u.say("the cluster cannot be asked from here")
		return
	}
	text := "asking the cluster…"
	title := o.Kind + "/" + o.Name
	r := newReader(u, title, func(int) []view.Cell {
		var lines []view.Cell
		for _, l := range splitLines(text) {
			lines = append(lines, view.Cell{{Text: l}})
		}
		return lines
	})
	u.push(r)
	u.job(func(ctx context.Context) func() {
		yaml, err := u.options.Object(ctx, o)
		return func() {
			text = yaml
			if err != nil {
				text = problem.Text(err)
			}
		}
	})
}
