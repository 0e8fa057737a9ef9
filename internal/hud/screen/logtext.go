package screen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// shownLine is the maximum number of bytes of a line that are shown; longer lines are data, not text to read.
	shownLine = 8 << 10
	// keptCells bounds the graphemes of wrapped lines that are kept, so that they need not be wrapped again.
	keptCells = 200_000
	// leastName and mostName are the least and the most columns of the names of resources, and of containers.
	leastName, mostName     = 8, 24
	leastOrigin, mostOrigin = 9, 24
	// timeWidth is the least width at which the time is shown.
	timeWidth = 80
)

// wrapped is an item as it is drawn: a head in front of the first row, and rows of text.
type wrapped struct {
	loglist.Item
	head   []headPart
	at     time.Time // shown in front of the head
	time   timeMode
	indent int // of all rows
	rows   [][]text.Cell
	starts []int // the line of each row, and where its text begins in the line, in bytes
	from   []int
	plain  []string // the text of each line
	level  logstore.Level
	needs  []map[string]int // the widths of columns that its lines need
}

type headPart struct {
	text  string
	style tcell.Style
}

// wrapper wraps items to a width. It caches them until the width or the kind of head changes.
type wrapper struct {
	theme theme
	now   time.Time
	// colours are the hues of names, and nameWidth is the width of the longest name.
	colours   map[model.ManifestName]int
	nameWidth int
	resources []model.ManifestName

	width   int
	names   bool // every line has the name of its resource
	shape   shape
	kept    map[wrapKey]*wrapped
	cells   int // in kept
	origins int // the width of the column of origins
	columns fieldColumns
	needs   map[string]int // the widths that the line wrapped last needs; nil if it has no columns
	moved   bool           // origins or columns have changed since moved was reset
}

// wrapKey identifies an item as it was when it was wrapped.
type wrapKey struct {
	first, last uint64
	times       int
	open        bool
}

// apart returns a wrapper for another goroutine, which wraps as w does now.
func (w *wrapper) apart() *wrapper {
	out := *w
	out.resources, out.columns = slices.Clone(w.resources), w.columns.clone()
	out.kept, out.cells, out.needs = map[wrapKey]*wrapped{}, 0, nil
	return &out
}

func (w *wrapper) configure(width int, names bool, s shape) {
	columns := w.width != width || w.names != names
	if columns {
		w.origins = leastOrigin
		w.columns.reset()
	}
	other := columns || w.shape != s
	w.width, w.names, w.shape = width, names, s
	if other || w.kept == nil || w.cells > keptCells {
		w.kept, w.cells = map[wrapKey]*wrapped{}, 0
	}
}

// know sets the names of the resources, and resets everything that depends on them.
func (w *wrapper) know(rows []view.Row) {
	longest, names := 0, make([]string, len(rows))
	w.resources = w.resources[:0]
	for i, r := range rows {
		names[i] = string(r.Name)
		longest = max(longest, text.Width(names[i]))
		w.resources = append(w.resources, r.Name)
	}
	colours := make(map[model.ManifestName]int, len(rows))
	for i, hue := range view.Hues(names, hueCount, hueFamilies) {
		colours[rows[i].Name] = hue
	}
	if longest != w.nameWidth || !maps.Equal(colours, w.colours) {
		w.nameWidth, w.colours, w.kept = longest, colours, nil
	}
}

// wear changes the theme.
func (w *wrapper) wear(t theme) { w.theme, w.kept = t, nil }

// forget drops an item from the cache.
func (w *wrapper) forget(first uint64) {
	for k := range w.kept {
		if k.first == first {
			delete(w.kept, k)
		}
	}
}

func (w *wrapper) wrap(it loglist.Item, open bool) *wrapped {
	key := wrapKey{it.First, it.Last(), it.Times, open}
	if out, ok := w.kept[key]; ok {
		return out
	}
	head := it.Lines[0]
	out := &wrapped{Item: it, level: head.Level, at: it.Lines[len(it.Lines)-1].Time, head: w.head(head)}
	if w.width >= timeWidth && w.shape.time != timeNone {
		out.time = w.shape.time
		out.indent = timeColumns
	} else {
		out.time = timeNone
	}
	for _, h := range out.head {
		out.indent += text.Width(h.text)
	}
	for i, l := range it.Lines {
		w.needs = nil
		cells := w.fieldCells(l.Text)
		if w.needs != nil {
			out.needs = append(out.needs, w.needs)
		}
		if cells == nil {
			cells = text.Parse(shorten(l.Text))
		}
		out.plain = append(out.plain, text.Plain(cells))
		w.cells += len(cells)
		if i == len(it.Lines)-1 && it.Times > 1 {
			cells = append(cells, w.times(it)...)
		}
		rows, from := w.layout(cells, w.width-out.indent)
		out.add(i, from, rows)
	}
	if open {
		w.unfold(out)
	}
	w.kept[key] = out
	return out
}

// unfold adds the hidden parts of an opened item: its fields, and the beginning of its repeats.
func (w *wrapper) unfold(out *wrapped) {
	extra := unfolded(out.Lines[0].Text)
	if out.Times > 1 {
		extra = append(extra, fmt.Sprintf("  %s times, F shows each", grouped(out.Times)))
	}
	for _, s := range extra {
		cells := text.Parse(shorten(s))
		for i := range cells {
			cells[i].Style = text.Style{Dim: true}
		}
		out.plain = append(out.plain, text.Plain(cells))
		out.add(len(out.plain)-1, 0, text.Wrap(cells, w.width-out.indent))
	}
}

// timeColumns is the width of the time in front of a line.
const timeColumns = 10

// times returns the number of repeats of a line, as cells.
func (w *wrapper) times(it loglist.Item) []text.Cell {
	more := ""
	if it.AtLeast {
		more = "+"
	}
	cells := text.Parse(fmt.Sprintf(" ×%s%s", grouped(it.Times), more))
	for i := range cells {
		cells[i].Style = text.Style{Bold: true}
	}
	return cells
}

// layout wraps or cuts a line, and returns its rows and where the first one begins in the line, in bytes.
func (w *wrapper) layout(cells []text.Cell, width int) (rows [][]text.Cell, from int) {
	if !w.shape.cut {
		return text.Wrap(cells, width), 0
	}
	left := min(w.shape.left, len(cells))
	for _, c := range cells[:left] {
		from += len(c.Text)
	}
	rest, more := cells[left:], false
	used := 0
	for i, c := range rest {
		if used += c.Width; used > width {
			rest, more = rest[:max(0, i-1)], true
			break
		}
	}
	if more {
		rest = append(rest[:len(rest):len(rest)], text.Cell{Text: "…", Width: 1, Style: text.Style{Dim: true}})
	}
	return [][]text.Cell{rest}, from
}

func (o *wrapped) add(line, at int, rows [][]text.Cell) {
	for _, row := range rows {
		o.rows = append(o.rows, row)
		o.starts = append(o.starts, line)
		o.from = append(o.from, at)
		for _, c := range row {
			at += len(c.Text)
		}
	}
}

// head returns the text before a line: the resource if lines of several resources are shown, and the part of the resource
// that wrote the line. The sign between head and text shows the level.
func (w *wrapper) head(l logstore.Line) []headPart {
	dim := w.theme.style(view.Dim)
	sign, style := "│", dim
	switch l.Level {
	case logstore.LevelError:
		sign, style = "✖", w.theme.style(view.Bad)
	case logstore.LevelWarn:
		sign, style = "!", w.theme.style(view.Warn)
	case logstore.LevelInfo, logstore.LevelDebug:
	}
	if !w.names {
		from := origin(l)
		wide := min(max(text.Width(from), leastOrigin), mostOrigin, max(w.width/5, leastOrigin))
		if wide > w.origins { // the rows that are wrapped already are not aligned with it
			w.origins, w.kept, w.cells = wide, map[wrapKey]*wrapped{}, 0
			w.moved = true
		}
		return []headPart{{" " + text.PadRight(text.CutMiddle(from, w.origins), w.origins) + " ", dim}, {sign + " ", style}}
	}
	wide := min(max(w.nameWidth, leastName), mostName, max(w.width/5, leastName))
	head := []headPart{
		{" " + text.PadLeft(text.CutMiddle(string(l.Resource), wide), wide) + " ", w.named(l.Resource)},
		{sign + " ", style},
	}
	if l.Prefix != "" {
		head = append(head, headPart{text.Clean(l.Prefix), dim})
	}
	return head
}

// named returns the style of a resource's name.
func (w *wrapper) named(name model.ManifestName) tcell.Style {
	hue, ok := w.colours[name]
	if !ok {
		hue = text.Hash(string(name), hueCount)
	}
	return w.theme.hue(hue)
}

// origin returns the part of a resource that wrote a line: the pod and the container where there are several, else the
// container, else the source.
func origin(l logstore.Line) string {
	if mark := strings.Trim(strings.TrimSpace(l.Prefix), "[]"); mark != "" {
		return text.Clean(mark)
	}
	if l.Container != "" {
		return text.Clean(l.Container)
	}
	return string(l.Source)
}

// shorten cuts a line that is too long to read.
func shorten(s string) string {
	if len(s) <= shownLine {
		return s
	}
	end := shownLine
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + fmt.Sprintf("\x1b[0m … %d more bytes", len(s)-end)
}

// draw draws one row of the item.
func (o *wrapped) draw(c canvas, area rect, row int, now time.Time) {
	at := area.x
	if row == 0 {
		dim := c.theme.style(view.Dim)
		switch o.time {
		case timeClock:
			at = c.text(at, area.y, area.x+area.w-at, " "+o.at.Format(time.TimeOnly)+" ", dim)
		case timeAgo:
			at = c.text(at, area.y, area.x+area.w-at, text.PadLeft(ago(o.at, now), timeColumns-1)+" ", dim)
		case timeNone, timeModes:
		}
		for _, h := range o.head {
			at = c.text(at, area.y, area.x+area.w-at, h.text, h.style)
		}
	}
	at = area.x + o.indent
	base := tcell.StyleDefault
	switch o.level {
	case logstore.LevelError:
		base = c.theme.style(view.Bad).Bold(false)
	case logstore.LevelWarn:
		base = c.theme.style(view.Warn)
	case logstore.LevelDebug:
		base = c.theme.style(view.Dim)
	case logstore.LevelInfo:
	}
	for _, g := range o.rows[row] {
		if at+g.Width > area.x+area.w {
			break
		}
		style := base
		if g.Style != (text.Style{}) {
			style = c.theme.foreign(g.Style)
		}
		c.grapheme(at, area.y, g, style)
		at += g.Width
	}
}

// mark highlights the text that is searched for, and the matches of the filter.
func (p *logPane) mark(c canvas, area rect, r rowOf, selected bool) {
	highlight := func(terms logquery.Query, change func(tcell.Style) tcell.Style) {
		if terms.Empty() {
			return
		}
		line, from := r.item.starts[r.row], r.item.from[r.row]
		for _, part := range terms.Marks(r.item.plain[line]) {
			at, start := area.x+r.item.indent, from
			for _, g := range r.item.rows[r.row] {
				if start < part[1] && start+len(g.Text) > part[0] && at+g.Width <= area.x+area.w {
					c.restyle(at, area.y, g.Width, change)
				}
				start += len(g.Text)
				at += g.Width
			}
		}
	}
	if selected {
		c.restyle(area.x+r.item.indent, area.y, area.w-r.item.indent, func(s tcell.Style) tcell.Style { return s.Bold(true) })
	}
	for _, rule := range p.rules {
		highlight(rule, func(s tcell.Style) tcell.Style {
			fg, _, _ := p.theme.style(view.Accent).Decompose()
			return s.Foreground(fg).Bold(true)
		})
	}
	highlight(p.terms, func(s tcell.Style) tcell.Style { return s.Underline(true) })
	highlight(p.found, func(s tcell.Style) tcell.Style { return s.Reverse(true) })
}
