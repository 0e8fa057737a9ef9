package screen

import (
	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// canvas draws text into lines of the terminal, never past their ends.
type canvas struct {
	tcell.Screen
	theme theme
}

// spans draws a cell from x on in at most width columns and returns the column after it.
func (c canvas) spans(x, y, width int, cell view.Cell) int {
	for _, s := range cell {
		end := c.text(x, y, width, s.Text, c.theme.style(s.Tone))
		width -= end - x
		x = end
	}
	return x
}

// text draws text, hone's own or a program's, from x on in at most width columns and returns the column after it.
func (c canvas) text(x, y, width int, s string, style tcell.Style) int {
	for _, g := range text.Parse(s) {
		if g.Width > width {
			break
		}
		c.grapheme(x, y, g, style)
		x += g.Width
		width -= g.Width
	}
	return x
}

func (c canvas) grapheme(x, y int, g text.Cell, style tcell.Style) {
	shown := c.theme.show(g.Text, g.Width)
	if shown == "??" {
		c.Put(x+1, y, "?", style)
		shown = "?"
	}
	c.Put(x, y, shown, style)
}

// rule draws a horizontal line from x on.
func (c canvas) rule(x, y, width int, style tcell.Style) {
	dash := c.theme.show("─", 1)
	for i := range width {
		c.Put(x+i, y, dash, style)
	}
}

// restyle changes the style of the text in a line.
func (c canvas) restyle(x, y, width int, change func(tcell.Style) tcell.Style) {
	for i := 0; i < width; {
		s, style, w := c.Get(x+i, y)
		c.Put(x+i, y, s, change(style))
		i += max(w, 1)
	}
}
