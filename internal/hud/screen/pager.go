package screen

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// pager shows lines over the whole screen: help, the details of a resource.
type pager struct {
	*tview.Box
	theme theme
	title string
	// content returns the lines for a width.
	content func(width int) []view.Cell
	offset  int
	count   int // of rows, when it was drawn last
}

func newPager(t theme) *pager { return &pager{Box: tview.NewBox(), theme: t} }

// show opens the pager at its beginning.
func (p *pager) show(title string, content func(width int) []view.Cell) {
	p.title, p.content, p.offset = title, content, 0
}

// page returns how many rows of text fit.
func (p *pager) page() int {
	_, _, _, h := p.GetRect()
	return max(1, h-2)
}

func (p *pager) scroll(by int) { p.offset = max(0, min(p.offset+by, p.count-p.page())) }

// Draw implements tview.Primitive.
func (p *pager) Draw(screen tcell.Screen) {
	x, y, width, height := p.GetRect()
	if width <= 2 || height <= 2 || p.content == nil {
		return
	}
	c := canvas{screen, p.theme}
	dim := p.theme.style(view.Dim)
	c.rule(x, y, width, dim)
	c.spans(x+1, y, width-2, view.Cell{{Text: " " + p.title + " ", Tone: view.Strong}})
	back := " Esc back "
	c.text(x+width-text.Width(back)-1, y, text.Width(back), back, dim)
	var rows []view.Cell
	for _, line := range p.content(width - 2) {
		rows = append(rows, split(line, width-2)...)
	}
	p.count = len(rows)
	p.scroll(0)
	for i := 0; i < height-1 && p.offset+i < len(rows); i++ {
		c.spans(x+1, y+1+i, width-2, rows[p.offset+i])
	}
}

// split wraps a line into rows. Continuation rows are indented.
func split(line view.Cell, width int) []view.Cell {
	if line.Width() <= width {
		return []view.Cell{line}
	}
	var rows []view.Cell
	row, used := view.Cell{}, 0
	for _, s := range line {
		piece := ""
		for _, g := range text.Parse(s.Text) {
			if used+g.Width > width {
				rows = append(rows, append(row, view.Span{Text: piece, Tone: s.Tone}))
				row, used, piece = view.Cell{{Text: "      "}}, 6, ""
			}
			piece += g.Text
			used += g.Width
		}
		row = append(row, view.Span{Text: piece, Tone: s.Tone})
	}
	return append(rows, row)
}
