package api

import "time"

// EventVersion is the version of the events' schema. Within one version fields and types are only added.
const EventVersion = 1

// Event is something that happened in a session: one line of GET /api/events and of "hone events -o json". The type
// determines which of the fields after resource is present.
//
// GET /api/events takes these parameters. since: start after this event number, this long ago, or at this time. resource and
// type: return only matching events; repeat the parameter or separate values with commas. A type is an event's type or the
// name of its family: "pod" stands for all types that begin with "pod-". follow=true: keep sending until the session ends.
//
// A client that reads too slowly receives one event of type gap instead of the events that are no longer kept. A number that
// the session has not reached belongs to another session; the response is 410.
type Event struct {
	// V is the version of this schema.
	V int `json:"v"`
	// Seq is the event's number. Numbers increase by one within a session, across all resources and types. A gap has the
	// number of the last missing event.
	Seq uint64 `json:"seq"`
	// Time is the time at which the session observed the event.
	Time time.Time `json:"time"`
	// Type is the type of the event, such as update-started.
	Type string `json:"type"`
	// Resource is the resource that the event is about: "(Tiltfile)" for the Tiltfile, absent for the session as a whole.
	Resource string `json:"resource,omitempty"`

	Session    *SessionEvent    `json:"session,omitempty"`
	Tiltfile   *TiltfileEvent   `json:"tiltfile,omitempty"`
	Files      *FilesEvent      `json:"files,omitempty"`
	Hold       *HoldEvent       `json:"hold,omitempty"`
	Update     *UpdateEvent     `json:"update,omitempty"`
	Container  *ContainerUpdate `json:"container,omitempty"`
	Ready      *ReadyEvent      `json:"ready,omitempty"`
	Restart    *RestartEvent    `json:"restart,omitempty"`
	Pod        *PodEvent        `json:"pod,omitempty"`
	Pull       *PullEvent       `json:"pull,omitempty"`
	Program    *ProgramEvent    `json:"program,omitempty"`
	Server     *ServerEvent     `json:"server,omitempty"`
	Forward    *ForwardEvent    `json:"forward,omitempty"`
	Connection *ConnectionEvent `json:"connection,omitempty"`
	Button     *ButtonEvent     `json:"button,omitempty"`
	Command    *CommandEvent    `json:"command,omitempty"`
	Controller *ControllerEvent `json:"controller,omitempty"`
	Request    *RequestEvent    `json:"request,omitempty"`
	Problem    *ProblemEvent    `json:"problem,omitempty"`
	Gap        *GapEvent        `json:"gap,omitempty"`
	Summary    *Summary         `json:"summary,omitempty"`
}

// EventType describes one type of event.
type EventType struct {
	// Name is the value of Event.Type. The part before the last hyphen is the family, which can also be used to filter
	// events.
	Name string
	// Body is the JSON name of the field of Event that holds the details; empty for types without details.
	Body string
	// Doc describes the events of this type.
	Doc string
}

// EventTypes lists all types, in the order in which the documentation presents them.
var EventTypes = []EventType{
	{"session-started", "session", "The session has started."},
	{"session-ended", "session", "The session has ended: hone ci has finished, or the session could not start."},
	{"session-paused", "session", "The user has paused the session: updates start only on request."},
	{"session-resumed", "session", "The user has resumed the session: updates start on their own again."},
	{"tiltfile-started", "tiltfile", "An evaluation of the Tiltfile has started."},
	{"tiltfile-loaded", "tiltfile", "The Tiltfile was evaluated."},
	{"tiltfile-failed", "tiltfile", "The evaluation failed: the Tiltfile has an error. Earlier declarations stay in effect."},
	{"files-changed", "files", "Files that a resource, the Tiltfile or a file watch depends on have changed, and the changes have settled."},
	{"resource-triggered", "", "The user requested an update of the resource, or an evaluation of the Tiltfile."},
	{"resource-enabled", "", "The resource was enabled."},
	{"resource-disabled", "", "The resource was disabled."},
	{"resource-ready", "ready", "The resource is up to date and ready for the first time since it was declared or enabled."},
	{"hold-changed", "hold", "An update of the resource starts to wait, waits for something else, or no longer waits."},
	{"update-started", "update", "An update of the resource has started."},
	{"update-finished", "update", "An update of the resource has ended, successfully or not."},
	{"container-caught-up", "container", "The update of a container that was behind has ended, after the end of the resource's update."},
	{"restart-requested", "restart", "The user requested a restart of what the resource runs."},
	{"restart-finished", "restart", "A restart that the user requested has ended, successfully or not."},
	{"pod-created", "pod", "A pod of the resource was seen for the first time."},
	{"pod-pending", "pod", "A pod that was ready or failing is now neither."},
	{"pod-ready", "pod", "A pod is ready."},
	{"pod-succeeded", "pod", "A pod has run to completion."},
	{"pod-failing", "pod", "A pod will not become ready on its own, or fails for a different reason than before."},
	{"pod-gone", "pod", "A pod no longer exists, or no longer belongs to the resource."},
	{"image-pulled", "pull", "A node has pulled an image for a pod of the resource."},
	{"program-running", "program", "The program in a container is running, or running again. Reported only for containers that hone can restart in place."},
	{"program-exited", "program", "The program in a container has exited, while the container keeps running."},
	{"server-started", "server", "The server of a local resource is running."},
	{"server-ready", "server", "The server of a local resource passes its probe, or is running and has no probe."},
	{"server-unready", "server", "The server of a local resource no longer passes its probe."},
	{"server-failed", "server", "The server of a local resource has exited, or could not be started."},
	{"server-stopped", "server", "hone has stopped the server of a local resource."},
	{"forward-open", "forward", "A port forward leads to a pod, or to a different pod than before."},
	{"forward-waiting", "forward", "A port forward has no pod to connect to."},
	{"forward-failed", "forward", "A port forward could not be opened."},
	{"forward-closed", "forward", "A port forward is no longer needed and has been closed."},
	{"cluster-connected", "connection", "The cluster responds."},
	{"cluster-lost", "connection", "The cluster does not respond. This affects only sessions that deploy to it."},
	{"engine-connected", "connection", "The container engine responds."},
	{"engine-lost", "connection", "The container engine does not respond. This affects only sessions that build images with it."},
	{"button-clicked", "button", "A button of the Tiltfile was clicked."},
	{"command-started", "command", "A command that the Tiltfile declares outside of any resource has started."},
	{"command-finished", "command", "A command that the Tiltfile declares outside of any resource has ended."},
	{"controller-failed", "controller", "An internal component of hone has failed and is being restarted."},
	{"request-made", "request", "A client of the session's API requested a change. The events that follow are its consequences."},
	{"problem", "problem", "A problem that the user may want to fix. It follows the event that revealed it."},
	{"gap", "gap", "Events are missing: they were dropped before the client read them."},
	{"summary", "summary", "The result of the session: the last line of \"hone ci -o json\". It is sent nowhere else."},
}

// SessionEvent describes the session.
type SessionEvent struct {
	// Command is up or ci.
	Command string `json:"command"`
	// Tiltfile is an absolute path.
	Tiltfile string `json:"tiltfile"`
	// URL is the address of the session's API.
	URL string `json:"url,omitempty"`
	// Failure is the reason why the session failed; absent when it succeeded or is still running.
	Failure string `json:"failure,omitempty"`
}

// TiltfileEvent describes an evaluation of the Tiltfile.
type TiltfileEvent struct {
	// Reason explains why the evaluation was started, in words; present in the first event only.
	Reason string `json:"reason,omitempty"`
	// TookMs, Resources, Warnings and Error are present at the end of the evaluation: its duration, the number of declared
	// resources, the number of warnings, and the reason for a failure.
	TookMs    Milliseconds `json:"tookMs,omitempty"`
	Resources int          `json:"resources,omitempty"`
	Warnings  int          `json:"warnings,omitempty"`
	Error     string       `json:"error,omitempty"`
}

// PullEvent describes the pull of an image by a node.
type PullEvent struct {
	Pod   string `json:"pod"`
	Image string `json:"image"`
	// TookMs is the time that the node needed, up to the time of the event.
	TookMs Milliseconds `json:"tookMs"`
}

// FilesEvent lists files that have changed.
type FilesEvent struct {
	// Files are the first of the changed files, sorted. Paths below the Tiltfile's folder are relative to it.
	Files []string `json:"files"`
	// Total is the number of changed files.
	Total int `json:"total"`
	// Watch is the name of the file watch that the files belong to; absent for resources.
	Watch string `json:"watch,omitempty"`
}

// HoldEvent describes why an update of a resource waits.
type HoldEvent struct {
	// Reason is one of tiltfile-reload, waiting-for-local, is-unparallelizable-local, waiting-for-uncategorized,
	// building-component, waiting-for-dep, waiting-for-newest, waiting-for-cluster, waiting-for-engine, waiting-for-deploy,
	// waiting-for-container, waiting-for-slot, manual, paused, waiting-for-turn, waiting-for-confirmation and
	// pausing-in-loop; absent when the update no longer waits.
	Reason string `json:"reason,omitempty"`
	// Text is the reason in words.
	Text string `json:"text,omitempty"`
	// On lists the resources that it waits for.
	On []string `json:"on,omitempty"`
	// Was is the previous reason, and WasMs how long it applied; absent when the update was not waiting before.
	Was   string       `json:"was,omitempty"`
	WasMs Milliseconds `json:"wasMs,omitempty"`
}

// UpdateEvent describes an update of a resource.
type UpdateEvent struct {
	// Serial numbers the updates of the resource, from 1.
	Serial int `json:"serial"`
	// Reason explains why the update was started, in words.
	Reason string `json:"reason,omitempty"`
	// Files are the first of the changed files that the update includes, and Total is the number of such files. Paths below
	// the Tiltfile's folder are relative to it.
	Files []string `json:"files,omitempty"`
	Total int      `json:"total,omitempty"`
	// StartedAt is the time of the snapshot that the update is based on: it includes every change up to then.
	StartedAt time.Time `json:"startedAt"`
	// BuildOnly is set if it builds images and deploys nothing, while the resource waits for others.
	BuildOnly bool `json:"buildOnly,omitempty"`
	// Mode is the way in which the update was done: synclet, container, exec, image, deploy, local or compose. Mode and all fields
	// after it are present only at the end of the update.
	Mode   string       `json:"mode,omitempty"`
	TookMs Milliseconds `json:"tookMs,omitempty"`
	// Error is the reason why the update failed, with the fix where one is known; absent when it did not fail. A cancelled update was
	// superseded by a newer change or is no longer needed; it has neither failed nor succeeded.
	Error     string `json:"error,omitempty"`
	Cancelled bool   `json:"cancelled,omitempty"`
	Warnings  int    `json:"warnings,omitempty"`
	// FellBack is the reason why a faster mode could not be used.
	FellBack string `json:"fellBack,omitempty"`
	// Containers holds the result for each container of an in-place update, with the time of each stage.
	Containers []ContainerUpdate `json:"containers,omitempty"`
	// Steps are the steps of an update that is not in place; the last one of a failed update is the one that failed.
	Steps []UpdateStep `json:"steps,omitempty"`
	// LayersAhead are the transfers of layers to the cluster beside the steps.
	LayersAhead []LayersAhead `json:"layersAhead,omitempty"`
}

// UpdateStep is a step of an update that is not in place.
type UpdateStep struct {
	// Kind is build, push, apply, start, run and so on.
	Kind string `json:"kind"`
	// Image is the image that the step is about; absent for the others.
	Image  string       `json:"image,omitempty"`
	TookMs Milliseconds `json:"tookMs"`
}

// LayersAhead is a transfer of layers of the last version of an image, or of its base, while the image is built.
type LayersAhead struct {
	Image string `json:"image"`
	// FromMs is the time since the start of the update. TookMs ends with the update at the latest.
	FromMs Milliseconds `json:"fromMs"`
	TookMs Milliseconds `json:"tookMs"`
}

// ReadyEvent describes the first time that a resource is ready.
type ReadyEvent struct {
	// AfterMs is the time since the resource was declared or enabled.
	AfterMs Milliseconds `json:"afterMs"`
}

// RestartEvent describes a restart that the user requested.
type RestartEvent struct {
	// Pods is true if pods are replaced; otherwise processes are restarted where they run.
	Pods bool `json:"pods"`
	// Done lists the restarted pods or processes, in words. Error is the reason why something could not be restarted. Both are present
	// only at the end.
	Done  []string `json:"done,omitempty"`
	Error string   `json:"error,omitempty"`
}

// PodEvent describes a pod at the time of the event.
type PodEvent struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Status is the status that kubectl shows.
	Status string `json:"status"`
	// Why is the reason why the pod will not become ready on its own.
	Why      string `json:"why,omitempty"`
	Ready    bool   `json:"ready"`
	Restarts int    `json:"restarts"`
	// Current is true for a pod of the resource's newest deploy, false for older pods.
	Current bool `json:"current"`
}

// ProgramEvent describes the program in a container that hone can restart in place.
type ProgramEvent struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Container string `json:"container"`
	// Starts is the number of times the program was started.
	Starts int `json:"starts"`
	// ExitCode is the exit code of a program that has exited.
	ExitCode *int `json:"exitCode,omitempty"`
}

// ServerEvent describes the server of a local resource.
type ServerEvent struct {
	PID int `json:"pid,omitempty"`
	// Detail is the reason why the server is not ready, as reported by its probe.
	Detail string `json:"detail,omitempty"`
	// ExitCode and Error are set for a server that has failed. ExitCode is -1 if the server could not be started.
	ExitCode *int   `json:"exitCode,omitempty"`
	Error    string `json:"error,omitempty"`
}

// ForwardEvent describes a port forward.
type ForwardEvent struct {
	LocalPort int    `json:"localPort"`
	URL       string `json:"url,omitempty"`
	// Pod is the destination, "namespace/name:port".
	Pod   string `json:"pod,omitempty"`
	Error string `json:"error,omitempty"`
}

// ConnectionEvent describes the connection to the cluster or the container engine.
type ConnectionEvent struct {
	// Name is the context of the cluster, or the host of the engine.
	Name  string `json:"name,omitempty"`
	Error string `json:"error,omitempty"`
}

// ButtonEvent describes a click on a button. The values of the inputs are not included.
type ButtonEvent struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
	// Clicks is the number of clicks so far.
	Clicks int `json:"clicks"`
}

// CommandEvent describes a command that the Tiltfile declares outside of any resource.
type CommandEvent struct {
	Name string `json:"name"`
	// Run numbers the runs, from 1.
	Run int `json:"run"`
	// ExitCode and all fields after it are present only at the end of the run. A run that hone stopped has neither failed nor
	// succeeded.
	ExitCode *int   `json:"exitCode,omitempty"`
	Error    string `json:"error,omitempty"`
	Stopped  bool   `json:"stopped,omitempty"`
}

// ControllerEvent describes an internal component of hone that has failed.
type ControllerEvent struct {
	Name    string `json:"name"`
	Crashes int    `json:"crashes"`
	Error   string `json:"error"`
}

// RequestEvent describes a request of a client of the session's API.
type RequestEvent struct {
	// By is the name of the client's token, "page" for the web page, or "owner" for the user's other programs.
	By string `json:"by"`
	// Request is the last part of the request's path, such as trigger, or the method and the path of an object.
	Request   string   `json:"request"`
	Resources []string `json:"resources,omitempty"`
}

// ProblemEvent describes a problem, its cause and its fix.
type ProblemEvent struct {
	// Summary is the problem in one line.
	Summary string `json:"summary"`
	Cause   string `json:"cause,omitempty"`
	// Detail is the related output or source text.
	Detail string `json:"detail,omitempty"`
	// Mend is the fix, including the command or line to paste. Link is the address of a page with more about it.
	Mend string `json:"mend,omitempty"`
	Link string `json:"link,omitempty"`
}

// GapEvent describes a gap in the sequence of events. A session keeps only the newest events.
type GapEvent struct {
	// Missed is the number of missing events, across all resources and types. They are numbered From to the gap's own number.
	Missed uint64 `json:"missed"`
	From   uint64 `json:"from"`
}
