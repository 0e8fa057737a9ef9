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
