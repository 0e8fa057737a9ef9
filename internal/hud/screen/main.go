package screen

import "github.com/hone-dev/hone/internal/hud/view"

const (
	// minWidth and minHeight are the size of the smallest terminal that shows the table. An editor's panel has 12 to 14 rows.
	minWidth, minHeight = 60, 10
	// turnsHeight is the height below which table and log take turns.
	turnsHeight = 20
	// shortLog is the number of rows of a short log, including its title.
	shortLog = 9
	// leastPane is the least number of rows of a pane that the user makes smaller, and leastColumns the least number of its
	// columns.
	leastPane, leastColumns = 3, 40
	// besideWidth is the width from which the log stands beside the table, unless the user wants it below.
	besideWidth = 220
	// besideTable is the least width that the table gets by itself beside the log: with all of its usual columns.
	besideTable = 120
)

// focus is the pane that receives keys.
type focus struct {
	// inLog is set if keys go to the log, alone if only the pane with the focus is shown: it is zoomed.
	inLog, alone bool
}

// scope selects the resources whose log is shown.
type scope uint8

const (
	everyLog    scope = iota
	selectedLog       // the selected resource or group
)

// logSize is the share of the screen that the log takes.
type logSize int

const (
	halfLog logSize = iota
	fullLog
	smallLog
	logSizes
)

// side is the side of the table on which the log stands.
type side int

const (
	fittingSide side = iota // beside the table where the terminal is wide enough, else below it
	sideBelow
	sideBeside
	sides
)

// mainView is the lowest view on the stack: the table of resources and the log.
type mainView struct {
	ui    *ui
	table *table
	log   *logPane

	focus focus
	scope scope
	size  logSize
	side  side
	// rows is the height that the user gave the log below the table, and columns the width of the log beside it; zero for
	// none.
	rows, columns int

	area    rect
	pressed pane // where the button of the mouse went down
}

var _ layer = (*mainView)(nil)

// tiny reports whether the terminal is too small for more than the log.
func (m *mainView) tiny() bool { return m.ui.screen.tiny() }

// turns reports whether table and log take turns.
func (m *mainView) turns() bool { return m.focus.alone || m.narrow() }

// narrow reports whether the terminal has no room for table and log at the same time.
func (m *mainView) narrow() bool { return m.ui.screen.turns() && !m.beside() }

// beside reports whether the log stands beside the table.
func (m *mainView) beside() bool {
	switch width := m.ui.screen.width; m.side {
	case sideBeside:
		return width >= minWidth+leastColumns
	case sideBelow:
		return false
	case fittingSide, sides:
		return width >= besideWidth
	}
	return false
}

func (m *mainView) place() place {
	switch {
	case m.focus.inLog, m.tiny():
		return inLog
	case m.size == fullLog && !m.turns():
		return inLog
	}
	return inTable
}

func (m *mainView) covers() bool { return true }

func (m *mainView) mover() mover {
	if m.place() == inLog {
		return m.log
	}
	return m.table
}

// goTo gives a pane the focus.
func (m *mainView) goTo(log bool) { m.focus.inLog = log }

// share divides an area between table and log.
func (m *mainView) share(area rect) (table, log rect) {
	switch {
	case m.tiny():
		return rect{}, area
	case m.turns() && m.place() == inLog:
		return rect{}, area
	case m.turns():
		return area, rect{}
	case m.size == fullLog:
		return rect{}, area
	case m.beside():
		return area.left(m.tableColumns(area.w))
	}
	rows := min(m.table.height(), area.h/2)
	switch {
	case m.rows > 0:
		rows = area.h - min(max(m.rows, leastPane), area.h-leastPane)
	case m.size == smallLog:
		rows = area.h - shortLog
	}
	return area.top(rows)
}

// tableColumns is the width of the table beside the log.
func (m *mainView) tableColumns(width int) int {
	columns := max(besideTable, width*9/20)
	switch {
	case m.columns > 0:
		columns = width - m.columns
	case m.size == smallLog:
		columns = width * 2 / 3
	}
	return max(minWidth, min(columns, width-leastColumns))
}

func (m *mainView) draw(c canvas, area rect) {
	m.area = area
	table, log := m.share(area)
	m.table.covered = 0
	if v, ok := m.ui.top().(*cardView); ok {
		m.table.covered = max(0, table.y+table.h-v.measure(area).box.y)
	}
	m.log.bare = m.tiny()
	m.table.draw(c, table)
	if log.x > area.x { // beside the table
		c.column(log.x, log.y, log.h, c.theme.style(view.Dim))
		_, log = log.left(1)
	}
	if failure := m.ui.newFailure(log.w); failure != nil && log.h > leastPane+1 {
		var strip rect
		strip, log = log.top(1)
		c.spot(strip.x, strip.y, c.spans(strip.x, strip.y, strip.w, failure)-strip.x, "next-error")
	}
	m.log.draw(c, log)
}

// bringLog shows the log if it is hidden: beside or below the table if there is room for both, else instead of it.
func (m *mainView) bringLog() {
	if _, log := m.share(m.area); m.area.empty() || !log.empty() {
		return
	}
	m.focus = focus{}
	if _, log := m.share(m.area); log.empty() {
		m.goTo(true)
	}
}

// resize changes the size of the log by a number of rows, or of columns if it stands beside the table; the pane that has the focus
// grows.
func (m *mainView) resize(by int) {
	if m.turns() || m.tiny() {
		return
	}
	if m.place() == inTable {
		by = -by
	}
	_, log := m.share(m.area)
	if m.beside() {
		m.setColumns(log.w + 2*by) // a cell is twice as high as wide
		return
	}
	m.setRows(log.h + by)
}

func (m *mainView) setRows(rows int) {
	m.size = halfLog
	m.rows = min(max(rows, leastPane), max(m.area.h-leastPane, leastPane))
}

func (m *mainView) setColumns(columns int) {
	m.size = halfLog
	m.columns = min(max(columns, leastColumns), max(m.area.w-minWidth, leastColumns))
}

// dragBorder puts the border between table and log at a place of the terminal.
func (m *mainView) dragBorder(x, y int) {
	if m.beside() {
		m.setColumns(m.area.x + m.area.w - x)
		return
	}
	m.setRows(m.area.y + m.area.h - y)
}

func (u *ui) resize(by int) { u.main.resize(by) }

func (u *ui) cycleSize() {
	m := u.main
	m.rows, m.columns, m.focus.alone = 0, 0, false
	m.size = (m.size + 1) % logSizes
	u.sayOnePane()
}

func (u *ui) zoom() {
	u.main.focus = focus{inLog: u.main.place() == inLog, alone: !u.main.focus.alone}
	u.sayOnePane()
}

// sayOnePane says that a change of the panes is not visible yet if the terminal has room for one pane only.
func (u *ui) sayOnePane() {
	if err := u.onePane(); err != nil {
		u.tell(err)
	}
}

// turnSide puts the log beside the table, or below it.
func (u *ui) turnSide() {
	m := u.main
	m.side = map[bool]side{true: sideBelow, false: sideBeside}[m.beside()]
	switch {
	case m.side == sideBelow:
		u.say("the log stands below the table")
	case m.beside():
		u.say("the log stands beside the table")
	default:
		u.say("the log stands beside the table once the terminal is wide enough")
	}
}

func (u *ui) switchFocus() {
	m := u.main
	if m.size == fullLog {
		m.size, m.focus.inLog = halfLog, true
	}
	m.goTo(!m.focus.inLog)
}

// close returns from a zoomed pane to both, and from the log to the table.
func (m *mainView) close() bool {
	switch {
	case m.focus.alone:
		m.focus.alone = false
	case m.place() == inLog && !m.tiny():
		m.goTo(false)
		if m.size == fullLog {
			m.size = halfLog
		}
	default:
		return false
	}
	return true
}
