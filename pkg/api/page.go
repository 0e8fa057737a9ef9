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

// ModeRequest is the body of POST /api/mode, which sets the trigger mode of resources, regardless of the Tiltfile. Mode is auto or
// manual.
type ModeRequest struct {
	ManifestNames []string `json:"manifest_names"`
	Mode          string   `json:"mode"`
}

// DriftRequest is the body of POST /api/restore, which applies the objects of resources again as they are declared, and of POST
// /api/accept, which leaves the fields that others have changed to them. Adopt lets a restore take over objects that others have made
// again.
type DriftRequest struct {
	ManifestNames []string `json:"manifest_names"`
	Adopt         bool     `json:"adopt,omitempty"`
}

// AdoptRequest is the body of POST /api/adopt, which updates resources and lets them take over objects of others that they declare.
type AdoptRequest struct {
	ManifestNames []string `json:"manifest_names"`
}

// PruneRequest is the body of POST /api/prune, which deletes the objects that the Tiltfile no longer declares, even if there are
// many.
type PruneRequest struct{}

// Waits is the body of GET /api/waits: how long saves took until they ran, since the session began. Resources are those with saves, in
// the order of the Tiltfile.
type Waits struct {
	Saves     int             `json:"saves"`
	Median    float64         `json:"medianMs"`
	Worst     float64         `json:"worstMs"`
	Resources []ResourceWaits `json:"resources"`
}

// ResourceWaits are the waits for one resource, in milliseconds. A wait lasts until the save ran in the slowest container, or until
// the deployed objects were ready. The numbers cover the newest 1,000 saves of the resource, and Total is the sum of their waits.
// InPlace counts the updates in place among them, and WorstUpdate is the number of the update that took longest.
type ResourceWaits struct {
	Resource    string  `json:"resource"`
	Saves       int     `json:"saves"`
	InPlace     int     `json:"inPlace"`
	Median      float64 `json:"medianMs"`
	Worst       float64 `json:"worstMs"`
	Total       float64 `json:"totalMs"`
	WorstUpdate int     `json:"worstUpdate"`
}

// Architecture is the body of GET /api/architecture: hone's own parts, how they depend on each other, and how busy they are.
type Architecture struct {
	Parts  []Part       `json:"parts"`
	Tables []StateTable `json:"tables"`
	Edges  []PartEdge   `json:"edges"`
	Loop   LoopNumbers  `json:"loop"`
}

// Part is a subscriber of the loop. Stage is its stage in the order in which the parts start. WakeUps is the number of times that a
// change of a table which it reads has woken it, and Busy is the time that it has worked, in milliseconds.
type Part struct {
	Name      string   `json:"name"`
	Doc       string   `json:"doc"`
	Stage     int      `json:"stage"`
	Externals []string `json:"externals,omitempty"`
	State     string   `json:"state"`
	WakeUps   uint64   `json:"wakeUps"`
	Reads     uint64   `json:"reads"`
	Writes    uint64   `json:"writes"`
	Busy      float64  `json:"busyMs"`
	Crashes   uint64   `json:"crashes,omitempty"`
	LastError string   `json:"lastError,omitempty"`
}

// StateTable is a table of the store, with the number of its entries.
type StateTable struct {
	Name    string `json:"name"`
	Doc     string `json:"doc"`
	Entries int    `json:"entries"`
}

// PartEdge goes from a table to a part that reads it, from a part to a table through an action, or from a part to another. Kind is reads,
// holds, emits, follows, calls or external. Tables have the prefix "table:", and outside systems "external:".
type PartEdge struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Kind   string `json:"kind"`
	Action string `json:"action,omitempty"`
}

// LoopNumbers are the numbers of the loop. Times are in milliseconds.
type LoopNumbers struct {
	Batches uint64        `json:"batches"`
	Actions uint64        `json:"actions"`
	Queued  int           `json:"queued"`
	Busy    float64       `json:"busyMs"`
	Average float64       `json:"averageMs"`
	Last    float64       `json:"lastMs"`
	Slowest float64       `json:"slowestMs"`
	Took    []BatchBucket `json:"took"`
}

// BatchBucket counts the batches that took at most UpTo milliseconds, and longer than the bucket before; 0 for no bound.
type BatchBucket struct {
	UpTo    float64 `json:"upToMs"`
	Batches uint64  `json:"batches"`
}

// Page is an event of GET /api/page, a stream of server-sent events: the session as its web page shows it. The first event has
// everything, and Whole is true. Each further one has the changes since the one before it, at most one per 50 ms; a client that
// reads slowly gets fewer, with all changes in them. In a session where nothing changes, nothing is sent.
//
// A client continues after the last event that it has: with the ID of that event in the header Last-Event-ID, or in the parameter
// since, the stream begins with the changes since that event. It begins with everything if the ID is from another session, or too
// old.
//
// The parameters are: since; detail, the name of a resource whose details are sent too; log, which may be repeated: the names of
// resources, or * for all; and follow: false requests a single event with everything that the client lacks now. With log the stream
// also has events of type "log", each a LogNews, at most one per 100 ms.
type Page struct {
	Whole bool `json:"whole,omitempty"`
	// Now is the time of the session's machine. All times are taken from its clock.
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

// LogNews is an event of type "log" of GET /api/page. Lines is the number of lines that the resources have written since the
// session began.
type LogNews struct {
	Lines uint64 `json:"lines"`
}

// PageSession is the part of a page that is about the session itself.
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
	// Clusters are the clusters of a session that works on several, its own first; absent for any other session.
	Clusters []Cluster `json:"clusters,omitempty"`
	// Paused is set while the session is paused, and Ended once it has ended.
	Paused  bool         `json:"paused,omitempty"`
	Ended   bool         `json:"ended,omitempty"`
	Notices []PageNotice `json:"notices,omitempty"`
	// Arguments are the arguments of the Tiltfile, and Buttons are all buttons that it declares, in its order.
	Arguments []string `json:"arguments,omitempty"`
	Buttons   []Button `json:"buttons,omitempty"`
	// Evaluation counts the evaluations of the Tiltfile; ConfirmRequest takes it.
	Evaluation int `json:"evaluation,omitempty"`
	// Revisions are the last revisions of the project in each of its clusters, its own one first, and the newest one of each first.
	Revisions []Revision `json:"revisions,omitempty"`
	// Past is set for a snapshot: nothing changes, and requests that would change something are refused.
	Past *PagePast `json:"past,omitempty"`
}

// PagePast says of which moment a snapshot is, and which version of hone ran the session.
type PagePast struct {
	At time.Time `json:"at"`
	By string    `json:"by"`
}

// PageNotice is a problem that belongs to no resource. Severity is error or warning. Act is the request with which the page can
// solve it: resume, prune or confirm; empty if there is none.
type PageNotice struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Cause    string `json:"cause,omitempty"`
	Mend     string `json:"mend,omitempty"`
	Act      string `json:"act,omitempty"`
}

// PageResource is one row. Status is idle, ok, warning, waiting, updating, failed or unknown: the same as the glyph on the screen.
// Type is tiltfile, k8s, compose or local.
type PageResource struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Cluster is the name of the cluster that the resource is deployed to, in a session that works on several; otherwise absent.
	Cluster string   `json:"cluster,omitempty"`
	Labels  []string `json:"labels,omitempty"`
	Status  string   `json:"status"`
	// Text describes the resource's activity, or the thing that it lacks; empty while an update runs, and where Last describes it.
	Text        string `json:"text,omitempty"`
	TriggerMode string `json:"triggerMode,omitempty"`
	Disabled    bool   `json:"disabled,omitempty"`
	// Leaving is set while the resource is being torn down.
	Leaving bool `json:"leaving,omitempty"`
	// Current is the running update, and Last the newest completed one.
	Current *PageUpdate `json:"current,omitempty"`
	Last    *PageUpdate `json:"last,omitempty"`
	// Waiting is the reason why the resource is not updated now.
	Waiting *Waiting `json:"waiting,omitempty"`
	// Pending is the number of changed files that wait for an update.
	Pending int         `json:"pending,omitempty"`
	Runtime PageRuntime `json:"runtime"`
	// Behind is the number of containers in which an update is still running that the others already have.
	Behind    int        `json:"behind,omitempty"`
	Forwards  []Forward  `json:"forwards,omitempty"`
	Endpoints []PageLink `json:"endpoints,omitempty"`
	DependsOn []string   `json:"dependsOn,omitempty"`
	// Drift describes the changes that others made to its objects: "changed by kubectl-edit".
	Drift string `json:"drift,omitempty"`
	// Start holds the times of its start; absent before its first update.
	Start *PageStart `json:"start,omitempty"`
	// Relapse is set for a container in a crash loop that runs again at the moment.
	Relapse *PageRelapse `json:"relapse,omitempty"`
	// Error is the whole text of the error of the update, else of the runtime, else of a forward.
	Error string `json:"error,omitempty"`
}

// PageStart holds the times of a resource's start. Began is the start of its first update since it was declared or enabled. Ready
// is the time at which it was first up to date and ready.
type PageStart struct {
	Began time.Time `json:"began"`
	Ready time.Time `json:"ready,omitzero"`
}

// PageRelapse is a container in a crash loop that runs again. Reason explains why its last run ended, for people.
type PageRelapse struct {
	Container string `json:"container"`
	Reason    string `json:"reason"`
	Restarts  int    `json:"restarts"`
}

// PageLink is an address of a resource. Name may be empty.
type PageLink struct {
	URL  string `json:"url"`
	Name string `json:"name,omitempty"`
}

// PageUpdate is an update in a row. Mode is "in place", image, local and so on; empty until it is known. Files are the first
// changed files, of FileCount. Milliseconds is its duration; an update in place takes from the save until the slowest container.
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

// PageRuntime is the state of a resource's pods, containers or process. Status has the values of Resource.RuntimeStatus. Since is
// the time at which a running process was started.
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
	Name    string      `json:"name"`
	Updates []PageBuild `json:"updates,omitempty"`
	// Earlier are the updates of earlier sessions, newest first; each session counts its own.
	Earlier     []PageBuild       `json:"earlier,omitempty"`
	Files       []string          `json:"files,omitempty"`
	Process     *Process          `json:"process,omitempty"`
	Pods        []PagePod         `json:"pods,omitempty"`
	Events      []PageEvent       `json:"events,omitempty"`
	Objects     []PageObject      `json:"objects,omitempty"`
	Images      []PageImage       `json:"images,omitempty"`
	Definition  []PageDeclaration `json:"definition,omitempty"`
	NeededBy    []string          `json:"neededBy,omitempty"`
	ServeCmd    string            `json:"serveCmd,omitempty"`
	UpdateCmd   string            `json:"updateCmd,omitempty"`
	Description string            `json:"description,omitempty"`
	// NoForwards is the reason why no port can be forwarded to it; empty if one can.
	NoForwards string `json:"noForwards,omitempty"`
	// ConfigFiles are the files whose change evaluates the Tiltfile again, and Warnings are the warnings of the last evaluation. Only
	// the Tiltfile has them. Its evaluations are in Updates.
	ConfigFiles []string `json:"configFiles,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
}

// PageObject is an object that the resource has applied. What is set if the object differs from the applied one: changed, deleted
// or made again. Since is the time at which the difference was noticed, and Fields are the fields that differ: From is the value in
// the cluster, To the applied one. Keep is set if the session applies the object again by itself.
type PageObject struct {
	Kind      string        `json:"kind"`
	Name      string        `json:"name"`
	Namespace string        `json:"namespace,omitempty"`
	What      string        `json:"what,omitempty"`
	Reason    string        `json:"reason,omitempty"`
	Since     time.Time     `json:"since,omitzero"`
	Fields    []FieldChange `json:"fields,omitempty"`
	Keep      bool          `json:"keep,omitempty"`
}

// PageImage is an image of the resource, the images that it is built on, and the reference under which it was last deployed.
type PageImage struct {
	Name     string   `json:"name"`
	BuiltOn  []string `json:"builtOn,omitempty"`
	Deployed string   `json:"deployed,omitempty"`
}

// PageBuild is an update with its stages. All files are in Files. Span selects its lines in the log.
type PageBuild struct {
	PageUpdate
	AllFiles []string    `json:"allFiles,omitempty"`
	Stages   []PageStage `json:"stages,omitempty"`
	// Mend tells how to fix the error, and Output holds the last lines before it.
	Mend   string   `json:"mend,omitempty"`
	Output []string `json:"output,omitempty"`
	Span   string   `json:"span,omitempty"`
	// Resources is the number of declared resources; only for evaluations of the Tiltfile.
	Resources int `json:"resources,omitempty"`
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
// The parameters are resource, query, level, source, span, since, after, text, pod and container, as for GET /api/logs; from, the first
// position; and count, the number of positions, at most 1000. Without from, the window is the end of the log.
type LogWindow struct {
	// First is the position before which lines are no longer stored, and End the one after the newest line.
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
// The parameters are the parameters of GET /api/logs/window that select lines, and: find, the text to find, written like the
// parameter text; from, the position at which the search starts, by default the end of the log; and back, true for the match at or
// before from instead of the one at or after it. If there is no match in that direction, the search wraps around, and the result is
// the match that is farthest in the other direction. With seq instead of find, the result is the position of the line with this
// number, or of the next one.
type LogFound struct {
	// At is the position of the match among the lines that the filter matches, -1 if there is none.
	At int `json:"at"`
	// Nth is its number among the Count matches, from 1; 0 if there is none.
	Nth   int `json:"nth"`
	Count int `json:"count"`
}
