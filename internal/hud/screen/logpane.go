package screen

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// logPane shows the newest lines of a log, or older ones. It reads no more lines than it shows.
type logPane struct {
	*tview.Box
	theme theme
	logs  Logs
	wrapper

	resource model.ManifestName // whose lines are shown; empty shows all
	source   logSource
	found    string // the text marked in the lines, in lower case
	marked   uint64 // the line in which it was found last

	follow bool
	top    place // the first row that is shown, unless following
	paused uint64
	rows   []rowOf // what is shown
	// bare leaves out the title, for tiny terminals.
	bare    bool
	focused bool
}

// place is a row of a line.
type place struct {
	seq uint64
	row int
}

type rowOf struct {
	line *wrapped
	row  int
}

// logSource is which part of the log is shown.
type logSource int

const (
	allSources logSource = iota
	buildLog
	runtimeLog
)

func newLogPane(t theme, logs Logs) *logPane {
	return &logPane{Box: tview.NewBox(), theme: t, wrapper: wrapper{theme: t}, logs: logs, follow: true}
}

// filter chooses the lines that the pane shows.
func (p *logPane) filter() logstore.Filter {
	f := logstore.Filter{MinLevel: logstore.LevelInfo}
	if p.resource != "" {
		f.Resources = []model.ManifestName{p.resource}
	}
	switch p.source {
	case buildLog:
		f.Sources = []logstore.Source{logstore.SourceBuild}
	case runtimeLog:
		f.Sources = []logstore.Source{logstore.SourceRuntime}
	case allSources:
	}
	return f
}

// choose shows another part of the log, from its end.
func (p *logPane) choose(resource model.ManifestName, source logSource) {
	if p.resource != resource || p.source != source {
		p.resource, p.source, p.follow = resource, source, true
	}
}

// height returns how many rows of text fit.
func (p *logPane) height() int {
	_, _, _, h := p.GetRect()
	if !p.bare {
		h--
	}
	return max(h, 0)
}

// total returns the number of all lines so far, including dropped ones.
func (p *logPane) total() uint64 {
	f := p.filter()
	return uint64(p.logs.Count(f)) + p.logs.Dropped(f)
}

// flatten wraps lines and returns all their rows.
func (p *logPane) flatten(lines []logstore.Line) []rowOf {
	var rows []rowOf
	for _, l := range latest(lines) {
		w := p.wrap(l)
		for i := range w.rows {
			rows = append(rows, rowOf{w, i})
		}
	}
	return rows
}

// read updates the shown lines.
func (p *logPane) read() {
	_, _, width, _ := p.GetRect()
	height := p.height()
	if width <= 0 || height <= 0 {
		p.rows = nil
		return
	}
	p.configure(width, p.resource == "")
	if !p.follow {
		var end bool
		p.rows, end = p.after(p.top, height)
		p.follow = end && len(p.rows) < height
	}
	if p.follow {
		p.rows = p.tail(height)
	}
}

// tail returns the last n rows.
func (p *logPane) tail(n int) []rowOf {
	for want := n; ; want *= 2 {
		lines := p.logs.Tail(p.filter(), want)
		rows := p.flatten(lines)
		if len(rows) >= n {
			return rows[len(rows)-n:]
		}
		if len(lines) < want || want > 16*n {
			return rows
		}
	}
}

// after returns up to n rows from a place on, and whether the log ends with the last of them.
func (p *logPane) after(from place, n int) (rows []rowOf, end bool) {
	for want := n + 1; ; want *= 2 {
		lines := p.logs.ReadAfter(p.filter(), from.seq-1, want)
		end = len(lines) < want
		rows = p.flatten(lines)
		for len(rows) > 0 && rows[0].line.seq == from.seq && rows[0].row < from.row {
			rows = rows[1:]
		}
		if len(rows) > n {
			return rows[:n], false
		}
		if end || want > 16*n {
			return rows, end
		}
	}
}

// before returns up to n rows directly before a place.
func (p *logPane) before(to place, n int) []rowOf {
	rows := p.flatten(p.logs.ReadBefore(p.filter(), to.seq+1, n+1))
	for len(rows) > 0 {
		if last := rows[len(rows)-1]; last.line.seq < to.seq || last.line.seq == to.seq && last.row < to.row {
			break
		}
		rows = rows[:len(rows)-1]
	}
	return rows[max(0, len(rows)-n):]
}

// scroll scrolls by the given number of rows. Scrolling up pauses following; reaching the end resumes it.
func (p *logPane) scroll(by int) {
	p.read()
	if len(p.rows) == 0 {
		return
	}
	now := place{p.rows[0].line.seq, p.rows[0].row}
	switch {
	case by < 0:
		if earlier := p.before(now, -by); len(earlier) > 0 {
			p.pause(place{earlier[0].line.seq, earlier[0].row})
		}
	case !p.follow:
		later, end := p.after(now, p.height()+by)
		spare := max(0, len(later)-p.height())
		p.follow = end && spare <= by
		if spare > 0 {
			p.top = place{later[min(by, spare)].line.seq, later[min(by, spare)].row}
		}
	}
	p.read()
}

// pause stops following and shows the rows from a place on.
func (p *logPane) pause(top place) {
	if p.follow {
		p.paused = p.total()
	}
	p.follow, p.top = false, top
}

// begin shows the oldest lines.
func (p *logPane) begin() {
	if first := p.logs.ReadAfter(p.filter(), 0, 1); len(first) > 0 {
		p.pause(place{first[0].Seq, 0})
	}
	p.read()
}

// reveal shows a line in the upper part of the pane.
func (p *logPane) reveal(seq uint64) {
	top := place{seq, 0}
	if earlier := p.before(top, p.height()/3); len(earlier) > 0 {
		top = place{earlier[0].line.seq, earlier[0].row}
	}
	p.pause(top)
	p.read()
}

// end follows the newest lines.
func (p *logPane) end() {
	p.follow = true
	p.read()
}

// unseen returns how many lines have arrived since following was paused.
func (p *logPane) unseen() uint64 {
	if total := p.total(); !p.follow && total > p.paused {
		return total - p.paused
	}
	return 0
}

// Draw implements tview.Primitive.
func (p *logPane) Draw(screen tcell.Screen) {
	x, y, width, height := p.GetRect()
	if width <= 0 || height <= 0 {
		return
	}
	p.read()
	c := canvas{screen, p.theme}
	if !p.bare {
		p.drawTitle(c, x, y, width)
		y++
	}
	for i, r := range p.rows {
		r.line.draw(c, x, y+i, width, r.row)
		p.mark(c, x, y+i, width, r)
	}
}

// mark highlights the search text.
func (p *logPane) mark(c canvas, x, y, width int, r rowOf) {
	if p.found == "" {
		return
	}
	plain := strings.ToLower(text.Plain(r.line.rows[r.row]))
	for from := 0; ; {
		i := strings.Index(plain[from:], p.found)
		if i < 0 {
			return
		}
		at := r.line.indent + text.Width(plain[:from+i])
		c.restyle(x+at, y, min(text.Width(p.found), width-at), func(s tcell.Style) tcell.Style { return s.Reverse(true) })
		from += i + len(p.found)
	}
}

func (p *logPane) drawTitle(c canvas, x, y, width int) {
	dim := c.theme.style(view.Dim)
	c.rule(x, y, width, dim)
	name := string(p.resource)
	if name == "" {
		name = "all resources"
	}
	strong := view.Strong
	if !p.focused {
		strong = view.Plain
	}
	title := view.Cell{{Text: " " + text.CutMiddle(name, 24) + " ", Tone: strong}, {Text: "─", Tone: view.Dim}}
	for i, s := range []string{"1 all", "2 build", "3 runtime"} {
		if logSource(i) == p.source {
			title = append(title, view.Span{Text: " [" + s + "]", Tone: view.Accent})
		} else {
			title = append(title, view.Span{Text: "  " + s, Tone: view.Dim})
		}
	}
	title = append(title, view.Span{Text: " ", Tone: view.Dim}, view.Span{Text: "─", Tone: view.Dim})
	if n := p.unseen(); !p.follow {
		title = append(title, view.Span{Text: fmt.Sprintf(" paused, %s new %s ", grouped(n), lines(n)), Tone: view.Warn})
	} else {
		title = append(title, view.Span{Text: " follow ● ", Tone: view.Good})
	}
	if p.found != "" {
		title = append(title, view.Span{Text: "─", Tone: view.Dim}, view.Span{Text: " find: " + text.Cut(p.found, 20) + " ", Tone: view.Accent})
	}
	end := c.spans(x+1, y, width-2, title)
	n := uint64(p.logs.Count(p.filter()))
	count := fmt.Sprintf(" %s %s ", grouped(n), lines(n))
	if start := x + width - text.Width(count) - 1; start > end {
		c.text(start, y, text.Width(count), count, dim)
	}
}

func lines(n uint64) string {
	if n == 1 {
		return "line"
	}
	return "lines"
}

// grouped formats a number with commas between the thousands.
func grouped(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
