package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// driftBadge marks a row whose objects others have changed: "≠ changed by kubectl-edit". It is empty for a row without drift.
func driftBadge(d state.Drift) string {
	if drifts := d.Text(); drifts != "" {
		return "≠ " + text.Clean(drifts)
	}
	return ""
}

// Lost names the things that restoring a resource destroys and that cannot be brought back; empty if there are none.
func Lost(d state.Drift) string {
	var replaced, taken, secret []string
	for _, o := range d.Objects {
		name := strings.ToLower(o.Object.Kind) + "/" + o.Object.Name
		switch {
		case o.Replaces:
			replaced = append(replaced, name)
		case o.What == state.DriftRemade:
			taken = append(taken, name)
		case slices.ContainsFunc(o.Fields, func(f api.FieldChange) bool { return f.Masked }):
			secret = append(secret, name)
		}
	}
	var out []string
	add := func(names []string, says string) {
		if len(names) > 0 {
			out = append(out, strings.Join(names, ", ")+" "+says)
		}
	}
	add(replaced, "is deleted and made again")
	add(taken, "was made by others, and is taken over")
	add(secret, "loses values that are shown nowhere")
	return text.Clean(strings.Join(out, "; "))
}

// driftOf returns the drift of an object; ok is false if it has none.
func (b *builder) driftOf(name model.ManifestName, id model.ObjectID) (state.ObjectDrift, bool) {
	for _, o := range state.Drifts.In(b.v).Value(string(name)).Objects {
		if o.Object == id {
			return o, true
		}
	}
	return state.ObjectDrift{}, false
}

// driftWords describes the drift of an object in its line.
func (b *builder) driftWords(d state.ObjectDrift) (status, message string) {
	status = "≠ " + string(d.What)
	if d.What == state.DriftChanged {
		status += " by others"
	}
	message = "noticed " + clock(d.Since, b.now)
	if d.Reason != "" {
		message += ": " + d.Reason
	}
	return status, message
}

// driftLines show the drift of an object, field by field: who changed it and when, the applied value, and the value in the
// cluster.
func (b *builder) driftLines(p *page, d state.ObjectDrift) {
	for _, f := range d.Fields {
		by := Span{"", Dim}
		if f.Manager != "" {
			by.Text = "  " + text.Clean(f.Manager)
			if f.At != nil {
				by.Text += "  " + clock(f.At.Local(), b.now)
			}
		}
		p.add(4, Span{"    " + text.Clean(f.Path), Strong}, by)
		if f.Masked {
			p.add(6, Span{"      the values of a Secret are not shown", Dim})
			continue
		}
		was, is := valueLines(f.To), valueLines(f.From)
		if len(was)+len(is) > 2 {
			was, is = differing(was, is)
		}
		b.valueSide(p, "- ", Bad, "applied", was, f.To == nil)
		b.valueSide(p, "+ ", Good, "cluster", is, f.From == nil)
	}
}

// differing returns two texts without the lines that they have in common at their beginning and at their end.
func differing(a, b []string) (x, y []string) {
	for n := min(len(a), len(b)); n > 0 && a[0] == b[0]; n-- {
		a, b = a[1:], b[1:]
	}
	for n := min(len(a), len(b)); n > 0 && a[len(a)-1] == b[len(b)-1]; n-- {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// longestSide is the maximum number of lines of a value that are shown.
const longestSide = 12

func (b *builder) valueSide(p *page, sign string, tone Tone, side string, lines []string, absent bool) {
	if absent {
		lines = []string{"(not there)"}
	}
	more := len(lines) - longestSide
	for i, l := range lines[:min(len(lines), longestSide)] {
		label := strings.Repeat(" ", len(side))
		if i == 0 {
			label = side
		}
		p.add(16, Span{"      " + sign, tone}, Span{label + "  ", Dim}, Span{l, tone})
	}
	if more > 0 {
		p.add(16, Span{fmt.Sprintf("      %s         … %s", sign, words.Count(more, "more line")), Dim})
	}
}

// valueLines formats a value of a field: a text line by line, everything else as JSON.
func valueLines(v any) []string {
	s, isText := v.(string)
	if !isText {
		raw, err := json.Marshal(v)
		if err != nil {
			return []string{text.Clean(fmt.Sprint(v))}
		}
		return []string{text.Clean(string(raw))}
	}
	var out []string
	for l := range strings.Lines(s) {
		out = append(out, text.Clean(strings.TrimRight(l, "\r\n")))
	}
	if len(out) == 0 {
		return []string{`""`}
	}
	return out
}
