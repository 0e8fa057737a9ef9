package screen

import (
	"fmt"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// root is the only primitive that tview knows: it draws header, views and footer.
type root struct {
	*tview.Box
	ui *ui
}

// drawn is the size of the terminal at the last drawing.
type drawn struct{ width, height int }

func (d *drawn) tiny() bool { return d.width < minWidth || d.height < minHeight }

func (d *drawn) turns() bool { return d.height < turnsHeight }

func newRoot(u *ui) *root { return &root{Box: tview.NewBox(), ui: u} }

// HasFocus implements tview.Primitive: tview gives pasted text only to the primitive that has the focus.
func (r *root) HasFocus() bool { return true }

// PasteHandler implements tview.Primitive.
func (r *root) PasteHandler() func(string, func(tview.Primitive)) {
	return func(pasted string, _ func(tview.Primitive)) { r.ui.paste(pasted) }
}

// MouseHandler implements tview.Primitive: ui.mouse has handled the event.
func (r *root) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
		return true, nil
	}
}

// Draw implements tview.Primitive. A panic ends the screen instead of the program, so that the terminal is restored before
// anything is printed.
func (r *root) Draw(screen tcell.Screen) {
	defer r.ui.guard()
	if r.ui.ended() {
		return
	}
	u := r.ui
	x, y, width, height := r.GetRect()
	u.screen.width, u.screen.height = width, height
	u.settle()
	screen.HideCursor()
	u.spots = u.spots[:0]
	c := canvas{screen, u.theme, u.links, &u.spots}
	area := rect{x, y, width, height}
	header, area := area.top(r.headerHeight(height))
	r.drawHeader(c, header)
	var footer rect
	if !u.screen.tiny() || u.typing() {
		footer, area = area.bottom(1)
	}
	if strip := u.stripBelow(area); strip != nil {
		var row rect
		row, area = area.bottom(1)
		c.spot(row.x, row.y, c.spans(row.x, row.y, row.w, strip)-row.x, "next-error")
	}
	lowest := len(u.layers) - 1
	for lowest > 0 && !u.layers[lowest].covers() {
		lowest--
	}
	for _, l := range u.layers[lowest:] {
		l.draw(c, area)
	}
	if t, ok := u.top().(typist); ok && !footer.empty() {
		t.line(c, footer)
	} else {
		r.drawFooter(c, footer)
	}
	u.findPlaces()
	u.log.drew()
	if u.options.drew != nil {
		u.options.drew(u)
	}
}

// typing reports whether a line that the user types covers the footer.
func (u *ui) typing() bool {
	_, ok := u.top().(typist)
	return ok
}

func (r *root) headerHeight(height int) int {
	switch {
	case r.ui.screen.tiny():
		return 1
	case height < turnsHeight:
		return 1 + r.notices()
	}
	return 2 + r.notices()
}

// notices returns the number of shown lines of notices.
func (r *root) notices() int { return min(len(r.ui.frame.View.Notices), 2) }

func (r *root) drawHeader(c canvas, area rect) {
	if area.empty() {
		return
	}
	x, y, width := area.x, area.y, area.w
	if r.ui.screen.tiny() {
		c.text(x, y, width, fmt.Sprintf("hone needs %d×%d (%d×%d): log only", minWidth, minHeight, r.ui.screen.width, r.ui.screen.height), c.theme.style(view.Warn))
		return
	}
	r.drawTitle(c, x, y, width)
	for i, n := range r.ui.frame.View.Notices[:r.notices()] {
		more := view.Cell{{Text: "  ! reads it whole", Tone: view.Dim}}
		if (view.Cell{n.Span()}).Width() <= width-2 {
			more = nil
		}
		end := c.spans(x+1, y+1+i, width-2-more.Width(), n.Line(width-2-more.Width()))
		end = c.spans(end, y+1+i, more.Width(), more)
		c.spot(x+1, y+1+i, end-x-1, "notices")
	}
	if area.h > 1+r.notices() {
		c.rule(x, y+area.h-1, width, c.theme.style(view.Dim))
	}
}

// leastBox is the number of columns that the machine of a session has at least in the header.
const leastBox = 12

// drawTitle draws project, machine and cluster on the left and the counters on the right.
func (r *root) drawTitle(c canvas, x, y, width int) {
	h := r.ui.frame.View.Header
	right := counters(h.Counts, width >= 100)
	if h.Loop > 0 && width >= 100 {
		right = append(right, view.Span{Text: "   loop " + view.Duration(h.Loop), Tone: view.Dim})
	}
	right = append(right, view.Span{Text: " "})
	room := width - right.Width()
	left, company := view.Cell{{Text: " hone  ", Tone: view.Strong}, {Text: h.Project}}, r.company(width >= 100)
	if h.Project == "" {
		left = append(left, view.Span{Text: "starting…", Tone: view.Dim})
	}
	if h.Box != "" {
		left = append(left, view.Span{Text: " on ", Tone: view.Dim}, view.Span{Text: h.On(max(leastBox, room/3))})
	}
	if h.Target != "" {
		left = append(left, view.Span{Text: " @ ", Tone: view.Dim})
		left = append(left, h.Where(room-1-left.Width()-company.Width())...)
	}
	left = left.Fit(room - 1 - company.Width()) // a longer name, which hides nothing of the company
	named := left.Width()
	left = append(left, company...)
	c.spans(x, y, room-1, left.Fit(room-1))
	if named = min(named, room-1) - 1; r.ui.options.Web != nil {
		c.spot(x+1, y, named, "web")
		if c.links.host != "" { // else the address is one of another machine
			c.link(x+1, y, named, r.ui.options.Page)
		}
	}
	at := x + room
	for i, span := range right {
		from := at
		at = c.spans(at, y, right.Width(), right[i:i+1])
		if span.Tone == view.Bad {
			c.spot(from, y, at-from, "next-error")
		}
	}
}

// company says whether the screen is read-only, and how many other screens show the session.
func (r *root) company(words bool) view.Cell {
	var cell view.Cell
	o := r.ui.options
	if o.ReadOnly {
		cell = append(cell, view.Span{Text: "  read-only", Tone: view.Warn})
	}
	if o.Beside.Others == nil {
		return cell
	}
	others := o.Beside.Others()
	switch n := len(others); {
	case n == 0:
	case !words:
		cell = append(cell, view.Span{Text: fmt.Sprintf("  +%d", n), Tone: view.Dim})
	case n == 1 && others[0] != "":
		cell = append(cell, view.Span{Text: "  +1 screen at " + string(others[0]), Tone: view.Dim})
	case n == 1:
		cell = append(cell, view.Span{Text: "  +1 screen", Tone: view.Dim})
	default:
		cell = append(cell, view.Span{Text: fmt.Sprintf("  +%d screens", n), Tone: view.Dim})
	}
	return cell
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

func (r *root) drawFooter(c canvas, area rect) {
	if area.empty() {
		return
	}
	u := r.ui
	x, y, width := area.x, area.y, area.w
	switch {
	case u.stopping:
		c.text(x+1, y, width-2, "stopping…  Ctrl-C again leaves the screen at once", c.theme.style(view.Warn))
	case u.message != "":
		r.drawMessage(c, area)
	default:
		at := x + 1
		for _, h := range r.hints(width - 2) {
			from := at
			at = c.spans(at, y, x+width-1-at, h.cell)
			c.spot(from, y, at-from, h.verb)
		}
	}
}

// messageRows bounds the rows of a message; they cover the rows above the footer.
const messageRows = 4

// drawMessage draws a message whole, with its last row in the footer.
func (r *root) drawMessage(c canvas, area rect) {
	width := max(area.w-2, 1)
	rows := view.Line{Cell: view.Cell{{Text: text.Clean(r.ui.message), Tone: view.Warn}}}.Rows(width)
	if len(rows) > messageRows {
		rows = rows[:messageRows]
		rows[messageRows-1] = append(rows[messageRows-1].Fit(width-1), view.Span{Text: "…", Tone: view.Warn})
	}
	for i, row := range rows {
		y := area.y + 1 - len(rows) + i
		for x := range area.w {
			c.Put(area.x+x, y, " ", tcell.StyleDefault)
		}
		c.spans(area.x+1, y, width, row)
	}
}
