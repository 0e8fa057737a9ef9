package screen

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// draw draws the pane.
func (p *logPane) draw(c canvas, area rect) {
	p.area = rect{}
	if area.empty() {
		return
	}
	title := rect{}
	if !p.bare {
		title, area = area.top(1)
	}
	p.area, p.drawn = area, true
	p.read()
	if !p.bare {
		p.drawTitle(c, title)
	}
	from, to := p.selection()
	for i, r := range p.rows {
		selected := p.focused && from <= r.item.First && r.item.First <= to // none is 0, as without a cursor
		r.item.draw(c, rect{area.x, area.y + i, area.w, 1}, r.row, p.now)
		p.mark(c, rect{area.x, area.y + i, area.w, 1}, r, selected)
		if r.row == 0 {
			p.drawGutter(c, area.x, area.y+i, r.item)
		}
		if selected {
			style := p.theme.selection(view.Accent)
			c.restyle(area.x, area.y+i, r.item.indent, func(tcell.Style) tcell.Style { return style })
		}
		c.linkPlaces(area.x+r.item.indent, area.y+i, area.w-r.item.indent, r.item.Lines[0].Resource, text.Plain(r.item.rows[r.row]))
		p.drawRegion(c, rect{area.x, area.y + i, area.w, 1}, r)
	}
	if len(p.rows) == 0 && area.h > 0 {
		c.text(area.x+1, area.y, area.w-2, p.emptiness(), p.theme.style(view.Dim))
	}
}

// drawGutter shows that an item was marked, or that its message is new since the last update.
func (p *logPane) drawGutter(c canvas, x, y int, it *wrapped) {
	switch {
	case p.marked[it.First]:
		c.text(x, y, 1, "◆", p.theme.style(view.Accent))
	case p.isNew(it.Lines[0], p.now):
		c.text(x, y, 1, "+", p.theme.style(view.Accent).Bold(true))
	}
}

// emptiness says why no line is shown.
func (p *logPane) emptiness() string {
	switch {
	case !p.terms.Empty() && p.list.Looked() < 1:
		return ""
	case !p.terms.Empty():
		return fmt.Sprintf("no line matches %q; Esc shows all", p.terms.Text)
	case p.level > 0:
		return "no " + levelWords[p.level] + "; L shows other levels"
	}
	return ""
}

var levelWords = []string{"all", "warnings", "errors", "with details"}

func (p *logPane) drawTitle(c canvas, area rect) {
	dim := c.theme.style(view.Dim)
	c.rule(area.x, area.y, area.w, dim)
	name := cmp.Or(p.subject.title, "all resources")
	nameStyle := p.theme.style(view.Plain)
	if p.focused {
		nameStyle = p.theme.selection(view.Accent)
	}
	end := c.text(area.x+1, area.y, area.w-2, " "+text.CutMiddle(name, 24)+" ", nameStyle)
	right := p.standing()
	start := area.x + area.w - right.Width() - 1
	if start > end+8 {
		c.spans(start, area.y, right.Width(), right)
	} else {
		start = area.x + area.w - 1
	}
	parts := p.titleParts()
	for room := start - end - 1; width(parts) > room; { // the least important part gives way
		least := slices.MinFunc(parts, func(a, b titlePart) int { return a.weight - b.weight })
		parts = slices.DeleteFunc(parts, func(t titlePart) bool { return t.weight == least.weight })
	}
	for _, part := range parts {
		end = c.spans(end, area.y, start-end, view.Cell{{Text: "─", Tone: view.Dim}})
		for i, span := range part.cell {
			from := end
			end = c.spans(end, area.y, start-end, part.cell[i:i+1])
			if i < len(part.verbs) && span.Text != "" {
				c.spot(from, area.y, end-from, part.verbs[i])
			}
		}
	}
}

// titlePart is a part of the title; of greater weight if it matters more. A click on its spans acts like the verbs.
type titlePart struct {
	cell   view.Cell
	weight int
	verbs  []string
}

func width(parts []titlePart) int {
	n := 0
	for _, p := range parts {
		n += p.cell.Width() + 1
	}
	return n
}

// titleParts are the parts of the title in their order.
func (p *logPane) titleParts() []titlePart {
	var tabs view.Cell
	for i, s := range []string{"1 all", "2 build", "3 runtime"} {
		if logSource(i) == p.source {
			tabs = append(tabs, view.Span{Text: " [" + s + "]", Tone: view.Accent})
		} else {
			tabs = append(tabs, view.Span{Text: "  " + s, Tone: view.Dim})
		}
	}
	parts := []titlePart{{append(tabs, view.Span{Text: " "}), 0, []string{"log-all", "log-build", "log-runtime"}}}
	add := func(weight int, s string, tone view.Tone, verb string) {
		parts = append(parts, titlePart{view.Cell{{Text: " " + s + " ", Tone: tone}}, weight, []string{verb}})
	}
	if p.level > 0 {
		add(3, "level: "+levelWords[p.level], view.Warn, "level")
	}
	if p.follow {
		add(1, "follow ●", view.Good, "follow")
	} else {
		n := p.unseen()
		add(2, fmt.Sprintf("paused, %s new %s", grouped(n), lines(n)), view.Warn, "follow")
	}
	if !p.terms.Empty() {
		add(5, "filter: "+text.Cut(p.terms.Text, 32), view.Warn, "filter-log")
	}
	if !p.found.Empty() {
		add(6, "find: "+text.Cut(p.found.Text, 24)+" "+p.findState(), view.Accent, "next")
	}
	switch {
	case p.anchor != 0:
		add(4, "selecting, c copies", view.Accent, "copy")
	case p.region != nil && !p.region.empty():
		add(4, "selecting", view.Accent, "")
	}
	return parts
}

// standing is the right end of the title: the number of lines, and the part of the log that was looked at.
func (p *logPane) standing() view.Cell {
	n := p.list.Len()
	cell := view.Cell{{Text: fmt.Sprintf(" %s %s ", grouped(n), lines(n)), Tone: view.Dim}}
	if looked := p.list.Looked(); looked < 1 {
		cell = append(view.Cell{{Text: fmt.Sprintf(" filtering %d %% ", int(looked*100)), Tone: view.Accent}}, cell...)
	}
	return cell
}

func lines(n int) string {
	if n == 1 {
		return "line"
	}
	return "lines"
}

// grouped formats a number with commas between the thousands.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// ago formats how long ago a line was written.
func ago(at, now time.Time) string { return view.Age(at, now) }
