package screen

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/hud/text"
)

// fieldMode is how lines with fields (JSON, logfmt) are shown.
type fieldMode int

const (
	// fieldsFolded shows the message of a JSON line, then its fields; time and level are in front of the line already.
	fieldsFolded fieldMode = iota
	// fieldsColumns also aligns equal fields below each other, those of logfmt as well.
	fieldsColumns
	fieldsRaw
	fieldModes
)

func (m fieldMode) String() string {
	return [...]string{fieldsFolded: "message and fields", fieldsColumns: "fields in columns", fieldsRaw: "as they are"}[m]
}

const (
	// mostMessage and mostValue bound the widths of columns.
	mostMessage, mostValue = 48, 28
	// mostColumns bounds how many fields have a column.
	mostColumns = 24
)

// fieldColumns are the columns of fields of the shown log, in the order in which they appeared. They only grow.
type fieldColumns struct {
	message int
	order   []string
	widths  map[string]int
}

func (f *fieldColumns) reset() { *f = fieldColumns{} }

// take makes room for a line's fields, and reports whether a column has changed.
func (f *fieldColumns) take(message string, fields []logline.Field) (changed bool) {
	if w := min(text.Width(message), mostMessage); w > f.message {
		f.message, changed = w, true
	}
	if f.widths == nil {
		f.widths = map[string]int{}
	}
	for _, one := range fields {
		was, known := f.widths[one.Key]
		if !known {
			if len(f.order) >= mostColumns {
				continue
			}
			f.order = append(f.order, one.Key)
		}
		if w := min(text.Width(one.Key)+1+text.Width(one.Value), mostValue); w > was {
			f.widths[one.Key], changed = w, true
		}
	}
	return changed
}

// fieldCells returns the cells of a line with fields; nil if it is shown as it is.
func (w *wrapper) fieldCells(line string) []text.Cell {
	plain := logline.Plain(line)
	if w.shape.fields == fieldsRaw || w.shape.fields == fieldsFolded && !strings.HasPrefix(plain, "{") {
		return nil
	}
	all, ok := logline.Fields(plain)
	if !ok {
		return nil
	}
	message, rest := "", make([]logline.Field, 0, len(all))
	for _, f := range all {
		f.Value = text.Clean(strings.ReplaceAll(f.Value, "\n", "↵"))
		switch f.Role {
		case logline.RoleMessage:
			message = f.Value
		case logline.RoleTime, logline.RoleLevel:
		case logline.RoleNone:
			rest = append(rest, f)
		}
	}
	cells := text.Parse(message)
	dim := text.Style{Dim: true}
	put := func(s string, style text.Style) {
		for _, c := range text.Parse(s) {
			c.Style = style
			cells = append(cells, c)
		}
	}
	if w.shape.fields == fieldsFolded {
		for _, f := range rest {
			put("  "+f.Key+"=", dim)
			put(f.Value, text.Style{})
		}
		return cells
	}
	if w.columns.take(message, rest) {
		w.moved = true
		w.kept, w.cells = map[wrapKey]*wrapped{}, 0
	}
	values := map[string]string{}
	for _, f := range rest {
		values[f.Key] = f.Value
	}
	put(strings.Repeat(" ", max(0, w.columns.message-text.Width(message))), text.Style{})
	for _, key := range w.columns.order {
		room := w.columns.widths[key]
		value, has := values[key]
		if !has {
			put(strings.Repeat(" ", room+2), text.Style{})
			continue
		}
		delete(values, key)
		put("  "+key+"=", dim)
		put(text.PadRight(value, room-text.Width(key)-1), text.Style{})
	}
	for _, f := range rest { // those without a column
		if _, left := values[f.Key]; left {
			put("  "+f.Key+"=", dim)
			put(f.Value, text.Style{})
		}
	}
	return cells
}

// unfolded returns the fields of a line one by one, for a line that was opened; nil if it has none.
func unfolded(line string) []string {
	all, ok := logline.Fields(logline.Plain(line))
	if !ok {
		return nil
	}
	var out []string
	for _, f := range all {
		var pretty bytes.Buffer
		value := f.Value
		if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
			if json.Indent(&pretty, []byte(value), "    ", "  ") == nil {
				value = pretty.String()
			}
		}
		for i, l := range splitLines(value) {
			if i == 0 {
				l = "  " + f.Key + ": " + l
			} else {
				l = "    " + l
			}
			out = append(out, text.Clean(l))
		}
	}
	return out
}
