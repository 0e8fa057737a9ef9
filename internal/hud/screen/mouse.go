package screen

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/hud/view"
)

// wheelRows is the number of rows that the wheel scrolls.
const wheelRows = 3

// gesture is something that the user does with the mouse.
type gesture struct {
	kind gestureKind
	x, y int
	// block is set while Alt or Ctrl is held.
	block bool
}

type gestureKind uint8

const (
	press gestureKind = iota
	click
	doubleClick
	drag
	dropped
	wheelUp
	wheelDown
)

// mouse translates the mouse events of tview: one event may be several actions.
func (u *ui) mouse(event *tcell.EventMouse, action tview.MouseAction) (*tcell.EventMouse, tview.MouseAction) {
	defer u.guard()
	u.presence.act(u.options.Now())
	if event.Modifiers()&tcell.ModShift != 0 {
		u.pressed, u.pull = false, nil
		return event, action // the terminal's own selection
	}
	x, y := event.Position()
	g := gesture{x: x, y: y, block: event.Modifiers()&(tcell.ModAlt|tcell.ModCtrl) != 0}
	switch action {
	case tview.MouseLeftDown:
		u.pressed = true
		g.kind = press
	case tview.MouseMove:
		if !u.pressed {
			return event, action
		}
		g.kind = drag
	case tview.MouseLeftUp:
		u.pressed = false
		g.kind = dropped
	case tview.MouseLeftClick:
		g.kind = click
	case tview.MouseLeftDoubleClick:
		g.kind = doubleClick
	case tview.MouseScrollUp:
		g.kind = wheelUp
	case tview.MouseScrollDown:
		g.kind = wheelDown
	default:
		return event, action
	}
	if g.kind != drag {
		u.pull = nil
	}
	if v := u.hotspot(x, y); v != nil {
		switch {
		case g.kind == click || g.kind == doubleClick:
			u.dispatch(v)
			return event, action
		case u.top() != u.main: // there, the spot may be the border, which can be dragged
			return event, action
		}
	}
	if l, ok := u.top().(pointed); ok {
		if v := l.point(g); v != nil {
			u.dispatch(v)
		}
	}
	return event, action
}

// point implements pointed: in the table a click selects, a double click opens, and a click on a port opens it; the title of
// the log can be dragged; in the log a click puts the cursor, and a drag selects text and copies it: lines if it begins in
// front of the text, a block if Alt or Ctrl is held.
func (m *mainView) point(g gesture) *verb {
	u, wheel := m.ui, map[gestureKind]int{wheelUp: -wheelRows, wheelDown: wheelRows}
	if by, ok := wheel[g.kind]; ok {
		switch {
		case m.table.area.has(g.x, g.y):
			return &verb{name: "scroll-table", do: func(*ui) { m.table.scrollBy(by) }}
		case m.log.area.has(g.x, g.y):
			return &verb{name: "scroll-log", do: func(*ui) { m.log.scroll(by) }}
		}
		return nil
	}
	if g.kind == press {
		m.pressed = m.pane(g.x, g.y)
		if title, ok := m.table.titleAt(g.x, g.y); ok {
			return &verb{name: "sort-by", do: func(*ui) { u.sortBy(title) }}
		}
	}
	switch m.pressed {
	case onBorder:
		switch g.kind {
		case drag:
			return &verb{name: "resize", do: func(*ui) { m.dragBorder(g.x, g.y) }}
		case click:
			return &verb{name: "focus-log", do: func(*ui) { m.goTo(true) }}
		case press, doubleClick, dropped, wheelUp, wheelDown:
		}
	case onTable:
		if i := m.table.at(g.x, g.y); i >= 0 {
			return m.pointRow(g, i)
		}
	case onLog:
		return m.pointLog(g)
	case nowhere:
	}
	return nil
}

// pointRow returns the effect of a gesture on a line of the table.
func (m *mainView) pointRow(g gesture, i int) *verb {
	switch g.kind {
	case press:
		return &verb{name: "select-row", do: func(*ui) { m.goTo(false); m.table.choose(i) }}
	case doubleClick:
		return m.ui.verb("details")
	case click:
		if m.table.endpoint(i, g.x) != "" {
			return &verb{name: "open-port", do: func(*ui) { m.ui.open(m.table.endpoint(i, g.x)) }}
		}
		if onMark := g.x < m.table.area.x+4; onMark && m.table.lines[i].heading() {
			return m.ui.verb("details")
		}
	case drag, dropped, wheelUp, wheelDown:
	}
	return nil
}

// titleAt returns the column whose title is at a place of the terminal.
func (t *table) titleAt(x, y int) (kind view.Kind, ok bool) {
	if t.area.empty() {
		return kind, false
	}
	for _, title := range t.titles {
		if title.has(x, y) {
			return title.kind, true
		}
	}
	return kind, false
}

// sortBy orders the resources by a column, or by group if they already have the order of that column.
func (u *ui) sortBy(kind view.Kind) {
	order := view.AlertsFirst
	switch kind {
	case view.ColumnName:
		order = view.ByName
	case view.ColumnChanged:
		order = view.ByChange
	default:
	}
	if u.table.order == order {
		order = view.ByGroup
	}
	u.table.order = order
	u.table.arrange()
	u.say("resources " + order.String())
}

func (m *mainView) pointLog(g gesture) *verb {
	p := m.log
	switch g.kind {
	case press:
		return &verb{name: "select-line", do: func(*ui) {
			m.goTo(true)
			p.anchor, p.region = 0, nil
			if at, ok := p.textAt(g.x, g.y); ok {
				p.region = &region{from: at, to: at}
			}
			p.place(p.at(g.x, g.y))
		}}
	case drag:
		return &verb{name: "select-text", do: func(*ui) { m.dragLog(g) }}
	case dropped:
		switch {
		case !p.region.empty():
			return &verb{name: "copy-region", do: (*ui).copyRegion}
		case p.anchor != 0 && p.anchor != p.cursor:
			return m.ui.verb("copy")
		}
		return &verb{name: "select-line", do: func(*ui) { p.anchor, p.region = 0, nil }}
	case doubleClick:
		return m.ui.verb("open-line")
	case click, wheelUp, wheelDown:
	}
	return nil
}

// dragLog extends the selection to the position of the mouse. Past the edges of the pane it scrolls, for as long as the button is
// held there: terminals report the mouse only when it moves.
func (m *mainView) dragLog(g gesture) {
	m.log.extend(g)
	if m.log.beyond(g.y) != 0 {
		m.ui.pull = &g
		m.ui.askPull()
		return
	}
	m.ui.pull = nil
}

// pullOn scrolls on while a drag is held beyond the edge of the log: faster if it is farther away.
func (u *ui) pullOn() {
	p := u.log
	if u.pull == nil || len(p.rows) == 0 {
		return
	}
	g := *u.pull
	before := p.rows[0].spot()
	p.scroll(p.beyond(g.y))
	p.extend(g)
	if len(p.rows) > 0 && p.rows[0].spot() != before {
		u.askPull()
	} else {
		u.pull = nil // the end of the log; the next move of the mouse continues
	}
}

func (u *ui) askPull() {
	select {
	case u.pulled <- struct{}{}:
	default:
	}
}

// beyond returns the number of rows by which a place lies above the pane, as a negative number, or below it; zero in it.
func (p *logPane) beyond(y int) int { return min(y-p.area.y, 0) + max(y-p.area.y-p.area.h+1, 0) }

// extend extends the selection to the position of the mouse, or to the edge of the pane: of text if it began in the text, else of
// lines.
func (p *logPane) extend(g gesture) {
	x, y := max(p.area.x, min(g.x, p.area.x+p.area.w-1)), max(p.area.y, min(g.y, p.area.y+len(p.rows)-1))
	if p.region != nil {
		if at, _ := p.textAt(x, y); at.seq != 0 {
			p.region.to, p.region.block = at, g.block
		}
		return
	}
	if p.anchor == 0 {
		p.anchor = p.cursor
	}
	if at := p.at(x, y); at != 0 {
		p.cursor = at
	}
}

// pane is a part of the main view.
type pane uint8

const (
	nowhere pane = iota
	onTable
	onLog
	onBorder // the border between log and table: the log's title, or the line beside it
)

// pane returns the pane at a place of the terminal.
func (m *mainView) pane(x, y int) pane {
	switch {
	case m.table.at(x, y) >= 0:
		return onTable
	case m.log.at(x, y) != 0:
		return onLog
	case m.log.bare, m.log.area.h <= 0, m.table.area.h <= 0:
	case m.onBorder(x, y):
		return onBorder
	}
	return nowhere
}

// onBorder reports whether a place is on the border of the log: the line beside it, or its title.
func (m *mainView) onBorder(x, y int) bool {
	if m.beside() {
		return x == m.log.area.x-1
	}
	return y == m.log.area.y-1
}
