package screen

import (
	"strings"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// whyView answers why a resource is in its state, or how a change of a file affects it.
type whyView struct {
	ui   *ui
	name model.ManifestName
	file string // empty if the question is about the resource
	list lineList
}

var (
	_ pointed = (*whyView)(nil)
)

func (w *whyView) place() place { return inWhy }
func (w *whyView) covers() bool { return true }
func (w *whyView) mover() mover { return &w.list }

func (w *whyView) search() *textFinder              { return w.list.search() }
func (w *whyView) window() (first *int, height int) { return w.list.window() }
func (w *whyView) whole() []view.Cell               { return w.list.whole() }

func (w *whyView) point(g gesture) *verb { return w.list.point(w.ui, g) }

// openWhy answers why the resource is in its state; asked again, it asks for a file.
func (u *ui) openWhy() {
	if w, open := u.top().(*whyView); open {
		u.askWhyFile(w)
		return
	}
	u.push(&whyView{ui: u, name: u.target().Name})
}

func (u *ui) askWhyFile(w *whyView) {
	u.ask("what does a change of this file do: ", w.file, func(string) error { return nil }, func(s string, ok bool) {
		if ok {
			w.file = strings.TrimSpace(s)
			w.list.reset()
		}
	})
}

func (w *whyView) draw(c canvas, area rect) {
	title, rest := area.top(1)
	width := max(area.w-4, 1)
	var lines []view.Line
	what := "why: " + string(w.name)
	switch f := w.ui.frame; {
	case w.file != "" && f.WhyFile != nil:
		what = "a change of " + w.file
		lines = f.WhyFile(w.name, w.file)
	case f.Why != nil:
		lines = f.Why(w.name)
	}
	w.list.read(lines, "this resource no longer exists", width)
	c.rule(title.x, title.y, title.w, c.theme.style(view.Dim))
	back := " w asks about a file  Esc back "
	room := title.w - text.Width(back) - 3
	c.text(title.x+1, title.y, room, " "+text.CutMiddle(what, room-2)+" ", c.theme.selection(view.Accent))
	c.text(title.x+title.w-text.Width(back)-1, title.y, text.Width(back), back, c.theme.style(view.Dim))
	w.list.draw(c, rest)
	w.list.finds.drawState(c, title.x+title.w-text.Width(back)-2, title.y)
}
