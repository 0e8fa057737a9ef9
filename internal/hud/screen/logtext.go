package screen

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

const (
	// shownLine is the maximum number of bytes of a line that are shown; longer lines are data, not text to read.
	shownLine = 8 << 10
	// keptCells is how many graphemes of wrapped lines are kept so that they need not be wrapped again.
	keptCells = 200_000
	// nameWidth and originWidth are the columns of resource and container.
	nameWidth   = 13
	originWidth = 9
)

// wrapped is a log line as it is drawn: a head in front of the first row, and rows of text.
type wrapped struct {
	seq    uint64
	head   []headPart
	indent int // of all rows
	rows   [][]text.Cell
	level  logstore.Level
}

type headPart struct {
	text  string
	style tcell.Style
}

// wrapper wraps lines to a width. It caches wrapped lines until the width or the kind of head changes.
type wrapper struct {
	theme theme
	width int
	names bool // every line has the name of its resource
	kept  map[uint64]*wrapped
	cells int // in kept
}

func (w *wrapper) configure(width int, names bool) {
	if w.width != width || w.names != names || w.kept == nil || w.cells > keptCells {
		w.width, w.names, w.kept, w.cells = width, names, map[uint64]*wrapped{}, 0
	}
}

func (w *wrapper) wrap(l logstore.Line) *wrapped {
	if out, ok := w.kept[l.Seq]; ok {
		return out
	}
	out := &wrapped{seq: l.Seq, level: l.Level, head: w.head(l)}
	for _, h := range out.head {
		out.indent += text.Width(h.text)
	}
	cells := text.Parse(shorten(l.Text))
	out.rows = text.Wrap(cells, w.width-out.indent)
	w.kept[l.Seq] = out
	w.cells += len(cells)
	return out
}

// head returns the text before a line: the time, if there is room, then the resource and the container if lines of several
// resources are shown, else the part of the resource that wrote the line.
func (w *wrapper) head(l logstore.Line) []headPart {
	dim := w.theme.style(view.Dim)
	var head []headPart
	if w.width >= 80 {
		head = append(head, headPart{" " + l.Time.Format(time.TimeOnly) + " ", dim})
	}
	if !w.names {
		return append(head, headPart{" " + text.PadRight(text.Cut(origin(l), originWidth), originWidth) + " ", dim})
	}
	name := text.PadLeft(text.Cut(string(l.Resource), nameWidth), nameWidth)
	head = append(head, headPart{name + " │ ", w.theme.named(string(l.Resource))})
	if l.Prefix != "" {
		head = append(head, headPart{text.Clean(l.Prefix), dim})
	}
	return head
}

// origin returns the part of a resource that wrote a line: the container, else the source.
func origin(l logstore.Line) string {
	if container := strings.Trim(strings.TrimSpace(l.Prefix), "[]"); container != "" {
		return text.Clean(container)
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

// draw draws one row of the line.
func (o *wrapped) draw(c canvas, x, y, width, row int) {
	at := x
	if row == 0 {
		for _, h := range o.head {
			at = c.text(at, y, x+width-at, h.text, h.style)
		}
	}
	at = x + o.indent
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
		if at+g.Width > x+width {
			break
		}
		style := base
		if g.Style != (text.Style{}) {
			style = c.theme.foreign(g.Style)
		}
		c.grapheme(at, y, g, style)
		at += g.Width
	}
}

// latest omits progress lines that a later line among them replaces.
func latest(lines []logstore.Line) []logstore.Line {
	type key struct{ span, id string }
	last := map[key]uint64{}
	for _, l := range lines {
		if l.ProgressID != "" {
			last[key{l.Span, l.ProgressID}] = l.Seq
		}
	}
	if len(last) == 0 {
		return lines
	}
	out := lines[:0:0]
	for _, l := range lines {
		if l.ProgressID == "" || last[key{l.Span, l.ProgressID}] == l.Seq {
			out = append(out, l)
		}
	}
	return out
}
