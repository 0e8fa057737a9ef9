package view

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/status"
)

// Kind is the content of a column.
type Kind uint8

// The kinds of columns. ColumnImportant is the more important of UPDATE and RUNTIME.
const (
	ColumnName Kind = iota
	ColumnUpdate
	ColumnRuntime
	ColumnPod
	ColumnPorts
	ColumnChanged
	ColumnImportant
	ColumnRestarts
	ColumnEndpoint
	kinds
)

// Column is one column of the table.
type Column struct {
	Kind  Kind
	Title string
	// Width is in columns of the screen, without the gap after it.
	Width int
	// Short columns show their contents in one word.
	Short bool
}

// Gap is the space between two columns, and Margin is the space before the first one, for marker and glyph.
const (
	Gap    = 2
	Margin = 5
)

// The terminal widths from which more columns are shown.
const (
	huge   = 200
	widest = 140
	wide   = 120
	medium = 100
	narrow = 80
)

// steady is the least time for which a column keeps the width of contents that have become shorter; it may be twice as long.
const steady = 10 * time.Second

// Sizes are the widths that the contents of a table have needed lately. They grow at once and shrink a while later, so that columns
// do not move with every change. The zero value is ready to use. It is for one goroutine.
type Sizes struct {
	needs             // of both spans of time together
	now, before needs // of the present span of time, and of the one before it
	since       time.Time
}

// needs are widths that contents need.
type needs struct {
	need  [kinds]int
	short [kinds]int // of short columns
	aged  int        // of UPDATE with an age at its end
}

// Take takes in the contents of rows at a time.
func (s *Sizes) Take(rows []Row, now time.Time) {
	if now.Sub(s.since) >= steady {
		s.before, s.now, s.since = s.now, needs{}, now
	}
	s.now.take(rows)
	s.needs = s.now
	for k := range kinds {
		s.need[k], s.short[k] = max(s.need[k], s.before.need[k]), max(s.short[k], s.before.short[k])
	}
	s.aged = max(s.aged, s.before.aged)
}

func (s *needs) take(rows []Row) {
	const unbound = 1 << 16
	for _, r := range rows {
		for k := range kinds {
			s.need[k] = max(s.need[k], r.Text(Column{Kind: k, Width: unbound}, true).Width())
			if k == ColumnRuntime || k == ColumnPorts {
				s.short[k] = max(s.short[k], r.Text(Column{Kind: k, Width: unbound, Short: true}, true).Width())
			}
		}
		s.aged = max(s.aged, r.Text(Column{Kind: ColumnUpdate, Width: unbound}, false).Width())
	}
}

// share describes the part of a column in the width of the table.
type share struct {
	// least is the width that it always has, most the width that it gets if its contents need it.
	least, most int
	// weight determines how fast it grows in comparison with others while not all columns can have the width that they need.
	weight int
}

// Columns returns the columns of a table in a terminal of the given width. Each has the width that its contents need; the rest
// goes to UPDATE. If there is too little room, they share it by weight.
func (s *Sizes) Columns(width int) []Column {
	cols, shares := s.columnsFor(width)
	rest := width - Margin - 1 - Gap*(len(cols)-1)
	wants := make([]int, len(cols))
	for i := range cols {
		need := s.need[cols[i].Kind]
		switch {
		case cols[i].Short:
			need = s.short[cols[i].Kind]
		case cols[i].Kind == ColumnUpdate && cols[len(cols)-1].Kind != ColumnChanged:
			need = s.aged
		}
		cols[i].Width = shares[i].least
		wants[i] = min(need, shares[i].most)
		rest -= shares[i].least
	}
	for ; rest > 0; rest-- {
		next := -1
		for i, c := range cols {
			if c.Width < wants[i] && (next < 0 || c.Width*shares[next].weight < cols[next].Width*shares[i].weight) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		cols[next].Width++
	}
	const flexible = 1
	cols[flexible].Width = max(cols[flexible].Width+rest, 1)
	return cols
}

// columnsFor returns the columns that a terminal of the given width shows, without their widths. Columns that are only sometimes
// useful are left out while all of their contents are empty.
func (s *Sizes) columnsFor(width int) (cols []Column, shares []share) {
	add := func(k Kind, title string, short bool, least, most, weight int) {
		if needs, sometimes := map[Kind]Kind{ColumnPod: ColumnPod, ColumnRestarts: ColumnPod, ColumnPorts: ColumnPorts, ColumnEndpoint: ColumnEndpoint}[k]; sometimes && s.need[needs] <= none.Width() {
			return
		}
		cols, shares = append(cols, Column{Kind: k, Title: title, Short: short}), append(shares, share{least, most, weight})
	}
	if width < narrow {
		add(ColumnName, "NAME", false, 12, max(12, width/3), 9)
		add(ColumnImportant, "STATUS", false, 10, width, 1)
		return cols, shares
	}
	add(ColumnName, "NAME", false, 12, max(16, width/4), 6)
	add(ColumnUpdate, "UPDATE", false, 20, width, 4)
	if width < medium {
		add(ColumnRuntime, "RUNTIME", true, 7, 16, 6)
		add(ColumnPorts, "PORT", true, 5, 5, 9)
		return cols, shares
	}
	add(ColumnRuntime, "RUNTIME", false, 10, width*4/10, 3)
	if width >= widest {
		add(ColumnPod, "POD", false, 6, 48, 2)
	}
	if width >= huge {
		add(ColumnRestarts, "RESTARTS", false, 8, 8, 9)
	}
	if width < wide {
		add(ColumnPorts, "PORTS", true, onePort, 14, 6)
		return cols, shares
	}
	add(ColumnPorts, "PORTS", false, 6, 30, 6)
	if width >= huge {
		add(ColumnEndpoint, "ENDPOINT", false, 8, 48, 2)
	}
	add(ColumnChanged, "CHANGED", false, 7, 8, 9)
	return cols, shares
}

// Text returns the content of the row in a column, in at most the column's width. hasChanged reports whether there is a column
// CHANGED; without it, UPDATE includes the age.
func (r Row) Text(c Column, hasChanged bool) Cell {
	switch c.Kind {
	case ColumnName:
		tone := Plain
		if r.Status == Idle {
			tone = Dim
		}
		return Cell{{text.CutMiddle(string(r.Name), c.Width), tone}}
	case ColumnUpdate:
		return r.updateText(c, hasChanged)
	case ColumnRuntime:
		if c.Short {
			return r.withSilence(r.RuntimeShort).Fit(c.Width)
		}
		return r.withSilence(r.Runtime).Fit(c.Width)
	case ColumnPod:
		if r.Pod == "" {
			return none
		}
		others := more(r.Pods - 1)
		return Cell{{text.CutMiddle(r.Pod, max(1, c.Width-text.Width(others))), Plain}, {others, Dim}}.Fit(c.Width)
	case ColumnRestarts:
		if r.Pods == 0 {
			return none
		}
		return Cell{{number(r.Restarts), map[bool]Tone{true: Warn, false: Dim}[r.Restarts > 0]}}.Fit(c.Width)
	case ColumnEndpoint:
		if len(r.Endpoints) == 0 {
			return none
		}
		others := more(len(r.Endpoints) - 1)
		return Cell{{text.CutMiddle(r.Endpoints[0].URL, max(1, c.Width-text.Width(others))), Accent}, {others, Dim}}.Fit(c.Width)
	case ColumnPorts:
		return r.portsText(c).Fit(c.Width)
	case ColumnChanged:
		return Cell{{r.Age, Dim}}.Fit(c.Width)
	case ColumnImportant, kinds:
	}
	important := r
	important.Update = r.Important()
	return important.fitUpdate(c.Width)
}

// updateText returns UPDATE, with the age at its end if there is room for both.
func (r Row) updateText(c Column, hasChanged bool) Cell {
	if hasChanged || r.Changed.IsZero() || r.Status == Updating {
		return r.fitUpdate(c.Width)
	}
	age := " · " + r.Age
	room := c.Width - text.Width(age)
	if room < c.Width/2 {
		return r.fitUpdate(c.Width)
	}
	fit := r.fitUpdate(room)
	return append(fit[:len(fit):len(fit)], Span{age, Dim})
}

// withSilence adds the time for which the program has been silent.
func (r Row) withSilence(c Cell) Cell {
	if r.Silent == 0 {
		return c
	}
	return append(c[:len(c):len(c)], Span{"  silent " + coarse(r.Silent), Dim})
}

// fitUpdate cuts UPDATE at its end, but errors in the middle, because the cause is often at the end.
func (r Row) fitUpdate(width int) Cell {
	if len(r.Update) == 1 && r.Update[0].Tone == Bad {
		return Cell{{text.CutMiddle(r.Update[0].Text, width), Bad}}
	}
	return r.Update.Fit(width)
}

var portMarks = map[status.PortState]struct {
	mark string
	tone Tone
}{status.PortWaiting: {"◌", Warn}, status.PortReady: {"✔", Good}, status.PortFailed: {"✖", Bad}, status.PortUnknown: {"?", Warn}}

// onePort is the width below which there is room for only one port.
const onePort = 9

func (r Row) portsText(c Column) Cell {
	if len(r.Ports) == 0 {
		return none
	}
	var cell Cell
	ports := r.Ports
	if c.Short && c.Width < onePort { // there is room for one: the one that fails
		if i := slices.IndexFunc(ports, func(p Port) bool { return p.State == status.PortFailed }); i >= 0 {
			ports = ports[i:]
		}
	}
	for i, p := range ports {
		if i > 0 {
			cell = append(cell, Span{Text: " "})
		}
		m := portMarks[p.State]
		if !c.Short {
			cell = append(cell, Span{number(p.Number) + " ", Plain}, Span{m.mark, m.tone})
			continue
		}
		tone := Plain
		if p.State != status.PortReady {
			tone = m.tone
		}
		cell = append(cell, Span{number(p.Number), tone})
		if c.Width < onePort {
			break
		}
	}
	return cell
}
