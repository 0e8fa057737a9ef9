package screen

import (
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// pendingView lists the changes that no update has taken in yet.
type pendingView struct {
	ui   *ui
	list lineList
}

var (
	_ pointed = (*pendingView)(nil)
)

func (w *pendingView) place() place { return inPending }
func (w *pendingView) covers() bool { return true }
func (w *pendingView) mover() mover { return &w.list }

func (w *pendingView) search() *textFinder              { return w.list.search() }
func (w *pendingView) window() (first *int, height int) { return w.list.window() }
func (w *pendingView) whole() []view.Cell               { return w.list.whole() }

func (w *pendingView) point(g gesture) *verb { return w.list.point(w.ui, g) }

func (u *ui) openPending() { u.push(&pendingView{ui: u}) }

func (w *pendingView) draw(c canvas, area rect) {
	title, rest := area.top(1)
	w.list.read(w.ui.frame.Pending(), "no change waits: everything that was saved is in an update", max(area.w-4, 1))
	c.rule(title.x, title.y, title.w, c.theme.style(view.Dim))
	back := " Esc back "
	c.text(title.x+1, title.y, title.w-2, " pending changes ", c.theme.selection(view.Accent))
	c.text(title.x+title.w-text.Width(back)-1, title.y, text.Width(back), back, c.theme.style(view.Dim))
	w.list.draw(c, rest)
	w.list.finds.drawState(c, title.x+title.w-text.Width(back)-2, title.y)
}
