package api

import "time"

// Settled is the body of the response to POST /api/settle. The session responds once it knows every change that was made before the
// request to the files that it watches, so that what a client reads afterwards takes them into account.
type Settled struct {
	// Known is false if the session cannot say so: files keep changing.
	Known bool `json:"known"`
}

// SettleRequest is the body of POST /api/settle/report: is everything that was saved before the request live, and does it work?
type SettleRequest struct {
	// Resources are the resources to judge; none means all that are enabled.
	Resources []string `json:"resources,omitempty"`
	// WithinMs is the time that the session may take to find out: it responds as soon as it knows, or else then, with the things
	// that are still awaited. At most ten minutes.
	WithinMs Milliseconds `json:"withinMs,omitempty"`
	// WindowMs is the time for which a resource that has just gone live must run without a crash or a new error in its log; by default 1,000. With 0, the log
	// is not read.
	WindowMs *Milliseconds `json:"windowMs,omitempty"`
	// Line is a text, or a regular expression written as /regex/, that a line must contain which one of the resources has logged since the save.
	Line string `json:"line,omitempty"`
}

// SettleResult answers whether saved files are live, and work.
type SettleResult string

// The results. The result of several resources is the first in this order that one of them has.
const (
	// SettleFailing means that the code, or the declaration, of the user fails.
	SettleFailing SettleResult = "failing"
	// SettleWaiting means that it is not known yet. Text names the things that are awaited.
	SettleWaiting SettleResult = "waiting"
	// SettleUnknown means that waiting does not help: the cluster or the engine does not answer, or a person has to act. Text says which.
	SettleUnknown SettleResult = "unknown"
	// SettleLive means that each replica runs everything that was saved, is ready, and has logged no new error.
	SettleLive SettleResult = "live"
	// SettleIdle means that the resource was never started. It does not count.
	SettleIdle SettleResult = "idle"
)

// settleExits are the exit codes of hone settle.
var settleExits = map[SettleResult]int{SettleLive: 0, SettleIdle: 0, SettleFailing: 1, SettleUnknown: 3, SettleWaiting: 124}

// ExitCode returns the exit code of hone settle for a result. SettleWaiting has the code of a wait whose time is up.
func (r SettleResult) ExitCode() int { return settleExits[r] }

// SettleReport is the response to POST /api/settle/report, and the output of "hone settle -o json".
type SettleReport struct {
	Result SettleResult `json:"result"`
	// ExitCode is the exit code of hone settle: 0 for live, 1 for failing, 3 for unknown, 124 for waiting when the time was up.
	ExitCode int `json:"exitCode"`
	// Text is the reason for a result that is not about one of the resources.
	Text string `json:"text,omitempty"`
	// SavedAt is the time of the newest save of these resources; absent if nothing was saved since the session began. "hone logs
	// --since-save" begins there.
	SavedAt time.Time `json:"savedAt,omitzero"`
	// Problem is the failure of the Tiltfile.
	Problem *ProblemEvent `json:"problem,omitempty"`
	Place   *SourcePlace  `json:"place,omitempty"`
	// Line is the line that was asked for, once there is one.
	Line *LogLine `json:"line,omitempty"`
	// Resources are in the order of the Tiltfile.
	Resources []SettledResource `json:"resources"`
}

// SettledResource is the answer about one resource.
type SettledResource struct {
	Name   string       `json:"name"`
	Result SettleResult `json:"result"`
	// Text is the thing that is awaited, or the reason why the answer is unknown.
	Text string `json:"text,omitempty"`
	// How is the way of the newest update: in place, image, local, deploy or command; absent before the first.
	How string `json:"how,omitempty"`
	// Files are the changed files of that update, relative to the Tiltfile where they lie below it.
	Files []string `json:"files,omitempty"`
	// SavedAt is the time of the newest save, LiveAt the time since which it has been live, and TookMs the time from the save of the
	// newest update until it ran.
	SavedAt time.Time    `json:"savedAt,omitzero"`
	LiveAt  time.Time    `json:"liveAt,omitzero"`
	TookMs  Milliseconds `json:"tookMs,omitempty"`
	// Processes are the processes that run it, one for each container or server.
	Processes []SettledProcess `json:"processes,omitempty"`
	// Problem is the failure, Place the place in the source tree that its output names, and Lines the lines of the log that explain it.
	// Programs have written them: they are data.
	Problem *ProblemEvent `json:"problem,omitempty"`
	Place   *SourcePlace  `json:"place,omitempty"`
	Lines   []string      `json:"lines,omitempty"`
}

// SettledProcess is a process that runs a resource.
type SettledProcess struct {
	// Pod and Container are empty for a server on this machine.
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container,omitempty"`
	// Start says how the process has got the newest files: started after it had them (new), restarted after an update in place
	// (restarted), or still the process from before, which has to load them by itself (kept).
	Start     ProcessStart `json:"start"`
	StartedAt time.Time    `json:"startedAt,omitzero"`
}

// ProcessStart says how a process has got the newest files.
type ProcessStart string

// The values of ProcessStart.
const (
	ProcessNew       ProcessStart = "new"
	ProcessRestarted ProcessStart = "restarted"
	ProcessKept      ProcessStart = "kept"
)

// SourcePlace is a place in a source file.
type SourcePlace struct {
	// File is an absolute path. Line and Column count from 1; Column is absent if it is not known.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column,omitempty"`
}
