package screen

import (
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// reader shows lines over the whole screen: help, notices.
type reader struct {
	ui    *ui
	title string
	// content returns the lines for a width.
	content func(width int) []view.Cell
	offset  int
	count   int // of rows, when it was drawn last
	height  int
	width   int // of the text
	textFinder
}

var _ mover = (*reader)(nil)

func newReader(u *ui, title string, content func(width int) []view.Cell) *reader {
	return &reader{ui: u, title: title, content: content}
}

func (r *reader) place() place { return inText }
func (r *reader) covers() bool { return true }
func (r *reader) mover() mover { return r }

func (r *reader) search() *textFinder              { return &r.textFinder }
func (r *reader) window() (first *int, height int) { return &r.offset, r.height }
func (r *reader) whole() []view.Cell               { return r.content(r.width) }

func (r *reader) page(pages int) { r.move(pages * max(1, r.height-1)) }

func (r *reader) move(by int) { r.offset = max(0, min(r.offset+by, r.count-r.height)) }

func (r *reader) edge(last bool) {
	r.offset = 0
	if last {
		r.move(r.count)
	}
}

func (r *reader) draw(c canvas, area rect) {
	if area.w <= 2 || area.h <= 1 {
		return
	}
	title, area := area.top(1)
	dim := c.theme.style(view.Dim)
	c.rule(title.x, title.y, title.w, dim)
	c.spans(title.x+1, title.y, title.w-2, view.Cell{{Text: " " + r.title + " ", Tone: view.Strong}})
	back := " Esc back "
	c.text(title.x+title.w-text.Width(back)-1, title.y, text.Width(back), back, dim)
	var rows []view.Cell
	for _, line := range r.content(area.w - 2) {
		rows = append(rows, view.Line{Cell: line, Indent: hanging(line)}.Rows(area.w-2)...)
	}
	r.count, r.height, r.width = len(rows), area.h, area.w-2
	r.look(rows)
	r.arrive(&r.offset, r.height)
	r.move(0)
	r.drawState(c, title.x+title.w-text.Width(back)-2, title.y)
	for i := 0; i < area.h && r.offset+i < len(rows); i++ {
		c.spans(area.x+1, area.y+i, area.w-2, rows[r.offset+i])
		r.mark(c, area.x+1, area.y+i, area.w-2, rows[r.offset+i].String())
	}
}

// hanging returns the indentation of continuation rows: two more than the line's.
func hanging(line view.Cell) int {
	n := 0
	for _, s := range line {
		for _, c := range s.Text {
			if c != ' ' {
				return n + 2
			}
			n++
		}
	}
	return 2
}
