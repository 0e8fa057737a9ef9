package session

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/answers"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/settle"
	"github.com/hone-dev/hone/pkg/api"
)

// settleFlags are the flags of hone settle.
type settleFlags struct {
	target  flags.Session
	timeout time.Duration
	window  time.Duration
	line    string
	answers []string
	output  string
}

func newSettle(g *command.Global) *cobra.Command {
	var f settleFlags
	c := &cobra.Command{
		Use:   "settle [NAME…]",
		Short: "Wait until everything that was saved is live, and say whether it works",
		Long: `Waits until everything that was saved before the command is live, and says how it went: for the named resources with the commands that
they depend on, which may write their files, or for all that are enabled. Files that were saved before the command count, even if the session has not noticed them yet.

Exit code 0: each replica runs everything that was saved. Its process started after that, or loads files by itself (the output says
which); it is ready; and since it went live, it has run for a while (--window) without a crash and without an error in its log that it
had not logged before.
Exit code 1: your code fails, or your Tiltfile does. The output has the place, the cause, the mend and the last lines of the log.
Exit code 3: the answer cannot be known. There is no session; the cluster or the engine does not answer; the session is paused; a change
waits for a trigger or for your confirmation; or an image was built before a file changed that nothing watches.
Exit code 124: the time is up. The output names the things that are still awaited.`,
		Example: `  hone settle
  hone settle api web --timeout 5m
  hone settle api --for-log 'listening on'
  hone settle api --http http://localhost:8080/health=200
  hone settle -o json
  hone settle api && hone logs api --since-save`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), g, args) },
	}
	f.target.Add(c)
	c.Flags().DurationVar(&f.timeout, "timeout", 120*settle.Window, "how long to wait")
	c.Flags().DurationVar(&f.window, "window", settle.Window, "how long a resource that has just gone live must run without a crash or a new error; 0 does not look at the log")
	c.Flags().StringVar(&f.line, "for-log", "", "also wait for a line with this text after the save, or for one that matches: /regex/")
	c.Flags().StringArrayVar(&f.answers, "http", nil, "also wait for an answer of an address: URL, or URL=STATUS; may be given more than once")
	command.AddDocumentFlag(c, &f.output, api.SettleReport{})
	c.ValidArgsFunction = f.target.CompleteResources
	return c
}

func (f *settleFlags) run(ctx context.Context, g *command.Global, names []string) error {
	write, err := command.DocumentWriter(f.output, "settle")
	if err != nil {
		return err
	}
	question, err := f.question(names)
	if err != nil {
		return err
	}
	if write == nil {
		question.Awaits = func(rep api.SettleReport) { sayAwaited(g.Stderr, rep.Text, awaitedBy(rep)) }
	}
	session, err := f.target.Find(ctx)
	if err != nil {
		return command.WithCode(err, api.SettleUnknown.ExitCode())
	}
	rep, err := session.SettleReport(ctx, question)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return command.WithCode(ended(ctx, session, "settle", err), api.SettleUnknown.ExitCode())
	}
	page := func(w io.Writer) error { return printSettled(w, rep) }
	return conclude(g.Stdout, rep, write, page, outcome{string(rep.Result), rep.ExitCode})
}

func (f *settleFlags) question(names []string) (q client.Settling, err error) {
	window := api.Milliseconds(f.window.Seconds() * 1000)
	q = client.Settling{Request: api.SettleRequest{Resources: names, WindowMs: &window, Line: f.line}, Timeout: f.timeout}
	for _, a := range f.answers {
		e, err := client.ParseExpected(a)
		if err != nil {
			return q, fmt.Errorf("--http: %w", err)
		}
		q.Answers = append(q.Answers, e)
	}
	return q, nil
}

// settleGlyphs stand before the names.
var settleGlyphs = map[api.SettleResult]string{api.SettleLive: "✔", api.SettleFailing: "✖", api.SettleWaiting: "◌", api.SettleUnknown: "?", api.SettleIdle: "–"}

// awaitedBy returns the things that a report waits for, a text for each resource.
func awaitedBy(rep api.SettleReport) (texts []string) {
	for _, r := range rep.Resources {
		if r.Result == api.SettleWaiting {
			texts = append(texts, r.Name+" "+r.Text)
		}
	}
	return texts
}

// printSettled prints a report: a line for each resource, and below the line of one that fails its card.
func printSettled(w io.Writer, rep api.SettleReport) error {
	var b strings.Builder
	width := 0
	for _, r := range rep.Resources {
		width = max(width, text.Width(r.Name))
	}
	if rep.Problem != nil {
		card(&b, rep.Problem, rep.Place, nil)
	}
	counts := map[api.SettleResult]int{}
	for _, r := range rep.Resources {
		counts[r.Result]++
		pad := strings.Repeat(" ", width-text.Width(r.Name))
		fmt.Fprintf(&b, "%s %s%s  %-8s %s\n", settleGlyphs[r.Result], r.Name, pad, r.Result, settledText(r))
		if r.Problem != nil {
			card(&b, r.Problem, r.Place, r.Lines)
		}
	}
	fmt.Fprintf(&b, "%s: %s", strings.ToUpper(string(rep.Result)), settledSum(rep, counts))
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// settledText describes the result of one resource: "in place, 3.1 ms, process restarted: main.go".
func settledText(r api.SettledResource) string {
	if r.Problem != nil {
		return r.Problem.Summary
	}
	if r.Text != "" {
		return r.Text
	}
	parts := []string{r.How}
	if r.TookMs > 0 {
		parts = append(parts, view.Duration(r.TookMs.Duration()))
	}
	for _, s := range starts {
		if n := len(slices.DeleteFunc(slices.Clone(r.Processes), func(p api.SettledProcess) bool { return p.Start != s.start })); n > 0 {
			parts = append(parts, fmt.Sprintf(s.words, words.Count(n, "container")))
		}
	}
	out := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
	if len(r.Files) > 0 {
		out += ": " + words.List(r.Files, "file")
	}
	return out
}

// starts are the ways in which processes have got the newest files, in words.
var starts = []struct {
	start api.ProcessStart
	words string
}{
	{api.ProcessNew, "%s started with it"},
	{api.ProcessRestarted, "process restarted in %s"},
	{api.ProcessKept, "process kept in %s: it must load the files by itself"},
}

// settledSum sums up a report.
func settledSum(rep api.SettleReport, counts map[api.SettleResult]int) string {
	var parts []string
	if rep.Text != "" {
		parts = append(parts, rep.Text)
	}
	for _, r := range []api.SettleResult{api.SettleFailing, api.SettleWaiting, api.SettleUnknown, api.SettleLive} {
		if n := counts[r]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, r))
		}
	}
	if !rep.SavedAt.IsZero() {
		parts = append(parts, "saved at "+rep.SavedAt.Local().Format("15:04:05.000"))
	}
	return strings.Join(parts, ", ")
}

// card prints a problem with its place and the lines that explain it, indented.
func card(b *strings.Builder, p *api.ProblemEvent, place *api.SourcePlace, lines []string) {
	f := answers.Failure{Cause: append(linesOf(p.Cause), linesOf(p.Detail)...), Mend: linesOf(p.Mend), Written: lines}
	if place != nil {
		f.Place = &api.Place{File: near(place.File), Line: place.Line, Column: place.Column}
	}
	for _, l := range f.Body() {
		fmt.Fprintf(b, "    %s\n", l)
	}
}

func linesOf(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimRight(s, "\n"), "\n")
}
