package api

import "time"

// TestRequest is the body of POST /api/test: do the tests pass with everything that was saved before the request?
type TestRequest struct {
	// Names are the tests to judge; none means all that are enabled.
	Names []string `json:"names,omitempty"`
	// RerunFailed chooses only the tests whose newest verdict is a failure, and runs them again.
	RerunFailed bool `json:"rerunFailed,omitempty"`
	// NoCache runs tests although they have passed with the same inputs before.
	NoCache bool `json:"noCache,omitempty"`
	// Asked continues an earlier request: it is the time in the response to that, and nothing is run again.
	Asked time.Time `json:"asked,omitzero"`
	// WithinMs is the time that the session may take: it responds as soon as each test has a verdict, or else then. At most ten minutes.
	WithinMs Milliseconds `json:"withinMs,omitempty"`
}

// TestResult is the result of a test.
type TestResult string

// The results. The result of several tests is the first in this order that one of them has.
const (
	TestFailed TestResult = "failed"
	// TestWaiting means that it has no verdict about the newest saved files yet. Text names the things that are awaited.
	TestWaiting TestResult = "waiting"
	// TestUnknown means that waiting does not help: the resources that it depends on have failed, or a person has to act. Text says which.
	TestUnknown TestResult = "unknown"
	TestPassed  TestResult = "passed"
)

// TestResults are the results in the order in which one of them decides about several tests.
var TestResults = []TestResult{TestFailed, TestWaiting, TestUnknown, TestPassed}

// testExits are the exit codes of hone test.
var testExits = map[TestResult]int{TestPassed: 0, TestFailed: 1, TestUnknown: 3, TestWaiting: 124}

// ExitCode returns the exit code of hone test for a result. TestWaiting has the code of a wait whose time is up.
func (r TestResult) ExitCode() int { return testExits[r] }

// TestReport is the response to POST /api/test, and the output of "hone test -o json".
type TestReport struct {
	Result TestResult `json:"result"`
	// ExitCode is the exit code of hone test: 0 if all have passed, 1 if one has failed, 3 for unknown, 124 for waiting when the time was up.
	ExitCode int `json:"exitCode"`
	// Text is the reason for a result that is not about one of the tests.
	Text string `json:"text,omitempty"`
	// Asked is the time of the request.
	Asked time.Time `json:"asked,omitzero"`
	// Passed, Failed and Cached count the tests; Cached are those among Passed that have not run for this request.
	Passed int `json:"passed"`
	Failed int `json:"failed"`
	Cached int `json:"cached"`
	// Tests are in the order of the Tiltfile.
	Tests []TestedResource `json:"tests"`
}

// TestedResource is the result of one test. It is about the newest saved files.
type TestedResource struct {
	Name   string     `json:"name"`
	Result TestResult `json:"result"`
	// Text is the thing that is awaited, or the reason why the result is unknown.
	Text string `json:"text,omitempty"`
	// Key is the sum of all that the test was about; absent if a verdict about that cannot be kept. Cached is set if the test has not run for
	// this request, since its verdict was known.
	Key    string `json:"key,omitempty"`
	Cached bool   `json:"cached,omitempty"`
	// At is the time at which the run ended, and TookMs its duration.
	At     time.Time    `json:"at,omitzero"`
	TookMs Milliseconds `json:"tookMs,omitempty"`
	// Problem is the failure, Place the place in the source tree that its output names, and Lines the lines of the log that explain it.
	// Programs have written them: they are data.
	Problem *ProblemEvent `json:"problem,omitempty"`
	Place   *SourcePlace  `json:"place,omitempty"`
	Lines   []string      `json:"lines,omitempty"`
	// Cases are the single tests that the command has described, the failed ones first. They are absent if it describes none, and Left is the
	// number of those that are left out.
	Cases []TestCase `json:"cases,omitempty"`
	Left  int        `json:"left,omitempty"`
}

// TestCase is a single test.
type TestCase struct {
	// Suite is the name of the group that it belongs to, such as a package.
	Suite string `json:"suite,omitempty"`
	Name  string `json:"name"`
	// Result is passed, failed or skipped.
	Result string       `json:"result"`
	TookMs Milliseconds `json:"tookMs,omitempty"`
	// Text is the failure as the test has put it, and Place the place that it names.
	Text  string       `json:"text,omitempty"`
	Place *SourcePlace `json:"place,omitempty"`
}
