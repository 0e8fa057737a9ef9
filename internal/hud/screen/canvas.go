package screen

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// canvas draws text into lines of the terminal, never past their ends.
type canvas struct {
	tcell.Screen
	theme theme
	links *links    // nil for none
	spots *hotspots // nil for none
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

// column draws a line downwards.
func (c canvas) column(x, y, height int, style tcell.Style) {
	bar := c.theme.show("│", 1)
	for i := range height {
		c.Put(x, y+i, bar, style)
	}
}

// drawer clears the lowest rows of an area for a list of rows with a title, at most two thirds of it, and returns the
// place of the list.
func (c canvas) drawer(area rect, rows int, title, right string) rect {
	_, area = area.top(area.h - min(max(rows, 1)+1, max(area.h*2/3, 2)))
	if area.empty() {
		return rect{}
	}
	for y := range area.h {
		for x := range area.w {
			c.Put(area.x+x, area.y+y, " ", tcell.StyleDefault)
		}
	}
	head, list := area.top(1)
	dim := c.theme.style(view.Dim)
	c.rule(head.x, head.y, head.w, dim)
	c.spans(head.x+1, head.y, head.w-2, view.Cell{{Text: " " + title + " ", Tone: view.Strong}})
	if right != "" {
		right = " " + right + " "
		c.text(head.x+head.w-text.Width(right)-1, head.y, text.Width(right), right, dim)
	}
	return list
}

// input draws an input in one line, with its label.
func (c canvas) input(area rect, label string, field *tview.InputField) {
	end := area.x
	if label != "" {
		end = c.text(area.x+1, area.y, area.w-2, label, c.theme.style(view.Accent))
	}
	field.SetFieldStyle(tcell.StyleDefault).SetPlaceholderStyle(c.theme.style(view.Dim)).SetBackgroundColor(tcell.ColorDefault)
	field.SetRect(end, area.y, max(area.x+area.w-end-1, 1), 1)
	field.Draw(c.Screen)
}

// restyle changes the style of the text in a line.
func (c canvas) restyle(x, y, width int, change func(tcell.Style) tcell.Style) {
	for i := 0; i < width; {
		s, style, w := c.Get(x+i, y)
		c.Put(x+i, y, s, change(style))
		i += max(w, 1)
	}
}
