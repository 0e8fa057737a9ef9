package view

import (
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/hud/text"
)

// Summary returns the text that is printed after the screen has closed: the number of resources that are ok, and the failed ones
// with their errors. It is empty if there is nothing to show, and ends with a line break otherwise.
func (v View) Summary() string {
	if len(v.Rows) == 0 {
		return ""
	}
	c := v.Header.Counts
	parts := []string{number(c.Well) + " ok"}
	for _, p := range []struct {
		n    int
		word string
	}{{c.Updating, "updating"}, {c.Waiting, "waiting"}, {c.Unknown, "unknown"}, {c.Failed, "failed"}} {
		if p.n > 0 {
			parts = append(parts, number(p.n)+" "+p.word)
		}
	}
	var b strings.Builder
	b.WriteString(strings.Join(parts, ", ") + "\n")
	width := 0
	for _, r := range v.Rows {
		if r.Err() != "" {
			width = max(width, text.Width(string(r.Name)))
		}
	}
	for _, r := range v.Rows {
		for _, e := range []struct{ what, err string }{{"update", r.UpdateErr}, {"runtime", r.RuntimeErr}, {"port forward", r.PortErr}} {
			if e.err != "" {
				b.WriteString("  " + text.PadRight(string(r.Name), width) + "  " + e.what + " failed: " + firstLine(e.err) + "\n")
			}
		}
	}
	return b.String()
}

// Text returns the table of the main screen as plain text, with the notices before it and the error of each row below the
// row. It is empty if there is nothing to show, and ends with a line break otherwise.
func (v View) Text() string {
	if len(v.Rows) == 0 && len(v.Notices) == 0 {
		return ""
	}
	var b strings.Builder
	for _, n := range v.Notices {
		b.WriteString(text.Clean(n.Span().Text) + "\n")
	}
	rows := [][]string{{"STATUS", "NAME", "UPDATE", "RUNTIME", "PORTS", "CHANGED"}}
	errs := []string{""}
	for _, r := range v.Rows {
		rows = append(rows, []string{string(r.Status), string(r.Name), r.Update.String(), r.Runtime.String(), portNumbers(r.Ports), r.Age})
		errs = append(errs, r.Err())
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], text.Width(cell))
		}
	}
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(text.PadRight(cell, widths[i]+Gap))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if errs[n] != "" {
			for l := range strings.Lines(errs[n]) {
				b.WriteString("    " + text.Clean(strings.TrimRight(l, "\r\n")) + "\n")
			}
		}
	}
	return b.String()
}

// portNumbers lists ports: "8080 9229".
func portNumbers(ports []Port) string {
	var out []string
	for _, p := range ports {
		out = append(out, strconv.Itoa(p.Number))
	}
	return strings.Join(out, " ")
}
