package model

import (
	"slices"
	"time"
)

// LocalTarget is the part of a resource that runs on this machine.
type LocalTarget struct {
	// Update runs to completion on each update.
	Update Cmd
	// Serve keeps running and is restarted after each update.
	Serve Cmd
	// Down undoes the effects of Update and Serve outside of the cluster. It runs when the resource is taken down.
	Down Cmd
	// AllowParallel lets the update run in parallel with other local updates.
	AllowParallel bool
	Watch         WatchSpec
	Readiness     *Probe
	Links         []Link
	// Test is set if Update is a test: its result is a verdict on what the resource depends on.
	Test *Test
}

// Test describes a test.
type Test struct {
	// Timeout ends a run that takes longer; zero means that it may take any time.
	Timeout time.Duration
	// Results are the absolute paths and patterns of the files in which the command describes single tests, as JUnit's XML.
	Results []string
}

// Verdict is the result of a test.
type Verdict struct {
	// Key is the sum of all that the run was about; empty if that is not known.
	Key string
	// Cached is set if it is the verdict of an earlier run with the same key.
	Cached bool
	// At is the time at which the run ended, and Took its duration.
	At   time.Time
	Took time.Duration
	// Cases are the single tests that the command has described, the failed ones first, and Left is the number of those that are left out.
	Cases []TestCase
	Left  int
}

// Failed returns the single tests that have failed.
func (v *Verdict) Failed() []TestCase {
	n := slices.IndexFunc(v.Cases, func(c TestCase) bool { return c.Result != CaseFailed })
	if n < 0 {
		return v.Cases
	}
	return v.Cases[:n]
}

// Of is the number of single tests.
func (v *Verdict) Of() int { return len(v.Cases) + v.Left }

// CaseResult is the result of a single test.
type CaseResult string

// The results of single tests.
const (
	CasePassed  CaseResult = "passed"
	CaseFailed  CaseResult = "failed"
	CaseSkipped CaseResult = "skipped"
)

// TestCase is a single test, as its command has described it.
type TestCase struct {
	Suite, Name string
	Result      CaseResult
	Took        time.Duration
	// Text is the failure, and File and Line are the place that it names; empty if there is none.
	Text string
	File string
	Line int
}

// Probe checks periodically whether a server is ready. Exactly one of Exec, HTTP and TCP is set.
type Probe struct {
	InitialDelay     time.Duration
	Timeout          time.Duration
	Period           time.Duration
	SuccessThreshold int
	FailureThreshold int
	Exec             *Cmd
	HTTP             *HTTPProbe
	TCP              *TCPProbe
}

// HTTPProbe succeeds on a status from 200 to 399.
type HTTPProbe struct {
	Host   string
	Port   int
	Scheme string
	Path   string
	// Headers are added to the request.
	Headers []HTTPHeader
}

// HTTPHeader is a header of a request.
type HTTPHeader struct{ Name, Value string }

// TCPProbe succeeds when a connection can be opened.
type TCPProbe struct {
	Host string
	Port int
}
