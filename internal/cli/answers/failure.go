package answers

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/rawfile"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/api"
)

// Place is a place in a source file.
type Place api.Place

// String returns file:line.
func (p Place) String() string { return p.File + ":" + strconv.Itoa(p.Line) }

// Failure explains a failure, or a resource that is stuck, as the screen's card does.
type Failure api.Explanation

// foreignMark begins each line that a program has written.
const foreignMark = "│ "

// String returns the failure in several lines.
func (f Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "✖ %s: %s", strings.Join(append([]string{f.Resource}, f.Also...), ", "), f.Title)
	if !f.Since.IsZero() {
		b.WriteString(", since " + f.Since.Local().Format(time.TimeOnly))
	}
	for _, l := range f.Body() {
		b.WriteString("\n  " + l)
	}
	return b.String()
}

// Body returns the lines that explain the failure, below its title.
func (f Failure) Body() (out []string) {
	line := func(head string, lines ...string) {
		for _, l := range lines {
			out = append(out, head+l)
			head = strings.Repeat(" ", text.Width(head))
		}
	}
	if f.Place != nil {
		line("at: ", Place(*f.Place).String())
	}
	line("", f.Cause...)
	if f.Where != "" {
		line("in: ", f.Where)
	}
	if f.Cluster != "" {
		line("cluster: ", f.Cluster)
	}
	for _, l := range f.Written {
		out = append(out, foreignMark+l)
	}
	line("what helps: ", f.Mend...)
	list := func(head string, names []string) {
		if len(names) > 0 {
			line(head, strings.Join(names, ", "))
		}
	}
	list("began with a change of: ", f.Changed)
	list("look first at, which failed before it: ", f.LookFirst)
	list("failed after it: ", f.FailedAfter)
	list("waiting for it: ", f.Waiting)
	line("Kubernetes says: ", f.Said...)
	return out
}

// brief leaves out all but the parts that tell whose fault it is.
func (f Failure) brief() Failure {
	const mostCauses, mostWaiting = 2, 5
	f.Cause = f.Cause[:min(len(f.Cause), mostCauses)]
	f.Mend = f.Mend[:min(len(f.Mend), 1)]
	if n := len(f.Waiting) - mostWaiting; n > 0 {
		f.Waiting = append(slices.Clone(f.Waiting[:mostWaiting]), fmt.Sprintf("%d more", n))
	}
	f.Written, f.Said, f.Changed = nil, nil, nil
	return f
}

// failure explains a card with the lines of a log.
func (s *moment) failure(logs view.LogReader, c view.Card) Failure {
	f := Failure{Resource: string(c.Resource), Also: names(c.Also), Title: c.Title, Cluster: s.clusterOf(c.Resource), Since: c.Since, Cause: c.Cause, Where: c.Where,
		Written: c.Excerpt(logs), Mend: c.Helps, Said: c.Said, LookFirst: names(c.After), Changed: s.relative(c.Saved)}
	for _, x := range c.Consequences {
		f.FailedAfter = append(f.FailedAfter, string(x.Resource)+", "+x.String())
	}
	for _, ring := range c.Waiting {
		f.Waiting = append(f.Waiting, names(ring)...)
	}
	if s.files {
		f.Place = s.place(c, f.Written)
	}
	return f
}

// place returns the first place in the source tree that the lines of a failure name, or its causes.
func (s *moment) place(c view.Card, lines []string) *api.Place {
	file, at, ok := status.FirstPlace(s.view, c.Resource, slices.Concat(lines, c.Cause), rawfile.IsRegular)
	if !ok {
		return nil
	}
	return &api.Place{File: s.relative([]string{file})[0], Line: at.Line, Column: at.Column}
}

// relative returns paths as the user writes them: relative to the Tiltfile's folder if they lie below it.
func (s *moment) relative(paths []string) []string {
	var out []string
	folder := filepath.Dir(state.TheTiltfile(s.view).Path)
	for _, p := range paths {
		if rel, err := filepath.Rel(folder, p); filepath.IsAbs(p) && err == nil && filepath.IsLocal(rel) {
			p = rel
		}
		out = append(out, text.Clean(p))
	}
	return out
}
