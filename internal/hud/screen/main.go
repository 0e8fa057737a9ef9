package screen

const (
	// minWidth and minHeight are the size of the smallest terminal that shows the table.
	minWidth, minHeight = 60, 15
	// turnsHeight is the height below which table and log take turns.
	turnsHeight = 20
	// shortLog is the number of rows of a short log, including its title.
	shortLog = 9
	// leastPane is the least number of rows of a pane that the user makes smaller.
	leastPane = 3
)

// logSize is how much of the screen the log takes.
type logSize int

const (
	halfLog logSize = iota
	fullLog
	smallLog
	logSizes
)

// mainView is the lowest view on the stack: the table of resources above the log.
type mainView struct {
	ui    *ui
	table *table
	log   *logPane

	inLog  bool // keys go to the log
	one    bool // the log shows only what is selected in the table
	zoomed bool // only the pane with the focus is shown
	size   logSize
	// rows is how many rows the user gave the log; zero for none.
	rows int

	area    rect
	pressed pane // where the button of the mouse went down
}

var _ layer = (*mainView)(nil)

// tiny reports whether the terminal is too small for more than the log.
func (m *mainView) tiny() bool { return m.ui.screen.tiny() }

// turns reports whether table and log take turns.
func (m *mainView) turns() bool { return m.zoomed || m.ui.screen.turns() }

func (m *mainView) place() place {
	if m.inLog || m.size == fullLog && !m.turns() || m.tiny() {
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

func (m *mainView) draw(c canvas, area rect) {
	m.area = area
	table, log := m.share(area)
	m.table.covered = 0
	if v, ok := m.ui.top().(*cardView); ok {
		m.table.covered = max(0, table.y+table.h-v.measure(area).box.y)
	}
	m.log.bare = m.tiny()
	m.table.draw(c, table)
	if brought := m.ui.brought(log.w); brought != nil && log.h > leastPane+1 {
		var strip rect
		strip, log = log.top(1)
		c.spans(strip.x, strip.y, strip.w, brought)
	}
	m.log.draw(c, log)
}

// resize changes the size of the log by a number of rows; the pane that has the focus grows.
func (m *mainView) resize(by int) {
	if m.turns() || m.tiny() {
		return
	}
	if m.place() == inTable {
		by = -by
	}
	_, log := m.share(m.area)
	m.setRows(log.h + by)
}

func (m *mainView) setRows(rows int) {
	m.size = halfLog
	m.rows = min(max(rows, leastPane), max(m.area.h-leastPane, leastPane))
}

func (u *ui) resize(by int) { u.main.resize(by) }

func (u *ui) cycleSize() {
	u.main.rows, u.main.zoomed = 0, false
	u.main.size = (u.main.size + 1) % logSizes
}

func (u *ui) zoom() { u.main.zoomed = !u.main.zoomed }

func (u *ui) switchFocus() {
	m := u.main
	if m.size == fullLog {
		m.size, m.inLog = halfLog, true
	}
	m.inLog = !m.inLog
}

// close returns from the log to the table, and from a zoomed pane to both.
func (m *mainView) close() bool {
	switch {
	case m.zoomed:
		m.zoomed = false
	case m.place() == inLog && !m.tiny():
		m.inLog = false
		if m.size == fullLog {
			m.size = halfLog
		}
	default:
		return false
	}
	return true
}
