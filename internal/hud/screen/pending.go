package screen

import (
	"context"
	"slices"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/store"
)

// pendingView lists the changes that no update has taken in yet, and the effect of the updates that wait.
type pendingView struct {
	ui   *ui
	list lineList

	// plan is the newest plan, and err why there is none. known is set if one of them belongs to the present evaluation of the
	// Tiltfile, whose number is runs. busy is set while a plan is being made.
	plan        view.Plan
	err         error
	known, busy bool
	runs, ended int
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

func (u *ui) openPending() {
	w := &pendingView{ui: u}
	u.push(w)
	w.follow()
}

// follow makes a plan if there is none for the present Tiltfile, or for the cluster after the last updates.
func (w *pendingView) follow() {
	u := w.ui
	if u.options.Plan == nil || w.busy {
		return
	}
	now := u.frame.Session()
	settled := w.ended == now.Ended || u.frame.View.Header.Counts.Updating > 0
	if w.known && w.runs == now.Runs && settled {
		return
	}
	w.known = w.known && w.runs == now.Runs
	w.busy = u.jobs.start(u, func(ctx context.Context) func() { // or with the next frame, while too much else runs
		plan, err := u.options.Plan(ctx)
		return func() {
			w.plan, w.err, w.known, w.busy = plan, err, true, false
			if err == nil {
				w.runs = plan.Runs
			}
		}
	})
	if w.busy {
		w.runs, w.ended = now.Runs, now.Ended
	}
}

// lines returns the lines of the page.
func (w *pendingView) lines() []view.Line {
	out := w.ui.frame.Pending()
	if w.ui.options.Plan == nil {
		return out
	}
	if len(out) == 0 {
		out = append(out, view.Line{Cell: view.Cell{{Text: nothingPends, Tone: view.Dim}}})
	}
	title := view.Line{Cell: view.Cell{{Text: "what these updates would do", Tone: view.Strong}}}
	out = append(slices.Clone(out), view.Line{}, title)
	switch {
	case !w.known:
		return append(out, view.Line{Cell: view.Cell{{Text: "asking…", Tone: view.Dim}}})
	case w.err != nil:
		return append(out, view.Line{Cell: view.Cell{{Text: oneLineOf(w.err), Tone: view.Bad}}, Indent: 2})
	}
	out = append(out, w.plan.Lines...)
	return append(out, view.Line{Cell: view.Cell{{Text: w.plan.Summary, Tone: view.Strong}}})
}

// confirmPlan confirms the updates that wait for the user.
func (u *ui) confirmPlan() {
	w, ok := u.top().(*pendingView)
	if !ok {
		return
	}
	runs := w.runs
	u.request("confirmed: what was shown will be done", func(v store.View) (store.Action, error) { return intent.Confirm(v, runs) })
}

// noPlan refuses to confirm changes that have not been shown.
func (u *ui) noPlan() error {
	w, ok := u.top().(*pendingView)
	switch {
	case !ok:
		return problem.New("no plan is shown", u.keyOf("pending", "shows it"))
	case u.options.Plan != nil && (!w.known || w.busy):
		return problem.New("the plan is being made", "wait for it")
	case w.err != nil:
		return problem.New("there is no plan to confirm", "see why, or update resources one by one (t)")
	}
	return u.try(func(v store.View) (store.Action, error) { return intent.Confirm(v, w.runs) })
}

const nothingPends = "no change waits: everything that was saved is in an update"

func (w *pendingView) draw(c canvas, area rect) {
	title, rest := area.top(1)
	w.list.read(w.lines(), nothingPends, max(area.w-4, 1))
	c.rule(title.x, title.y, title.w, c.theme.style(view.Dim))
	back := " Esc back "
	c.text(title.x+1, title.y, title.w-2, " pending changes ", c.theme.selection(view.Accent))
	c.text(title.x+title.w-text.Width(back)-1, title.y, text.Width(back), back, c.theme.style(view.Dim))
	w.list.draw(c, rest)
	w.list.finds.drawState(c, title.x+title.w-text.Width(back)-2, title.y)
}
