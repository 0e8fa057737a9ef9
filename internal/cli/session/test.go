package session

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/settle"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// testFlags are the flags of hone test.
type testFlags struct {
	target  flags.Session
	request api.TestRequest
	timeout time.Duration
	output  string
}

func newTest(g *command.Global) *cobra.Command {
	var f testFlags
	c := &cobra.Command{
		Use:   "test [NAME…]",
		Short: "Run the tests of the running session, and say whether they pass with everything that was saved",
		Long: `Runs the tests that the Tiltfile declares with test(): the named ones, or all that are enabled. Waits until each has a verdict about
everything that was saved before the command, and prints the verdicts. A test begins once all that it depends on runs the newest saved
files. One that has a verdict about them, or has passed with the same inputs before, is not run again: its verdict is cached.

Exit code 0: all have passed.
Exit code 1: a test has failed. The output has the place, the single tests that failed, and the last lines of the log.
Exit code 3: the answer cannot be known. There is no session; it is paused; or a resource that a test depends on has failed.
Exit code 124: the time is up. The output names the things that are still awaited.`,
		Example: `  hone test
  hone test unit api-works
  hone test --rerun-failed
  hone test --no-cache unit
  hone test -o junit > report.xml`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), g, args) },
	}
	f.target.Add(c)
	c.Flags().BoolVar(&f.request.RerunFailed, "rerun-failed", false, "run the tests again that have failed, and only those")
	c.Flags().BoolVar(&f.request.NoCache, "no-cache", false, "run tests although they have passed with the same inputs before")
	c.Flags().DurationVar(&f.timeout, "timeout", 600*settle.Window, "how long to wait")
	command.AddFormatFlag(c, &f.output, []string{outputJUnit}, api.TestReport{})
	c.ValidArgsFunction = f.target.CompleteResources
	return c
}

const outputJUnit = "junit"

// caseFailed is the result of a single test that has failed.
const caseFailed = string(model.CaseFailed)

func (f *testFlags) run(ctx context.Context, g *command.Global, names []string) (err error) {
	write := writeJUnit
	if f.output != outputJUnit {
		if write, err = command.DocumentWriter(f.output, "test"); err != nil {
			return problem.New(fmt.Sprintf("unknown output %q", f.output), "choose json, yaml or junit, or leave it out: hone test -o junit")
		}
	}
	awaits := func(api.TestReport) {}
	if write == nil {
		awaits = func(rep api.TestReport) { sayAwaited(g.Stderr, rep.Text, testsAwaited(rep)) }
	}
	session, err := f.target.Find(ctx)
	if err != nil {
		return command.WithCode(err, api.TestUnknown.ExitCode())
	}
	f.request.Names = names
	rep, err := session.Test(ctx, f.request, f.timeout, awaits)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return command.WithCode(ended(ctx, session, "test", err), api.TestUnknown.ExitCode())
	}
	page := func(w io.Writer) error { return printTests(w, rep) }
	return conclude(g.Stdout, rep, write, page, outcome{string(rep.Result), rep.ExitCode})
}

// testGlyphs stand before the names.
var testGlyphs = map[api.TestResult]string{api.TestPassed: "✔", api.TestFailed: "✖", api.TestWaiting: "◌", api.TestUnknown: "?"}

// testsAwaited returns the things that a report waits for, a text for each test.
func testsAwaited(rep api.TestReport) (texts []string) {
	for _, t := range rep.Tests {
		if t.Result == api.TestWaiting {
			texts = append(texts, t.Name+" "+t.Text)
		}
	}
	return texts
}

// printTests prints a report: a line for each test, below the line of one that fails the single tests that failed, or its card, and the counts.
func printTests(w io.Writer, rep api.TestReport) error {
	var b strings.Builder
	width := 0
	for _, t := range rep.Tests {
		width = max(width, text.Width(t.Name))
	}
	for _, t := range rep.Tests {
		pad := strings.Repeat(" ", width-text.Width(t.Name))
		fmt.Fprintf(&b, "%s %s%s  %s\n", testGlyphs[t.Result], t.Name, pad, testText(t))
		explained := false
		for _, c := range t.Cases {
			if c.Result == caseFailed {
				printCase(&b, c)
				explained = true
			}
		}
		if t.Problem != nil && !explained {
			card(&b, t.Problem, t.Place, t.Lines)
		}
	}
	b.WriteString(testSum(rep) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// testText describes the verdict of a test: "ok, cached", "failed, 1.2 s, 2 of 14 failed".
func testText(t api.TestedResource) string {
	if t.Result != api.TestPassed && t.Result != api.TestFailed {
		return string(t.Result) + ": " + t.Text
	}
	parts := []string{string(t.Result)}
	if t.Result == api.TestPassed {
		parts[0] = "ok"
	}
	switch {
	case t.Cached && t.Result == api.TestFailed:
		parts = append(parts, "not run again (--rerun-failed runs it)")
	case t.Cached:
		parts = append(parts, "cached")
	case !t.At.IsZero():
		parts = append(parts, view.Duration(t.TookMs.Duration()))
	}
	if n := len(t.Cases) + t.Left; n > 0 {
		failed := len(slices.DeleteFunc(slices.Clone(t.Cases), func(c api.TestCase) bool { return c.Result != caseFailed }))
		if failed > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d failed", failed, n))
		} else {
			parts = append(parts, words.Count(n, "single test"))
		}
	}
	return strings.Join(parts, ", ")
}

// printCase prints a single test that failed, indented.
func printCase(b *strings.Builder, c api.TestCase) {
	fmt.Fprintf(b, "    ✖ %s\n", caseName(c))
	if c.Place != nil {
		fmt.Fprintf(b, "      at %s:%d\n", near(c.Place.File), c.Place.Line)
	}
	for l := range strings.Lines(c.Text) {
		fmt.Fprintf(b, "      %s\n", strings.TrimRight(l, "\n"))
	}
}

func caseName(c api.TestCase) string {
	if c.Suite == "" {
		return c.Name
	}
	return c.Suite + " " + c.Name
}

// testSum sums up a report: "14 ok, 11 of them cached; 1 failed".
func testSum(rep api.TestReport) string {
	if len(rep.Tests) == 0 {
		return "no tests to run"
	}
	parts := []string{words.Passed(rep.Passed, rep.Cached)}
	if rep.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", rep.Failed))
	}
	for _, r := range []api.TestResult{api.TestWaiting, api.TestUnknown} {
		if n := len(slices.DeleteFunc(slices.Clone(rep.Tests), func(t api.TestedResource) bool { return t.Result != r })); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, r))
		}
	}
	if rep.Text != "" {
		parts = append(parts, rep.Text)
	}
	return strings.Join(parts, "; ")
}

// JUnit's XML, as far as continuous integration reads it.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		File    string      `xml:"file,attr,omitempty"`
		Line    int         `xml:"line,attr,omitempty"`
		Time    string      `xml:"time,attr"`
		Failure *junitFault `xml:"failure"`
		Error   *junitFault `xml:"error"`
		Skipped *struct{}   `xml:"skipped"`
	}
	junitFault struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes a report, an api.TestReport, as JUnit's XML: a suite for each test of the Tiltfile.
func writeJUnit(w io.Writer, doc any) error {
	var all junitSuites
	for _, t := range doc.(api.TestReport).Tests {
		all.Suites = append(all.Suites, junitOf(t))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junitOf returns the suite of a test. One that describes no single tests, or fails although none of them does, has a case of its own.
func junitOf(t api.TestedResource) junitSuite {
	s := junitSuite{Name: t.Name, Time: seconds(t.TookMs)}
	for _, c := range t.Cases {
		is := junitCase{Class: c.Suite, Name: c.Name, Time: seconds(c.TookMs)}
		if c.Place != nil {
			is.File, is.Line = c.Place.File, c.Place.Line
		}
		switch c.Result {
		case caseFailed:
			first, _, _ := strings.Cut(c.Text, "\n")
			is.Failure = &junitFault{first, c.Text}
			s.Failures++
		case string(model.CaseSkipped):
			is.Skipped = &struct{}{}
			s.Skipped++
		}
		s.Cases = append(s.Cases, is)
	}
	own := junitCase{Class: t.Name, Name: t.Name, Time: s.Time}
	switch {
	case t.Result == api.TestFailed && s.Failures == 0:
		own.Failure = &junitFault{Text: strings.Join(t.Lines, "\n")}
		if t.Problem != nil {
			own.Failure.Message = t.Problem.Summary
		}
		s.Failures++
	case t.Result == api.TestWaiting, t.Result == api.TestUnknown:
		own.Error = &junitFault{Message: t.Text}
		s.Errors++
	case len(s.Cases) > 0:
		s.Tests = len(s.Cases)
		return s
	}
	s.Cases = append(s.Cases, own)
	s.Tests = len(s.Cases)
	return s
}

func seconds(ms api.Milliseconds) string { return fmt.Sprintf("%.3f", float64(ms)/1000) }
