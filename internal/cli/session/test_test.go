package session

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/api"
)

var someTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// verdicts is a report with one test for each result.
var verdicts = api.TestReport{Result: api.TestFailed, ExitCode: 1, Passed: 2, Cached: 1, Failed: 2, Tests: []api.TestedResource{
	{Name: "unit", Result: api.TestPassed, Cached: true},
	{Name: "lint", Result: api.TestPassed, TookMs: 1500, At: someTime, Cases: []api.TestCase{{Suite: "s", Name: "a", Result: "passed", TookMs: 3}, {Name: "b", Result: "skipped"}}},
	{Name: "works", Result: api.TestFailed, TookMs: 20, At: someTime, Problem: &api.ProblemEvent{Summary: "exit code 1"}, Cases: []api.TestCase{
		{Suite: "api", Name: "greets <all>", Result: "failed", Text: "want hello\ngot bye", Place: &api.SourcePlace{File: "/src/a_test.go", Line: 7}}, {Name: "c", Result: "passed"}}},
	{Name: "e2e", Result: api.TestFailed, Cached: true, Problem: &api.ProblemEvent{Summary: "exit code 2", Mend: "mend it"}, Place: &api.SourcePlace{File: "/src/e2e.sh", Line: 3}, Lines: []string{"no"}},
	{Name: "slow", Result: api.TestWaiting, Text: "waits for api to run the newest files"},
	{Name: "never", Result: api.TestUnknown, Text: "is paused"},
}}

func TestPrintTests(t *testing.T) {
	var b strings.Builder
	if err := printTests(&b, verdicts); err != nil {
		t.Fatal(err)
	}
	want := `✔ unit   ok, cached
✔ lint   ok, 1.5 s, 2 single tests
✖ works  failed, 20.0 ms, 1 of 2 failed
    ✖ api greets <all>
      at /src/a_test.go:7
      want hello
      got bye
✖ e2e    failed, not run again (--rerun-failed runs it)
    at: /src/e2e.sh:3
    │ no
    what helps: mend it
◌ slow   waiting: waits for api to run the newest files
? never  unknown: is paused
2 ok, 1 of them cached; 2 failed; 1 waiting; 1 unknown
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWriteJUnit(t *testing.T) {
	var b strings.Builder
	if err := writeJUnit(&b, verdicts); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<testsuite name="unit" tests="1" failures="0" errors="0" skipped="0" time="0.000">`,
		`<testcase classname="unit" name="unit" time="0.000"></testcase>`,
		`<testsuite name="lint" tests="2" failures="0" errors="0" skipped="1" time="1.500">`,
		`<testcase classname="api" name="greets &lt;all&gt;" file="/src/a_test.go" line="7" time="0.000">`,
		`<failure message="want hello">want hello&#xA;got bye</failure>`,
		`<failure message="exit code 2">no</failure>`,
		`<error message="is paused"></error>`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in:\n%s", want, b.String())
		}
	}
}
