package view

import (
	"slices"

	"github.com/hone-dev/hone/internal/hud/text"
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

// The terminal widths from which more is shown.
const (
	widest = 140
	wide   = 120
	medium = 100
	narrow = 80
)

// Columns returns the columns of a table in a terminal of the given width. longestName is the width of the longest name.
func Columns(width, longestName int) []Column {
	name := func(most int) Column {
		return Column{Kind: ColumnName, Title: "NAME", Width: min(max(longestName, 12), most)}
	}
	var cols []Column
	flexible := 1
	switch {
	case width >= widest:
		cols = []Column{name(max(18, width/5)), {Kind: ColumnUpdate, Title: "UPDATE"},
			{Kind: ColumnRuntime, Title: "RUNTIME", Width: width * 18 / 100}, {Kind: ColumnPod, Title: "POD", Width: width * 18 / 100},
			{Kind: ColumnPorts, Title: "PORTS", Width: 15}, {Kind: ColumnChanged, Title: "CHANGED", Width: 8}}
	case width >= wide:
		cols = []Column{name(max(18, width/5)), {Kind: ColumnUpdate, Title: "UPDATE"},
			{Kind: ColumnRuntime, Title: "RUNTIME", Width: width * 22 / 100},
			{Kind: ColumnPorts, Title: "PORTS", Width: 15}, {Kind: ColumnChanged, Title: "CHANGED", Width: 8}}
	case width >= medium:
		cols = []Column{name(18), {Kind: ColumnUpdate, Title: "UPDATE"},
			{Kind: ColumnRuntime, Title: "RUNTIME", Width: 22}, {Kind: ColumnPorts, Title: "PORTS", Width: 10, Short: true}}
	case width >= narrow:
		cols = []Column{name(16), {Kind: ColumnUpdate, Title: "UPDATE"},
			{Kind: ColumnRuntime, Title: "RUNTIME", Width: 11, Short: true}, {Kind: ColumnPorts, Title: "PORT", Width: 5, Short: true}}
	default:
		cols = []Column{name(max(12, width/3)), {Kind: ColumnImportant, Title: "STATUS"}}
	}
	rest := width - Margin - 1
	for i, c := range cols {
		rest -= c.Width
		if i > 0 {
			rest -= Gap
		}
	}
	cols[flexible].Width = max(rest, 1)
	return cols
}

// Text returns the content of the row in a column, in at most the column's width. hasChanged is whether there is a column
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
			return r.RuntimeShort.Fit(c.Width)
		}
		return r.Runtime.Fit(c.Width)
	case ColumnPod:
		if r.Pod == "" {
			return none
		}
		return Cell{{text.CutMiddle(r.Pod, c.Width), Plain}}
	case ColumnPorts:
		return r.portsText(c).Fit(c.Width)
	case ColumnChanged:
		return Cell{{r.Age, Dim}}.Fit(c.Width)
	case ColumnImportant:
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

// fitUpdate cuts UPDATE at its end, but errors in the middle, because the cause is often at the end.
func (r Row) fitUpdate(width int) Cell {
	if len(r.Update) == 1 && r.Update[0].Tone == Bad {
		return Cell{{text.CutMiddle(r.Update[0].Text, width), Bad}}
	}
	return r.Update.Fit(width)
}

var portMarks = [...]struct {
	mark string
	tone Tone
}{PortWaiting: {"◌", Warn}, PortReady: {"✔", Good}, PortFailed: {"✖", Bad}, PortUnknown: {"?", Warn}}

func (r Row) portsText(c Column) Cell {
	if len(r.Ports) == 0 {
		return none
	}
	var cell Cell
	ports := r.Ports
	if c.Short && c.Width < 10 { // there is room for one: the one that fails
		if i := slices.IndexFunc(ports, func(p Port) bool { return p.State == PortFailed }); i >= 0 {
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
		if p.State != PortReady {
			tone = m.tone
		}
		cell = append(cell, Span{number(p.Number), tone})
		if c.Width < 10 {
			break
		}
	}
	return cell
}
