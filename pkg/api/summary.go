package api

import "time"

// Summary is the result of a session of "hone ci", with the result of each resource.
type Summary struct {
	// Result is ok, failed, timeout, tiltfile-error, interrupted, or stopped for a session that "hone stop" ended.
	Result string `json:"result"`
	// ExitCode is the exit code of hone ci: 0 for success, 1 for a failure, 124 for a timeout, 5 for an error in the
	// Tiltfile, 130 when it was interrupted.
	ExitCode int `json:"exitCode"`
	// Failure is the reason why the session failed, in words.
	Failure string `json:"failure,omitempty"`
	// Tiltfile is an absolute path.
	Tiltfile  string       `json:"tiltfile"`
	StartedAt time.Time    `json:"startedAt"`
	TookMs    Milliseconds `json:"tookMs"`
	// Resources are in the order of the Tiltfile. The Tiltfile itself comes first, under the name "(Tiltfile)". Disabled
	// resources come last.
	Resources []ResourceSummary `json:"resources"`
	// Missed is the number of events that are missing from the summary.
	Missed uint64 `json:"missed,omitempty"`
}

// ResourceSummary is the result of a resource.
type ResourceSummary struct {
	Name string `json:"name"`
	// Type is tiltfile, k8s, local or compose.
	Type string `json:"type"`
	// Status is ok, failed, unfinished for a resource that was neither when the session ended, or skipped for a resource that
	// does not count.
	Status string `json:"status"`
	// Skipped is the reason why the resource does not count: disabled, or manual for a resource that waits for a trigger.
	Skipped string `json:"skipped,omitempty"`
	// UpdateStatus is none, pending, in_progress, ok, error or not_applicable; RuntimeStatus is unknown, ok, pending, error,
	// not_applicable or none. Both are the values at the end of the session.
	UpdateStatus  string `json:"updateStatus"`
	RuntimeStatus string `json:"runtimeStatus"`
	// TookMs is the time from the resource's declaration until it was ready for the first time, or until the end of the
	// session if it never was.
	TookMs Milliseconds `json:"tookMs"`
	// Builds is the number of updates that were started, and BuildMs is their total duration.
	Builds  int          `json:"builds"`
	BuildMs Milliseconds `json:"buildMs"`
	// Restarts is the number of restarts of containers in the resource's pods.
	Restarts int `json:"restarts"`
	// Waits are the reasons why the resource waited, in the order in which the waits began.
	Waits []Wait `json:"waits,omitempty"`
	// Problem is the reason why the resource failed or could not finish, or which of its ports does not work; absent where nothing is
	// wrong.
	Problem *ProblemEvent `json:"problem,omitempty"`
}

// Wait is one reason why a resource waited.
type Wait struct {
	// Reason is one of the reasons of HoldEvent, or not-ready for a resource that was updated but not yet ready.
	Reason string `json:"reason"`
	// Text is the reason in words.
	Text string `json:"text"`
	// On lists the resources that it waited for.
	On []string     `json:"on,omitempty"`
	Ms Milliseconds `json:"ms"`
	// Open is set for a wait that had not ended when the session ended.
	Open bool `json:"open,omitempty"`
}
