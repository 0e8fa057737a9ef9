package cireport

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/liggitt/tabwriter"

	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/pkg/api"
)

// telling is the shortest wait that the table shows.
const telling api.Milliseconds = 100

// glyphs stand before the words.
var glyphs = map[string]string{statusOK: "✔", statusFailed: "✖", statusUnfinished: "◌", statusSkipped: "–"}

// Text writes a summary of the given command for people: a line for each resource with the reasons why it waited and its problem,
// and one line for all resources that were skipped for the same reason.
func Text(out io.Writer, command string, s api.Summary) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s: %s after %s", command, strings.ReplaceAll(s.Result, "-", " "), events.Took(s.TookMs))
	for i, status := range []string{statusOK, statusFailed, statusUnfinished, statusSkipped} {
		if n := count(s, status); n > 0 || i == 0 {
			fmt.Fprintf(&b, "%s %d %s", [...]string{":", ",", ",", ","}[i], n, status)
		}
	}
	b.WriteString("\n")
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "  STATUS\tRESOURCE\tTOOK\tWAITED\tERROR")
	line := func(status, name, took, waited, trouble string) {
		fmt.Fprintf(w, "%s %s\t%s\t%s\t%s\t%s\n", glyphs[status], status, name, took, waited, trouble)
	}
	skipped := map[string][]string{} // names by reason: of many resources, most may be skipped
	var reasons []string
	for _, r := range s.Resources {
		if r.Status == statusSkipped {
			if len(skipped[trouble(r)]) == 0 {
				reasons = append(reasons, trouble(r))
			}
			skipped[trouble(r)] = append(skipped[trouble(r)], r.Name)
			continue
		}
		line(r.Status, r.Name, events.Took(r.TookMs), waited(r), events.OneLine(trouble(r)))
	}
	for _, reason := range reasons {
		line(statusSkipped, several(skipped[reason]), "", "", events.OneLine(reason))
	}
	_ = w.Flush() // to memory
	for line := range strings.Lines(table.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("print the summary: %w", err)
	}
	return nil
}

// mostNames bounds the names in one line of the table.
const mostNames = 3

// several lists names in one line.
func several(names []string) string {
	if more := len(names) - mostNames; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), more)
	}
	return strings.Join(names, ", ")
}

// count returns how many resources have a status. The Tiltfile counts only if it is not ok.
func count(s api.Summary, status string) (n int) {
	for i, r := range s.Resources {
		if r.Status == status && (i > 0 || status != statusOK) {
			n++
		}
	}
	return n
}

// waited describes the waits of a resource and their durations.
func waited(r api.ResourceSummary) string {
	var out []string
	for _, w := range r.Waits {
		if w.Ms >= telling || w.Open {
			what, _, _ := strings.Cut(strings.TrimPrefix(w.Text, "waits "), ": ")
			out = append(out, events.Took(w.Ms)+" "+what)
		}
	}
	return strings.Join(out, ", ")
}

// trouble describes why a resource is not well.
func trouble(r api.ResourceSummary) string {
	if r.Problem == nil {
		return r.Skipped
	}
	if p := r.Problem; p.Cause != "" {
		return cmp.Or(p.Summary, r.Status) + ": " + p.Cause
	}
	return r.Problem.Summary
}
