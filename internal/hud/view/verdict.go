package view

import (
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/pkg/model"
)

// passed describes the verdict of a test that has passed: "ok, cached  12 single tests".
func passed(v *model.Verdict, took string) string {
	s := "ok  " + took
	if v.Cached {
		s = "ok, cached"
	}
	if n := v.Of(); n > 0 {
		s += "  " + words.Count(n, "single test")
	}
	return s
}

// failedCases names the single tests that have failed: "2 of 14 failed: adds, takes away"; empty if none is known.
func failedCases(v *model.Verdict) string {
	if v == nil || len(v.Failed()) == 0 {
		return ""
	}
	var names []string
	for _, c := range v.Failed() {
		names = append(names, text.Clean(c.Name))
	}
	return fmt.Sprintf("%d of %d failed: %s", len(names), v.Of(), strings.Join(names, ", "))
}

// caseTones are the tones of the results of single tests.
var caseTones = map[model.CaseResult]Tone{model.CaseFailed: Bad, model.CasePassed: Good, model.CaseSkipped: Dim}

// cases adds the single tests of a verdict: a line for each that has failed, which opens its place and unfolds its text, and one line that
// unfolds the others.
func (p *page) cases(v *model.Verdict) {
	if v == nil || v.Of() == 0 {
		return
	}
	failed := v.Failed()
	for _, c := range failed {
		line := p.add(updateIndent+2, caseCell(c, strings.Repeat(" ", updateIndent))...)
		line.Target.File, line.Target.Line, line.Folded = c.File, c.Line, foreign(c.Text, 0, Plain)
	}
	var others []Line
	skipped := 0
	for _, c := range v.Cases[len(failed):] {
		if c.Result == model.CaseSkipped {
			skipped++
		}
		others = append(others, Line{Cell: caseCell(c, ""), Indent: 2, Target: Target{File: c.File, Line: c.Line}})
	}
	if v.Left > 0 {
		others = append(others, Line{Cell: Cell{{"and " + words.Count(v.Left, "other"), Dim}}})
	}
	if len(others) == 0 {
		return
	}
	said := words.Count(v.Of()-len(failed), "single test")
	if len(failed) > 0 {
		said = "and " + words.Count(v.Of()-len(failed), "other")
	}
	if skipped > 0 {
		said += fmt.Sprintf(", %d of them skipped", skipped)
	}
	p.add(updateIndent+2, Span{strings.Repeat(" ", updateIndent) + said, Dim}).Folded = others
}

// caseCell describes a single test in a line.
func caseCell(c model.TestCase, before string) Cell {
	out := Cell{{before + text.PadRight(string(c.Result), len("skipped")), caseTones[c.Result]}, {" " + text.Clean(strings.TrimSpace(c.Suite+" "+c.Name)), Plain}}
	if c.Took > 0 {
		out = append(out, Span{"  " + Duration(c.Took), Dim})
	}
	if c.File != "" {
		out = append(out, Span{fmt.Sprintf("  %s:%d", text.Clean(c.File), c.Line), Dim})
	}
	return out
}

// shownCases is the number of single tests that a card describes.
const shownCases = 3

// causesOf describes the first single tests that have failed, each with its place and the first lines of its text.
func causesOf(v *model.Verdict) (lines []string) {
	failed := v.Failed()
	for _, c := range failed[:min(shownCases, len(failed))] {
		line := text.Clean(strings.TrimSpace(c.Suite + " " + c.Name))
		if c.File != "" {
			line += fmt.Sprintf("  %s:%d", text.Clean(c.File), c.Line)
		}
		said := linesOf(c.Text)
		lines = append(append(lines, line), said[:min(shownCases, len(said))]...)
	}
	if more := len(failed) - shownCases; more > 0 {
		lines = append(lines, "and "+words.Count(more, "other"))
	}
	return lines
}
