package view

import (
	"math"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// readLines bounds the lines that are read of a failure's log, excerptLines those that explain it.
	readLines, excerptLines = 300, 10
)

// LogReader reads the newest lines before a line of the log.
type LogReader interface {
	ReadBefore(f logstore.Filter, seq uint64, n int) []logstore.Line
}

// Excerpt returns the lines of a failure's output that matter, without escape sequences.
func (c Card) Excerpt(logs LogReader) []string {
	var all []string
	if c.Output != "" {
		for _, l := range strings.Split(strings.TrimRight(c.Output, "\n"), "\n") {
			all = append(all, text.Clean(l))
		}
	}
	if c.Span != "" && (c.Output == "" || c.Part != WholeLog) {
		f := logstore.Filter{Resources: []model.ManifestName{c.Resource}, Span: c.Span}
		lines := logs.ReadBefore(f, math.MaxUint64, readLines)
		if r := c.Run; len(lines) == 0 && r != nil && !r.Began.IsZero() {
			// A container that ends at once may be in its second run before the first one's log is opened: the API server has one
			// log for both, and the lines have the span of the first run.
			f = logstore.Filter{Resources: f.Resources, Sources: []logstore.Source{logstore.SourceRuntime}, Since: r.Began,
				Match: func(l logstore.LineRef) bool { return l.Pod == r.Pod && l.Container == r.Container }}
			lines = logs.ReadBefore(f, math.MaxUint64, readLines)
		}
		for _, l := range linesOfPart(lines, c.Part) {
			all = append(all, text.Clean(l.Text))
		}
	}
	var out []string
	for _, i := range logline.Essential(all, excerptLines) {
		if !c.Says(all[i]) {
			out = append(out, all[i])
		}
	}
	return out
}

// linesOfPart returns the part of an update's log that can tell why it failed, without the session's own final message, which the card
// shows anyway.
func linesOfPart(lines []logstore.Line, part LogPart) []logstore.Line {
	if part == WholeLog {
		return lines
	}
	from, to := logline.OutputIn(len(lines), func(i int) string { return lines[i].Text })
	lines = lines[from:to]
	if part == ErrorsOfLastStep {
		lines = slices.DeleteFunc(slices.Clone(lines), func(l logstore.Line) bool { return l.Level < logstore.LevelError })
	}
	return lines
}
