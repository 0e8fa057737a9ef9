package screen

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/hud/text"
)

// fieldMode selects the form in which lines with fields (JSON, logfmt) are shown.
type fieldMode int

const (
	// fieldsFolded shows the message of a JSON line, then its fields; time and level are in front of the line already.
	fieldsFolded fieldMode = iota
	// fieldsColumns also aligns equal fields below each other, fields of logfmt too.
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
	// mostColumns bounds the fields that have a column.
	mostColumns = 24
)

// shrinkTime is the time for which a column stays wider than its values need. A flood has wide values again and again.
const shrinkTime = 5 * time.Second

// fieldColumns are the columns of fields of the shown log, in the order in which they appeared. They grow at once, and shrink
// when the newest lines have not needed their width for a while; while the user scrolls, they only grow.
type fieldColumns struct {
	message int
	order   []string
	widths  map[string]int
	// wide has the time since which no shown line has needed the present width of a column; the message has the key "".
	wide map[string]time.Time
}

func (f *fieldColumns) clone() fieldColumns {
	return fieldColumns{f.message, slices.Clone(f.order), maps.Clone(f.widths), maps.Clone(f.wide)}
}

// messageKey is the key of the message among the widths of a line.
const messageKey = ""

// shrink takes back room that the values have not needed for a while, and reports whether a column has changed. needed are the
// widths that the shown lines need.
func (f *fieldColumns) shrink(needed map[string]int, now time.Time) (changed bool) {
	if f.wide == nil {
		f.wide = map[string]time.Time{}
	}
	spare := func(key string, width int) bool {
		if needed[key] >= width {
			delete(f.wide, key)
			return false
		}
		since, known := f.wide[key]
		if !known {
			f.wide[key] = now
			return false
		}
		if now.Sub(since) < shrinkTime {
			return false
		}
		delete(f.wide, key)
		return true
	}
	if spare(messageKey, f.message) {
		f.message, changed = needed[messageKey], true
	}
	f.order = slices.DeleteFunc(f.order, func(key string) bool {
		if !spare(key, f.widths[key]) {
			return false
		}
		changed = true
		if needed[key] == 0 {
			delete(f.widths, key)
			return true
		}
		f.widths[key] = needed[key]
		return false
	})
	return changed
}

// fieldWidths returns the widths that a line needs.
func fieldWidths(message string, fields []logline.Field) map[string]int {
	out := map[string]int{messageKey: min(text.Width(message), mostMessage)}
	for _, one := range fields {
		out[one.Key] = max(out[one.Key], min(text.Width(one.Key)+1+text.Width(one.Value), mostValue))
	}
	return out
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
	w.needs = fieldWidths(message, rest)
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
