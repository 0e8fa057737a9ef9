package command

import (
	"strings"

	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/api"
)

// toneCodes are the colours of a plan, as terminals understand them. They are left out where output shows no colours.
var toneCodes = map[view.Tone]string{view.Good: "\x1b[32m", view.Warn: "\x1b[33m", view.Bad: "\x1b[31m", view.Accent: "\x1b[36m", view.Dim: "\x1b[2m"}

// PlanText returns a plan for people, as the screen shows it. Unchanged objects are only counted.
func PlanText(p api.Plan) string {
	var b strings.Builder
	for _, l := range view.PlanLines(p) {
		for _, s := range l.Cell {
			if code := toneCodes[s.Tone]; code != "" {
				b.WriteString(code + s.Text + "\x1b[0m")
			} else {
				b.WriteString(s.Text)
			}
		}
		b.WriteString("\n")
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	b.WriteString(view.PlanSummary(p))
	return b.String()
}
