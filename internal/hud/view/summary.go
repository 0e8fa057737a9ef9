package view

import (
	"strings"

	"github.com/hone-dev/hone/internal/hud/text"
)

// Summary is what is printed once the screen is gone: how many resources are well, and which failed with what. It is
// empty when there was nothing to show, and ends with a line break otherwise.
func (v View) Summary() string {
	if len(v.Rows) == 0 {
		return ""
	}
	c := v.Header.Counts
	parts := []string{number(c.Well) + " ok"}
	for _, p := range []struct {
		n    int
		word string
	}{{c.Updating, "updating"}, {c.Waiting, "waiting"}, {c.Failed, "failed"}} {
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
		for _, e := range []struct{ what, err string }{{"update", r.UpdateErr}, {"runtime", r.RuntimeErr}} {
			if e.err != "" {
				b.WriteString("  " + text.PadRight(string(r.Name), width) + "  " + e.what + " failed: " + firstLine(e.err) + "\n")
			}
		}
	}
	return b.String()
}
