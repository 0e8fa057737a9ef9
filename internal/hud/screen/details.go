package screen

import (
	"context"
	"fmt"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// detailsView shows one resource in tabs.
type detailsView struct {
	ui   *ui
	name model.ManifestName
	tab  int

	content view.Details
	list    lineList
	tabs    []rect
}

var (
	_ pointed = (*detailsView)(nil)
)

// openDetails shows the details of a resource.
func (u *ui) openDetails(name model.ManifestName) {
	d := &detailsView{ui: u, name: name}
	if old, ok := u.top().(*detailsView); ok { // from resource to resource: Esc goes back to the main view
		d.tab = old.tab
		u.pop()
	}
	u.push(d)
}

func (d *detailsView) place() place { return inDetails }
func (d *detailsView) covers() bool { return true }
func (d *detailsView) mover() mover { return &d.list }

func (d *detailsView) search() *textFinder              { return d.list.search() }
func (d *detailsView) window() (first *int, height int) { return d.list.window() }
func (d *detailsView) whole() []view.Cell {
	var out []view.Cell
	for _, l := range d.content.Head {
		out = append(out, l.Cell)
	}
	return append(out, d.list.whole()...)
}

func (d *detailsView) choose(tab int) {
	if tab >= 0 && tab < len(d.content.Tabs) && tab != d.tab {
		d.tab = tab
		d.list.reset()
	}
}

// read takes in the newest details.
func (d *detailsView) read(width int) {
	content, ok := view.Details{}, false
	if d.ui.frame.Details != nil {
		content, ok = d.ui.frame.Details(d.name)
	}
	d.content = content
	if !ok {
		d.list.read(nil, "this resource no longer exists", width)
		return
	}
	d.tab = min(d.tab, len(content.Tabs)-1)
	tab := content.Tabs[d.tab]
	d.list.read(tab.Lines, tab.Empty, width)
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
			c.linkLine(rest.x+2, rest.y, width, l.Target, row)
			_, rest = rest.top(1)
		}
	}
	c.rule(rest.x, rest.y, rest.w, c.theme.style(view.Dim))
	_, rest = rest.top(1)
	d.list.draw(c, rest)
	d.list.finds.drawState(c, rest.x+rest.w-1, rest.y-1)
}

// drawTabs draws the name and the titles of the tabs; those that do not fit are cut.
func (d *detailsView) drawTabs(c canvas, area rect) {
	c.rule(area.x, area.y, area.w, c.theme.style(view.Dim))
	end := c.text(area.x+1, area.y, area.w-2, " "+text.CutMiddle(string(d.name), 30)+" ", c.theme.selection(view.Accent))
	back := " Esc back "
	room := area.x + area.w - text.Width(back) - 1
	d.tabs = d.tabs[:0]
	full := 0
	for i, t := range d.content.Tabs {
		full += text.Width(fmt.Sprintf("  %d %s ", i+1, t.Title))
	}
	narrow := end+full > room
	for i, t := range d.content.Tabs {
		style := c.theme.style(view.Dim)
		label := fmt.Sprintf("  %d %s ", i+1, t.Title)
		switch {
		case i == d.tab:
			style = c.theme.style(view.Accent).Bold(true)
			label = fmt.Sprintf(" [%d %s]", i+1, t.Title)
		case narrow: // there is room for the name of the shown tab only
			label = fmt.Sprintf(" %d ", i+1)
		}
		start := end
		end = c.text(end, area.y, room-end, label, style)
		d.tabs = append(d.tabs, rect{start, area.y, end - start, 1})
	}
	c.text(room, area.y, text.Width(back), back, c.theme.style(view.Dim))
}

// point implements pointed: a click on a tab shows it.
func (d *detailsView) point(g gesture) *verb {
	if g.kind == press {
		for i, r := range d.tabs {
			if r.has(g.x, g.y) {
				return &verb{name: "tab", do: func(*ui) { d.choose(i) }}
			}
		}
	}
	return d.list.point(d.ui, g)
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

// lines returns the list of lines on top, and the resource that it is about; nil if there is none.
func (u *ui) lines() (*lineList, model.ManifestName) {
	switch l := u.top().(type) {
	case *detailsView:
		return &l.list, l.name
	case *whyView:
		return &l.list, l.name
	case *pendingView:
		return &l.list, ""
	case *revisionsView:
		return &l.list, ""
	}
	return nil, ""
}

// openDetail unfolds the selected line, or goes where it leads.
func (u *ui) openDetail() {
	list, name := u.lines()
	if list == nil || list.line() == nil {
		return
	}
	l := list.line()
	switch t := l.Target; {
	case len(l.Folded) > 0:
		list.toggle(l.key)
	case t.Resource != "":
		u.openDetails(t.Resource)
	case t.URL != "":
		u.open(t.URL)
	case t.Object.Name != "":
		u.openObject(t.Object)
	case t.Revision.Number != 0:
		u.openRevision(t.Revision)
	case t.Span != "":
		u.showSpan(name, t.Span)
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
		u.main.scope = selectedLog
		u.main.goTo(true)
		u.log.source, u.log.level, u.log.terms = allSources, 0, logquery.Query{}
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
