package screen

import (
	"context"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// revisionsView lists the revisions of the project.
type revisionsView struct {
	ui   *ui
	list lineList
}

var (
	_ pointed = (*revisionsView)(nil)
)

func (w *revisionsView) place() place { return inRevisions }
func (w *revisionsView) covers() bool { return true }
func (w *revisionsView) mover() mover { return &w.list }

func (w *revisionsView) search() *textFinder              { return w.list.search() }
func (w *revisionsView) window() (first *int, height int) { return w.list.window() }
func (w *revisionsView) whole() []view.Cell               { return w.list.whole() }

func (w *revisionsView) point(g gesture) *verb { return w.list.point(w.ui, g) }

func (u *ui) openRevisions() { u.push(&revisionsView{ui: u}) }

// noRevisions refuses to show an empty list.
func (u *ui) noRevisions() error {
	if len(u.frame.Revisions()) == 0 {
		return problem.New("no revision of the project is known", "the first objects that are applied make one")
	}
	return nil
}

// openRevision shows the differences of a revision to the one before, once they have been read.
func (u *ui) openRevision(of view.RevisionRef) {
	if u.options.Revision == nil {
		u.say("the ledger cannot be read from here")
		return
	}
	lines := []view.Cell{{{Text: "reading the ledger…", Tone: view.Dim}}}
	u.push(newReader(u, of.String()+", compared with the one before", func(int) []view.Cell { return lines }))
	u.job(func(ctx context.Context) func() {
		read, err := u.options.Revision(ctx, of)
		return func() {
			lines = nil
			for _, l := range read {
				lines = append(lines, l.Cell)
			}
			if err != nil {
				lines = []view.Cell{{{Text: oneLineOf(err), Tone: view.Bad}}}
			}
		}
	})
}

func (w *revisionsView) draw(c canvas, area rect) {
	title, rest := area.top(1)
	w.list.read(w.ui.frame.Revisions(), "no revision of the project is known", max(area.w-4, 1))
	c.rule(title.x, title.y, title.w, c.theme.style(view.Dim))
	back := " Enter compares  Esc back "
	c.text(title.x+1, title.y, title.w-2, " revisions ", c.theme.selection(view.Accent))
	c.text(title.x+title.w-text.Width(back)-1, title.y, text.Width(back), back, c.theme.style(view.Dim))
	w.list.draw(c, rest)
	w.list.finds.drawState(c, title.x+title.w-text.Width(back)-2, title.y)
}
