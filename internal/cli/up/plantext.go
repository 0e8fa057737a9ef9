package up

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/api"
)

// The colours of a plan, as terminals understand them. They are left out where output shows no colours.
const (
	green, yellow, red, cyan, dim = "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[36m", "\x1b[2m"
	plain                         = "\x1b[0m"
)

// planSigns are how actions are shown, in the order of the summary.
var planSigns = []struct {
	action             api.PlanAction
	sign, colour, done string
}{
	{api.ActionCreate, "+", green, "to create"},
	{api.ActionRun, "$", cyan, "to run"},
	{api.ActionUpdate, "~", yellow, "to update"},
	{api.ActionReplace, "±", red, "to replace"},
	{api.ActionAdopt, "&", yellow, "to adopt"},
	{api.ActionHandOver, ">", cyan, "to hand over"},
	{api.ActionDelete, "-", red, "to delete"},
	{api.ActionOrphan, "o", yellow, "to orphan"},
	{api.ActionKeep, "·", dim, "kept"},
	{api.ActionBlocked, "✖", red, "blocked"},
	{api.ActionUnchanged, "=", dim, "unchanged"},
}

var classSigns = map[api.ChangeClass]struct{ sign, colour string }{
	api.ChangeWanted: {"~", yellow}, api.ChangeDrift: {"!", red}, api.ChangeConflict: {"x", red}, api.ChangeRemoval: {"-", red},
}

// planText returns a plan for people. Unchanged objects are only counted.
func planText(p api.Plan) string {
	var b strings.Builder
	width, verb := 0, 0
	for _, s := range p.Steps {
		if s.Action != api.ActionUnchanged {
			width, verb = max(width, len(objectText(s.Object))), max(verb, len(s.Action))
		}
	}
	for _, s := range p.Steps {
		if s.Action == api.ActionUnchanged {
			continue
		}
		sign, colour := "", ""
		for _, a := range planSigns {
			if a.action == s.Action {
				sign, colour = a.sign, a.colour
			}
		}
		fmt.Fprintf(&b, "%s%s %-*s%s  %-*s  %s%s%s\n", colour, sign, verb, s.Action, plain, width, objectText(s.Object), dim, s.Resource, plain)
		if s.Reason != "" {
			fmt.Fprintf(&b, "    %s%s%s\n", dim, strings.ReplaceAll(s.Reason, "\n", "\n    "), plain)
		}
		for _, f := range s.Fields {
			b.WriteString(fieldText(f))
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	var counts []string
	for _, a := range planSigns {
		if n := p.Summary[a.action]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, a.done))
		}
	}
	if len(counts) == 0 {
		counts = []string{"nothing to do"}
	}
	if p.Context != "" {
		b.WriteString(p.Context + ": ")
	}
	b.WriteString(strings.Join(counts, ", "))
	return b.String()
}

func objectText(o api.PlanObject) string {
	s := strings.ToLower(o.Kind) + "/" + o.Name
	if o.Namespace != "" {
		s += " in " + o.Namespace
	}
	return s
}

func fieldText(f api.FieldChange) string {
	c := classSigns[f.Class]
	line := fmt.Sprintf("    %s%s%s %s: ", c.colour, c.sign, plain, f.Path)
	switch {
	case f.Masked:
		line += "(changed)"
	case f.AfterBuild && f.From == nil:
		line += "(known after the build)"
	case f.AfterBuild:
		line += valueText(f.From) + " → (known after the build)"
	case f.AfterApply && f.From == nil:
		line += "(known after apply)"
	case f.AfterApply:
		line += valueText(f.From) + " → (known after apply)"
	case f.To == nil:
		line += valueText(f.From) + " → gone"
	case f.From == nil:
		line += valueText(f.To)
	default:
		line += valueText(f.From) + " → " + valueText(f.To)
	}
	if f.Class == api.ChangeDrift || f.Class == api.ChangeConflict {
		said := []string{string(f.Class)}
		if f.Applied != nil {
			said = append(said, "applied was "+valueText(f.Applied))
		}
		if f.Manager != "" && f.At != nil {
			said = append(said, fmt.Sprintf("by %s at %s", f.Manager, f.At.Local().Format("2006-01-02 15:04:05")))
		}
		line += fmt.Sprintf("  %s(%s)%s", dim, strings.Join(said, ", "), plain)
	}
	return line + "\n"
}

// longestValue bounds how much of a value is shown, in bytes.
const longestValue = 120

// valueText returns a value on one line: a text as it is, anything else as JSON.
func valueText(v any) string {
	s, ok := v.(string)
	if !ok || s == "" || strings.ContainsAny(s, "\n\"") {
		raw, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		s = string(raw)
	}
	return words.Clip(s, longestValue)
}
