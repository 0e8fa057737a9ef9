package view

import (
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
)

// Tone is the meaning of a piece of text, for colouring it. Colour supports the words and glyphs; it never carries
// information of its own.
type Tone uint8

// The tones.
const (
	Plain Tone = iota
	Good
	Bad
	Warn
	Accent
	Dim
	Strong
)

// Span is a piece of text in one tone.
type Span struct {
	Text string
	Tone Tone
}

// Cell is the content of one cell of a table, or of a line.
type Cell []Span

// String returns the text without tones.
func (c Cell) String() string {
	var b strings.Builder
	for _, s := range c {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Width returns the number of columns that the cell takes.
func (c Cell) Width() int {
	n := 0
	for _, s := range c {
		n += text.Width(s.Text)
	}
	return n
}

// Fit returns the cell in at most width columns, cut at its end.
func (c Cell) Fit(width int) Cell {
	if c.Width() <= width {
		return c
	}
	out := make(Cell, 0, len(c))
	for i, s := range c {
		w := text.Width(s.Text)
		if w < width || w == width && i == len(c)-1 {
			out = append(out, s)
			width -= w
			continue
		}
		return append(out, Span{text.Cut(s.Text+" ", width), s.Tone})
	}
	return out
}

// plain returns a cell of one span.
func plain(s string) Cell { return Cell{{Text: s}} }

// none is shown for an empty value.
var none = Cell{{Text: "–", Tone: Dim}}

// firstLine returns the first line of foreign text, cleaned for display.
func firstLine(s string) string { return text.Clean(words.FirstLine(s)) }
