package api

import "time"

// TicketRequest is the body of POST /api/ticket, which makes an address that lets a browser in. Only clients with the session's
// token, or at its socket, may make tickets. Resource is the resource that the page shows first; it may be empty.
type TicketRequest struct {
	Resource string `json:"resource,omitempty"`
}

// Ticket is the response to a TicketRequest. URL lets one browser in, once, before ExpiresAt.
type Ticket struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Page is an event of GET /api/page, a stream of server-sent events: the session as its web page shows it. The first event has
// everything, and Whole is true. Each further one has what has changed since the one before it, at most one per 50 ms; a client that
// reads slowly gets fewer, with all changes in them. In a session where nothing changes, nothing is sent.
//
// The ID of an event is where a client continues: with the header Last-Event-ID, or the parameter since, the stream begins with what
// has changed since that event. It begins with everything if the ID is from another session, or too old.
//
// The parameters are: since; detail, the name of a resource whose details are sent too; and log, which may be repeated: the names of
// resources, or * for all. With log the stream also has events of type "log", each a LogNews, at most one per 100 ms.
type Page struct {
	Whole bool `json:"whole,omitempty"`
	// Now is the time of the session's machine. All times are of its clock.
	Now     time.Time    `json:"now"`
	Session *PageSession `json:"session,omitempty"`
	// Order are the names of all resources in the order of the Tiltfile, "(Tiltfile)" first; absent if it has not changed.
	Order []string `json:"order,omitempty"`
	// Resources are those that are new or have changed, and Removed those that are gone.
	Resources []PageResource `json:"resources,omitempty"`
	Removed   []string       `json:"removed,omitempty"`
	// Detail is sent at the beginning of each stream that has the parameter detail, and when it changes. It is absent for a resource
	// that does not exist.
	Detail *PageDetail `json:"detail,omitempty"`
}

// LogNews is an event of type "log" of GET /api/page. Lines is how many lines the resources have written since the session began.
type LogNews struct {
	Lines uint64 `json:"lines"`
}

// PageSession is what a page shows of the session itself.
type PageSession struct {
	// Run identifies this run of the session.
	Run     string `json:"run"`
	Version string `json:"version"`
	// Project is the name of the Tiltfile's folder.
	Project   string    `json:"project"`
	Tiltfile  string    `json:"tiltfile"`
	Context   string    `json:"context,omitempty"`
	Namespace string    `json:"namespace,omitempty"`
	StartedAt time.Time `json:"startedAt"`
	// Paused is set while the session is paused, and Ended once it has ended.
	Paused  bool         `json:"paused,omitempty"`
	Ended   bool         `json:"ended,omitempty"`
	Notices []PageNotice `json:"notices,omitempty"`
}

// PageNotice is a problem that belongs to no resource. Severity is error or warning.
type PageNotice struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Cause    string `json:"cause,omitempty"`
	Mend     string `json:"mend,omitempty"`
}

// PageResource is one row. Status is idle, ok, warning, waiting, updating, failed or unknown: the same as the glyph on the screen.
// Type is tiltfile, k8s, compose or local.
type PageResource struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Labels      []string `json:"labels,omitempty"`
	Status      string   `json:"status"`
	TriggerMode string   `json:"triggerMode,omitempty"`
	Disabled    bool     `json:"disabled,omitempty"`
	// Leaving is set while the resource is being torn down.
	Leaving bool `json:"leaving,omitempty"`
	// Current is the running update, and Last the newest completed one.
	Current *PageUpdate `json:"current,omitempty"`
	Last    *PageUpdate `json:"last,omitempty"`
	// Waiting is why the resource is not updated now.
	Waiting *Waiting `json:"waiting,omitempty"`
	// Pending is how many changed files wait for an update.
	Pending int         `json:"pending,omitempty"`
	Runtime PageRuntime `json:"runtime"`
	// Behind is the number of containers in which an update is still running that the others already have.
	Behind    int        `json:"behind,omitempty"`
	Forwards  []Forward  `json:"forwards,omitempty"`
	Endpoints []PageLink `json:"endpoints,omitempty"`
	// Error is the whole text of the error of the update, else of the runtime, else of a forward.
	Error string `json:"error,omitempty"`
}

// PageLink is an address of a resource. Name may be empty.
type PageLink struct {
	URL  string `json:"url"`
	Name string `json:"name,omitempty"`
}

// PageUpdate is an update in a row. Mode is "in place", image, local and so on; empty until it is known. Files are the first changed
// files, of FileCount. Milliseconds is how long it took; an update in place takes from the save until the slowest container.
type PageUpdate struct {
	Serial       int       `json:"serial"`
	Mode         string    `json:"mode,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	Stage        string    `json:"stage,omitempty"`
	Progress     *Progress `json:"progress,omitempty"`
	Files        []string  `json:"files,omitempty"`
	FileCount    int       `json:"fileCount,omitempty"`
	StartedAt    time.Time `json:"startedAt"`
	FinishedAt   time.Time `json:"finishedAt,omitzero"`
	Milliseconds float64   `json:"ms,omitempty"`
	Error        string    `json:"error,omitempty"`
	Cancelled    bool      `json:"cancelled,omitempty"`
	Warnings     int       `json:"warnings,omitempty"`
	FellBack     string    `json:"fellBack,omitempty"`
}

// PageRuntime is what runs. Status is that of Resource.RuntimeStatus. Since is when a running process was started.
type PageRuntime struct {
	Status   string    `json:"status"`
	Text     string    `json:"text,omitempty"`
	Error    string    `json:"error,omitempty"`
	Pods     int       `json:"pods,omitempty"`
	Ready    int       `json:"ready,omitempty"`
	Restarts int       `json:"restarts,omitempty"`
	Since    time.Time `json:"since,omitzero"`
}

// PageDetail is everything else about one resource. Updates are the newest first, the running one included. Files are the changed files
// that wait for an update.
type PageDetail struct {
	Name        string            `json:"name"`
	Updates     []PageBuild       `json:"updates,omitempty"`
	Files       []string          `json:"files,omitempty"`
	Process     *Process          `json:"process,omitempty"`
	Pods        []PagePod         `json:"pods,omitempty"`
	Events      []PageEvent       `json:"events,omitempty"`
	Objects     []string          `json:"objects,omitempty"`
	Definition  []PageDeclaration `json:"definition,omitempty"`
	DependsOn   []string          `json:"dependsOn,omitempty"`
	NeededBy    []string          `json:"neededBy,omitempty"`
	ServeCmd    string            `json:"serveCmd,omitempty"`
	UpdateCmd   string            `json:"updateCmd,omitempty"`
	Description string            `json:"description,omitempty"`
}

// PageBuild is an update with its stages. All files are in Files. Span selects its lines in the log.
type PageBuild struct {
	PageUpdate
	AllFiles []string    `json:"allFiles,omitempty"`
	Stages   []PageStage `json:"stages,omitempty"`
	// Mend is what to do about the error, and Output are the last lines before it.
	Mend   string   `json:"mend,omitempty"`
	Output []string `json:"output,omitempty"`
	Span   string   `json:"span,omitempty"`
	// Containers is the number of containers that were updated in place.
	Containers int `json:"containers,omitempty"`
}

// PageStage is a stage of an update.
type PageStage struct {
	Name         string  `json:"name"`
	Milliseconds float64 `json:"ms"`
}

// PagePod is a pod, or a container of Compose.
type PagePod struct {
	Name       string          `json:"name"`
	Namespace  string          `json:"namespace,omitempty"`
	Status     string          `json:"status"`
	Ready      bool            `json:"ready,omitempty"`
	Current    bool            `json:"current,omitempty"`
	Deleting   bool            `json:"deleting,omitempty"`
	Failing    bool            `json:"failing,omitempty"`
	Why        string          `json:"why,omitempty"`
	Node       string          `json:"node,omitempty"`
	CreatedAt  time.Time       `json:"createdAt,omitzero"`
	Containers []PageContainer `json:"containers,omitempty"`
}

// PageContainer is a container of a pod. Kind is ordinary, init or sidecar; State is waiting, running or terminated. ExitCode is set
// for a terminated container, and LastExitCode if there was a run before.
type PageContainer struct {
	Name         string    `json:"name"`
	Kind         string    `json:"kind"`
	State        string    `json:"state"`
	Reason       string    `json:"reason,omitempty"`
	Message      string    `json:"message,omitempty"`
	Ready        bool      `json:"ready,omitempty"`
	Restarts     int       `json:"restarts,omitempty"`
	ExitCode     *int      `json:"exitCode,omitempty"`
	LastReason   string    `json:"lastReason,omitempty"`
	LastExitCode *int      `json:"lastExitCode,omitempty"`
	Image        string    `json:"image,omitempty"`
	StartedAt    time.Time `json:"startedAt,omitzero"`
}

// PageEvent is an event of Kubernetes about an object of the resource.
type PageEvent struct {
	Warning   bool      `json:"warning,omitempty"`
	Reason    string    `json:"reason"`
	Message   string    `json:"message"`
	Object    string    `json:"object"`
	Count     int       `json:"count"`
	FirstSeen time.Time `json:"firstSeen,omitzero"`
	LastSeen  time.Time `json:"lastSeen"`
}

// PageDeclaration is a call of the Tiltfile that has shaped the resource, with its source.
type PageDeclaration struct {
	Call   string   `json:"call"`
	File   string   `json:"file"`
	Line   int      `json:"line"`
	Source []string `json:"source,omitempty"`
}

// LogWindow is the body of GET /api/logs/window: any part of the log, by position. The lines that a filter matches have the positions
// 0, 1, 2 and so on, which stay the same while the filter is in use. An end that lies before one that was sent earlier begins a new
// count.
//
// The parameters are resource, level, source, span and since, as for GET /api/logs; text, which lines must contain, without regard
// to case, or match if it is written as /regex/; from, the first position; and count, the number of positions, at most 1000. Without
// from, the window is the end of the log.
type LogWindow struct {
	// First is the position before which no lines are stored any more, and End the one after the newest line.
	First int `json:"first"`
	End   int `json:"end"`
	// Lines are the lines of the window. Positions are missing where lines were dropped because of the bounds of the log.
	Lines []LogAt `json:"lines"`
}

// LogAt is a line with its position.
type LogAt struct {
	At int `json:"at"`
	LogLine
}

// LogFound is the body of GET /api/logs/find, which finds a text in a log without hiding the other lines.
//
// The parameters are those of GET /api/logs/window that select lines; find, the text to find, written as parameter text is; from, the
// position to start from, by default the end of the log; and back, true for the match at or before from instead of at or after it.
// Where there is none in that direction, it is the one that is farthest in the other.
type LogFound struct {
	// At is the position of the match among the lines that the filter matches, -1 if there is none.
	At int `json:"at"`
	// Nth is its number among the Count matches, from 1; 0 if there is none.
	Nth   int `json:"nth"`
	Count int `json:"count"`
}
