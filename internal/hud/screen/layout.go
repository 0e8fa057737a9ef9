package screen

import (
	"maps"
	"reflect"
	"slices"

	"github.com/hone-dev/hone/internal/hud/view"
)

// Layout is the arrangement of a screen by its user. It is remembered for each project. The zero value is the first arrangement.
type Layout struct {
	// LogSize is the size of the log, and LogRows its height in rows if the user has given it one.
	LogSize int  `json:"logSize,omitempty"`
	LogRows int  `json:"logRows,omitempty"`
	Zoomed  bool `json:"zoomed,omitempty"`
	// Side is the side of the table on which the log stands, and LogColumns its width there if the user has given it one.
	Side       int `json:"side,omitempty"`
	LogColumns int `json:"logColumns,omitempty"`
	// One is set if the log shows only the selected resource, and Source selects a part of its log.
	One    bool `json:"one,omitempty"`
	Source int  `json:"source,omitempty"`
	// Order is the order of the table, and Folded are its folded groups.
	Order  int      `json:"order,omitempty"`
	Folded []string `json:"folded,omitempty"`
	// Cut, Time, Repeats and Fields select the form of lines.
	Cut     bool `json:"cut,omitempty"`
	Time    int  `json:"time,omitempty"`
	Repeats bool `json:"repeats,omitempty"`
	Fields  int  `json:"fields,omitempty"`
}

// layout returns the present layout.
func (u *ui) layout() Layout {
	m, s := u.main, u.log.shape
	l := Layout{LogSize: int(m.size), LogRows: m.rows, Zoomed: m.focus.alone, Side: int(m.side), LogColumns: m.columns, One: m.scope == selectedLog, Source: int(u.log.source), Order: int(u.table.order),
		Cut: s.cut, Time: int(s.time), Repeats: s.repeats, Fields: int(s.fields)}
	for _, group := range slices.Sorted(maps.Keys(u.table.folded)) {
		if u.table.folded[group] {
			l.Folded = append(l.Folded, group)
		}
	}
	return l
}

// arrange takes over a layout. Parts that do not exist in this version of hone are left as they are.
func (u *ui) arrange(l Layout) {
	m := u.main
	m.size = logSize(valid(l.LogSize, int(logSizes)))
	m.side = side(valid(l.Side, int(sides)))
	m.rows, m.columns, m.focus = max(l.LogRows, 0), max(l.LogColumns, 0), focus{alone: l.Zoomed}
	if m.scope = everyLog; l.One {
		m.scope = selectedLog
	}
	u.log.source = logSource(valid(l.Source, int(runtimeLog)+1))
	u.table.order = view.Order(valid(l.Order, len(view.Orders())))
	u.log.shape = shape{cut: l.Cut, time: timeMode(valid(l.Time, int(timeModes))), repeats: l.Repeats, fields: fieldMode(valid(l.Fields, int(fieldModes)))}
	for _, group := range l.Folded {
		u.table.folded[group] = true
	}
}

// valid returns n if it is one of the numbers below end, else 0.
func valid(n, end int) int {
	if n < 0 || n >= end {
		return 0
	}
	return n
}

// keepLayout remembers the layout if it has changed.
func (u *ui) keepLayout() {
	if u.options.KeepLayout == nil {
		return
	}
	if l := u.layout(); !reflect.DeepEqual(l, u.kept) {
		u.kept = l
		u.options.KeepLayout(l)
	}
}
