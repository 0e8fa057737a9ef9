package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// planSigns are the signs of actions, in the order of the summary.
var planSigns = []struct {
	action     api.PlanAction
	sign       string
	tone       Tone
	inProspect string
}{
	{api.ActionCreate, "+", Good, "to create"},
	{api.ActionRun, "$", Accent, "to run"},
	{api.ActionUpdate, "~", Warn, "to update"},
	{api.ActionReplace, "±", Bad, "to replace"},
	{api.ActionAdopt, "&", Warn, "to adopt"},
	{api.ActionHandOver, ">", Accent, "to hand over"},
	{api.ActionDelete, "-", Bad, "to delete"},
	{api.ActionOrphan, "o", Warn, "to orphan"},
	{api.ActionKeep, "·", Dim, "kept"},
	{api.ActionBlocked, "✖", Bad, "blocked"},
	{api.ActionUnchanged, "=", Dim, "unchanged"},
}

var classSigns = map[api.ChangeClass]Span{
	api.ChangeWanted: {"~", Warn}, api.ChangeDrift: {"!", Bad}, api.ChangeConflict: {"x", Bad}, api.ChangeRemoval: {"-", Bad},
}

// Plan is the effect of updates, as it is shown.
type Plan struct {
	// Lines are the steps that change something, and Summary counts all steps.
	Lines   []Line
	Summary string
	// Runs is the number of evaluations of the Tiltfile when the plan was made.
	Runs int
}

// PlanLines shows a plan: the images, then each step with its reason and fields, without those that change nothing.
func PlanLines(p api.Plan) []Line {
	width, verb := 0, 0
	for _, s := range p.Steps {
		if s.Action != api.ActionUnchanged {
			width, verb = max(width, len(PlanObject(s.Object))), max(verb, len(s.Action))
		}
	}
	var out page
	for _, im := range p.Images {
		line := out.add(4, imageCell(im)...)
		line.Target.Resource = model.ManifestName(im.Resources[0])
	}
	steps, several := byCluster(p.Steps)
	for i, s := range steps {
		if several && (i == 0 || steps[i-1].Cluster != s.Cluster) {
			out.title("cluster " + cmp.Or(s.Cluster, p.Context, "of the session"))
		}
		head := Span{string(s.Action), Plain}
		for _, a := range planSigns {
			if a.action == s.Action {
				head = Span{fmt.Sprintf("%s %-*s", a.sign, verb, s.Action), a.tone}
			}
		}
		line := out.add(4, head, Span{fmt.Sprintf("  %-*s  ", width, PlanObject(s.Object)), Plain}, Span{s.Resource, Dim})
		line.Target.Resource = model.ManifestName(s.Resource)
		if s.Reason != "" {
			for reason := range strings.Lines(s.Reason) {
				out.add(4, Span{"    ", Plain}, Span{strings.TrimRight(reason, "\n"), Dim})
			}
		}
		for _, f := range s.Fields {
			out.add(6, fieldCell(f)...)
		}
	}
	return out.lines
}

// byCluster returns the steps that change something, cluster after cluster, the session's own first. several is set if the plan has steps in
// a declared cluster.
func byCluster(all []api.PlanStep) (steps []api.PlanStep, several bool) {
	several = slices.ContainsFunc(all, func(s api.PlanStep) bool { return s.Cluster != "" })
	steps = slices.DeleteFunc(slices.Clone(all), func(s api.PlanStep) bool { return s.Action == api.ActionUnchanged })
	slices.SortStableFunc(steps, func(a, b api.PlanStep) int { return Compare(a.Cluster, b.Cluster) })
	return steps, several
}

// imageCell says where an image of a plan comes from, and why.
func imageCell(im api.PlanImage) Cell {
	text, why := "built", ""
	switch {
	case im.Source == api.ImageInRegistry:
		text = "is in " + im.Registry + " already"
	case im.Source == api.ImageBuilt && im.Reason == "":
		text = "unchanged"
	}
	switch {
	case strings.HasPrefix(im.Reason, "never "):
		text = im.Reason
	case im.Reason != "":
		why = ", because " + im.Reason
	}
	c := Cell{{"# image  ", Accent}, {im.Image, Plain}, {": " + text + why, Plain}}
	switch im.Source {
	case api.ImageBuilt:
		c = append(c, Span{"  " + cmp.Or(im.ID, im.Digest, im.Reference), Dim})
	case api.ImageInRegistry:
		c = append(c, Span{"  " + im.Digest, Dim})
	case api.ImageToBuild:
	}
	return c
}

// PlanSummary counts the steps of a plan: "kind-dev: 2 to create, 1 unchanged".
func PlanSummary(p api.Plan) string {
	var counts []string
	for _, a := range planSigns {
		if n := p.Summary[a.action]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, a.inProspect))
		}
	}
	if len(counts) == 0 {
		counts = []string{"nothing to do"}
	}
	s := strings.Join(counts, ", ")
	if p.Context != "" {
		s = p.Context + ": " + s
	}
	return s
}

// PlanObject names an object of a plan: "deployment/web in shop".
func PlanObject(o api.PlanObject) string {
	s := strings.ToLower(o.Kind) + "/" + o.Name
	if o.Namespace != "" {
		s += " in " + o.Namespace
	}
	return s
}

func fieldCell(f api.FieldChange) Cell {
	c := classSigns[f.Class]
	text := " " + f.Path + ": "
	switch {
	case f.Masked:
		text += "(changed)"
	case f.AfterBuild && f.From == nil:
		text += "(known after the build)"
	case f.AfterBuild:
		text += valueText(f.From) + " → (known after the build)"
	case f.AfterApply && f.From == nil:
		text += "(known after apply)"
	case f.AfterApply:
		text += valueText(f.From) + " → (known after apply)"
	case f.To == nil:
		text += valueText(f.From) + " → gone"
	case f.From == nil:
		text += valueText(f.To)
	default:
		text += valueText(f.From) + " → " + valueText(f.To)
	}
	cell := Cell{{"    ", Plain}, c, {text, Plain}}
	if f.Class == api.ChangeDrift || f.Class == api.ChangeConflict {
		said := []string{string(f.Class)}
		if f.Applied != nil {
			said = append(said, "applied was "+valueText(f.Applied))
		}
		if f.Manager != "" && f.At != nil {
			said = append(said, fmt.Sprintf("by %s at %s", f.Manager, f.At.Local().Format("2006-01-02 15:04:05")))
		}
		cell = append(cell, Span{"  (" + strings.Join(said, ", ") + ")", Dim})
	}
	return cell
}

// longestValue bounds the part of a value that is shown, in bytes.
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
