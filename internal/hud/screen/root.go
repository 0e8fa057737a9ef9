package screen

import (
	"fmt"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

const (
	// minWidth and minHeight are the size of the smallest terminal that shows the table.
	minWidth, minHeight = 60, 15
	// turnsHeight is the height below which table and log take turns.
	turnsHeight = 20
	// shortLog is the number of rows of a short log, including its title.
	shortLog = 9
)

// logSize is how much of the screen the log takes.
type logSize int

const (
	halfLog logSize = iota
	fullLog
	smallLog
	logSizes
)

// root is the whole screen: it lays out all parts and draws them.
type root struct {
	*tview.Flex
	ui *ui
	// header and footer are drawn by root itself.
	header, footer *tview.Box
}

func newRoot(u *ui) *root {
	r := &root{Flex: tview.NewFlex().SetDirection(tview.FlexRow), ui: u, header: tview.NewBox(), footer: tview.NewBox()}
	for _, item := range []tview.Primitive{blank{r.header}, u.table, u.log, u.pager, blank{r.footer}} {
		r.AddItem(item, 0, 0, false)
	}
	return r
}

// blank reserves space in the layout for the parts that root itself draws.
type blank struct{ *tview.Box }

// Draw implements tview.Primitive.
func (blank) Draw(tcell.Screen) {}

// Draw implements tview.Primitive. A panic ends the screen instead of the program, so that the terminal is restored before
// anything is printed.
func (r *root) Draw(screen tcell.Screen) {
	defer r.ui.guard()
	if r.ui.ended() {
		return
	}
	r.place()
	screen.HideCursor()
	r.Flex.Draw(screen)
	c := canvas{screen, r.ui.theme}
	r.drawHeader(c)
	r.drawFooter(c)
}

// place sets the height of every part.
func (r *root) place() {
	_, _, width, height := r.GetRect()
	var header, table, log, pager, footer int
	u := r.ui
	u.tiny = width < minWidth || height < minHeight
	u.turns = height < turnsHeight
	u.log.bare = u.tiny
	switch {
	case u.tiny:
		header, log = 1, height-1
	default:
		header, footer = 2+r.notices(), 1
		if height < turnsHeight {
			header--
		}
		table, log, pager = r.share(height - header - footer)
	}
	for item, size := range map[tview.Primitive]int{u.table: table, u.log: log, u.pager: pager} {
		r.ResizeItem(item, size, 0)
	}
	r.ResizeItem(r.GetItem(0), header, 0)
	r.ResizeItem(r.GetItem(r.GetItemCount()-1), footer, 0)
}

// share divides the rows between header and footer.
func (r *root) share(rows int) (table, log, pager int) {
	u := r.ui
	switch {
	case u.paging:
		return 0, 0, rows
	case u.turns && u.where() == inLog:
		return 0, rows, 0
	case u.turns:
		return rows, 0, 0
	case u.size == fullLog:
		return 0, rows, 0
	case u.size == smallLog:
		return rows - shortLog, shortLog, 0
	}
	table = min(u.table.height(), rows/2)
	return table, rows - table, 0
}

// notices returns how many lines of notices are shown.
func (r *root) notices() int { return min(len(r.ui.frame.View.Notices), 2) }

func (r *root) drawHeader(c canvas) {
	x, y, width, height := r.header.GetRect()
	if height <= 0 {
		return
	}
	if r.ui.tiny {
		_, _, w, h := r.GetRect()
		c.text(x, y, width, fmt.Sprintf("hone needs %d×%d (%d×%d): log only", minWidth, minHeight, w, h), c.theme.style(view.Warn))
		return
	}
	r.drawTitle(c, x, y, width)
	for i, n := range r.ui.frame.View.Notices[:r.notices()] {
		c.spans(x+1, y+1+i, width-2, n.Line(width-2))
	}
	if height > 1+r.notices() {
		c.rule(x, y+height-1, width, c.theme.style(view.Dim))
	}
}

// drawTitle draws project and cluster on the left and the counters on the right.
func (r *root) drawTitle(c canvas, x, y, width int) {
	h := r.ui.frame.View.Header
	left := view.Cell{{Text: " hone  ", Tone: view.Strong}, {Text: h.Project}}
	if h.Target != "" {
		left = append(left, view.Span{Text: " @ ", Tone: view.Dim}, view.Span{Text: h.Target})
	}
	if h.Project == "" {
		left = append(left, view.Span{Text: "starting…", Tone: view.Dim})
	}
	right := counters(h.Counts, width >= 100)
	if h.Loop > 0 && width >= 100 {
		right = append(right, view.Span{Text: "   loop " + view.Duration(h.Loop), Tone: view.Dim})
	}
	right = append(right, view.Span{Text: " "})
	room := width - right.Width()
	c.spans(x, y, room-1, left.Fit(room-1))
	c.spans(x+room, y, right.Width(), right)
}

func counters(n view.Counts, words bool) view.Cell {
	var cell view.Cell
	for _, p := range []struct {
		status view.Status
		n      int
		word   string
	}{{view.Well, n.Well, "ok"}, {view.Updating, n.Updating, "updating"}, {view.Waiting, n.Waiting, "waiting"}, {view.Unknown, n.Unknown, "unknown"}, {view.Failed, n.Failed, "failing"}} {
		if p.n == 0 && p.status != view.Well {
			continue
		}
		s := fmt.Sprintf(" %d", p.n)
		if words {
			s += " " + p.word
		}
		cell = append(cell, view.Span{Text: "  " + glyphs[p.status].Text + s, Tone: glyphs[p.status].Tone})
	}
	return cell
}

func (r *root) drawFooter(c canvas) {
	x, y, width, height := r.footer.GetRect()
	if height <= 0 {
		return
	}
	u := r.ui
	switch {
	case u.prompt != nil:
		end := c.text(x+1, y, width-2, u.prompt.label, c.theme.style(view.Accent))
		end = c.text(end, y, width-end-1, text.CutFront(u.prompt.text, width-end-2), tcell.StyleDefault)
		c.ShowCursor(end, y)
		return
	case u.stopping:
		c.text(x+1, y, width-2, "stopping…  Ctrl-C again leaves the screen at once", c.theme.style(view.Warn))
		return
	case u.message != "":
		c.text(x+1, y, width-2, text.Cut(u.message, width-2), c.theme.style(view.Warn))
		return
	}
	c.spans(x+1, y, width-1, r.hints(width-2))
}

// lasting reports whether the footer always shows a key's hint.
func lasting(b binding) bool { return b.hint == keysHint || b.hint == detachHint }

// hints returns the hints of the keys that work now, as many as fit. They always include the key that shows all keys, and the
// key that leaves an attached screen.
func (r *root) hints(width int) view.Cell {
	u := r.ui
	var hints, last view.Cell
	if u.table.query != "" {
		hints = append(hints, view.Span{Text: "showing " + text.Cut(u.table.query, 20) + ", Esc shows all   ", Tone: view.Warn})
	}
	hint := func(b binding) view.Cell {
		return view.Cell{{Text: b.label(), Tone: view.Strong}, {Text: " " + b.hint + "  ", Tone: view.Dim}}
	}
	for _, b := range u.keys {
		if lasting(b) {
			last = append(last, hint(b)...)
		}
	}
	for _, b := range u.keys {
		if b.hint == "" || lasting(b) || b.in&u.where() == 0 {
			continue
		}
		if h := hint(b); hints.Width()+h.Width()+last.Width() <= width {
			hints = append(hints, h...)
		}
	}
	return append(hints, last...)
}
