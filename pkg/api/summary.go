package api

import "time"

// Summary says how a session of "hone ci" ended, and how each resource did.
type Summary struct {
	// Result is ok, failed, timeout, tiltfile-error, interrupted, or stopped for a session that "hone stop" has ended.
	Result string `json:"result"`
	// ExitCode is that of hone ci: 0, 1, 124 when the time was up, 5 for a fault of the Tiltfile, 130 when it was interrupted.
	ExitCode int `json:"exitCode"`
	// Failure is why it did not go well, in words.
	Failure string `json:"failure,omitempty"`
	// Tiltfile is an absolute path.
	Tiltfile  string       `json:"tiltfile"`
	StartedAt time.Time    `json:"startedAt"`
	TookMs    Milliseconds `json:"tookMs"`
	// Resources are in the order of the Tiltfile, which comes first itself, under the name "(Tiltfile)"; those that are
	// switched off come last.
	Resources []ResourceSummary `json:"resources"`
	// Missed is how many events the summary could not take into account.
	Missed uint64 `json:"missed,omitempty"`
}

// ResourceSummary is how a resource did.
type ResourceSummary struct {
	Name string `json:"name"`
	// Type is tiltfile, k8s, local or compose.
	Type string `json:"type"`
	// Status is ok, failed, unfinished for what was neither when the session ended, or skipped for what does not count.
	Status string `json:"status"`
	// Skipped is why it does not count: disabled, or manual for one that waits for a trigger.
	Skipped string `json:"skipped,omitempty"`
	// UpdateStatus is none, pending, in_progress, ok or error; RuntimeStatus is unknown, ok, pending, error, not_applicable or
	// none. Both are as of the end.
	UpdateStatus  string `json:"updateStatus"`
	RuntimeStatus string `json:"runtimeStatus"`
	// TookMs is the time from its declaration until it was ready for the first time, or until the end where it never was.
	TookMs Milliseconds `json:"tookMs"`
	// Builds is how many updates were begun, and BuildMs how long they took together.
	Builds  int          `json:"builds"`
	BuildMs Milliseconds `json:"buildMs"`
	// Restarts is how often containers of its pods were restarted.
	Restarts int `json:"restarts"`
	// Waits are what it waited for, in the order in which that began.
	Waits []Wait `json:"waits,omitempty"`
	// Problem is why it has failed, or what keeps it from being finished, where something is wrong.
	Problem *ProblemEvent `json:"problem,omitempty"`
}

// Wait is something that a resource waited for.
type Wait struct {
	// Reason is one of those of HoldEvent, or not-ready for a resource that was updated and not ready yet.
	Reason string `json:"reason"`
	// Text is the same in words.
	Text string `json:"text"`
	// On are the resources that it waited for.
	On []string     `json:"on,omitempty"`
	Ms Milliseconds `json:"ms"`
	// Open is set where that was not over when the session ended.
	Open bool `json:"open,omitempty"`
}
