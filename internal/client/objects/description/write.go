package description

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"
)

// indent is the indentation of lines that belong to the line above.
const indent = "  "

// writer writes fields one below the other.
type writer struct {
	out *bufio.Writer
	now time.Time
}

func newWriter(out io.Writer, now time.Time) *writer { return &writer{bufio.NewWriter(out), now} }

// section writes the fields of an object, with the values aligned.
func (w *writer) section(f fields, depth int) {
	width := 0
	for _, x := range f {
		if !empty(x.v) && flat(x.v) {
			width = max(width, utf8.RuneCountInString(title(x.name)))
		}
	}
	for _, x := range f {
		if !empty(x.v) {
			w.field(title(x.name), x.v, depth, width)
		}
	}
}

func (w *writer) field(name string, v value, depth, width int) {
	pad := strings.Repeat(indent, depth)
	switch x := v.(type) {
	case fields:
		fmt.Fprintf(w.out, "%s%s:\n", pad, name)
		w.section(x, depth+1)
	case []value:
		if flat(x) {
			w.line(pad, name, join(x), width)
			return
		}
		fmt.Fprintf(w.out, "%s%s:\n", pad, name)
		w.list(x, depth+1)
	default:
		w.line(pad, name, w.scalar(x), width)
	}
}

// line writes a name and a value, which may have several lines.
func (w *writer) line(pad, name, text string, width int) {
	if !strings.Contains(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintf(w.out, "%s%-*s  %s\n", pad, width+1, name+":", strings.TrimRight(text, "\n"))
		return
	}
	fmt.Fprintf(w.out, "%s%s:\n", pad, name)
	for l := range strings.Lines(text) {
		fmt.Fprintf(w.out, "%s%s%s\n", pad, indent, strings.TrimRight(l, "\n"))
	}
}

// list writes items, each with a mark at its beginning.
func (w *writer) list(all []value, depth int) {
	pad := strings.Repeat(indent, depth)
	for _, v := range all {
		f, ok := v.(fields)
		if !ok {
			fmt.Fprintf(w.out, "%s- %s\n", pad, w.scalar(v))
			continue
		}
		var b strings.Builder
		item := newWriter(&b, w.now)
		item.section(f, depth+1)
		_ = item.out.Flush()
		text := b.String()
		if text == "" {
			continue
		}
		fmt.Fprintf(w.out, "%s- %s", pad, strings.TrimPrefix(text, pad+indent))
	}
}

// scalar renders a value. For times, it adds how long ago they are.
func (w *writer) scalar(v value) string {
	s, ok := v.(string)
	if !ok {
		return fmt.Sprint(v)
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return s
	}
	age := w.now.Sub(t)
	if age < 0 {
		return fmt.Sprintf("%s (in %s)", s, duration.HumanDuration(-age))
	}
	return fmt.Sprintf("%s (%s ago)", s, duration.HumanDuration(age))
}

// flat reports whether a value fits into one line.
func flat(v value) bool {
	switch x := v.(type) {
	case fields:
		return false
	case []value:
		n := 0
		for _, y := range x {
			s, ok := y.(string)
			if !ok || strings.ContainsAny(s, "\n,") {
				return false
			}
			n += len(s) + 2
		}
		return n <= 80
	}
	return true
}

func join(all []value) string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}

// title splits a field's name into words: "updateStatus" becomes "Update Status", "podID" "Pod ID". Names with other
// characters than letters and digits stay.
func title(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) >= 0 {
		return name
	}
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || beginsWord(runes[i+1:])) {
			b.WriteByte(' ')
		}
		if i == 0 {
			r = unicode.ToUpper(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// beginsWord reports whether a capital letter before rest begins a word, and not only goes on with an acronym, which may end in the s of
// a plural.
func beginsWord(rest []rune) bool {
	return len(rest) > 0 && unicode.IsLower(rest[0]) && string(rest) != "s"
}
