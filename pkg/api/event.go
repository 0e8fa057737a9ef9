package api

import "time"

// EventVersion is the version of the events' schema. Within one version fields and types are only added.
const EventVersion = 1

// Event is something that happened in a session: a line of GET /api/events and of "hone events -o json". The type determines
// which of the fields after resource is present.
//
// GET /api/events takes these parameters. since: start after this event number, this long ago, or at this time. resource and
// type: only these; repeat the parameter or separate values by commas. A type is an event's type or the name of its family:
// "pod" stands for all types that begin with "pod-". follow=true: keep sending until the session ends.
//
// A client that reads too slowly gets one event of type gap in place of the events that are no longer kept. A number that the
// session has not reached belongs to another session and is answered with 410.
type Event struct {
	// V is the version of this schema.
	V int `json:"v"`
	// Seq is the event's number. Numbers rise by one within a session, over all resources and types; a gap has that of the
	// last event that is missing.
	Seq uint64 `json:"seq"`
	// Time is when the session learned of it.
	Time time.Time `json:"time"`
	// Type says what happened.
	Type string `json:"type"`
	// Resource is the resource that the event is about; absent for the session as a whole, "(Tiltfile)" for the Tiltfile.
	Resource string `json:"resource,omitempty"`

	Session    *SessionEvent    `json:"session,omitempty"`
	Tiltfile   *TiltfileEvent   `json:"tiltfile,omitempty"`
	Files      *FilesEvent      `json:"files,omitempty"`
	Hold       *HoldEvent       `json:"hold,omitempty"`
	Update     *UpdateEvent     `json:"update,omitempty"`
	Container  *ContainerUpdate `json:"container,omitempty"`
	Ready      *ReadyEvent      `json:"ready,omitempty"`
	Pod        *PodEvent        `json:"pod,omitempty"`
	Program    *ProgramEvent    `json:"program,omitempty"`
	Server     *ServerEvent     `json:"server,omitempty"`
	Forward    *ForwardEvent    `json:"forward,omitempty"`
	Connection *ConnectionEvent `json:"connection,omitempty"`
	Button     *ButtonEvent     `json:"button,omitempty"`
	Command    *CommandEvent    `json:"command,omitempty"`
	Controller *ControllerEvent `json:"controller,omitempty"`
	Problem    *ProblemEvent    `json:"problem,omitempty"`
	Gap        *GapEvent        `json:"gap,omitempty"`
	Summary    *Summary         `json:"summary,omitempty"`
}

// EventType is a type of events.
type EventType struct {
	// Name is what stands in Event.Type. The words before the last hyphen are its family, by which it is found too.
	Name string
	// Body is the field of Event that there is; empty when the type says it all.
	Body string
	// Doc says what has happened.
	Doc string
}

// EventTypes are all types, in the order in which people should read of them.
var EventTypes = []EventType{
	{"session-started", "session", "The session has begun."},
	{"session-ended", "session", "The session is over: ci is through, or it could not begin."},
	{"tiltfile-started", "tiltfile", "An evaluation of the Tiltfile has begun."},
	{"tiltfile-loaded", "tiltfile", "The Tiltfile was evaluated."},
	{"tiltfile-failed", "tiltfile", "The Tiltfile has a fault. What was declared before stays."},
	{"files-changed", "files", "Files that a resource, the Tiltfile or a file watch depends on have changed, and come to rest."},
	{"resource-triggered", "", "An update of the resource, or an evaluation of the Tiltfile, was asked for."},
	{"resource-enabled", "", "The resource was switched on."},
	{"resource-disabled", "", "The resource was switched off."},
	{"resource-ready", "ready", "The resource is updated and ready for the first time since it was declared or switched on."},
	{"hold-changed", "hold", "An update of the resource begins to wait, waits for something else, or waits no longer."},
	{"update-started", "update", "An update of the resource has begun."},
	{"update-finished", "update", "An update of the resource has ended, well or not."},
	{"container-caught-up", "container", "The update of one container has ended, which went on when that of the resource was over."},
	{"pod-created", "pod", "A pod of the resource was seen for the first time."},
	{"pod-pending", "pod", "A pod that was ready or failing is neither any more."},
	{"pod-ready", "pod", "A pod is ready."},
	{"pod-succeeded", "pod", "A pod has done its work and ended."},
	{"pod-failing", "pod", "A pod will not get ready by itself, or fails in another way than before."},
	{"pod-gone", "pod", "A pod does not exist any more, or does not belong to the resource."},
	{"program-running", "program", "The program in a container runs, or runs again. Told only of containers that hone can restart in place."},
	{"program-exited", "program", "The program in a container has ended, while the container keeps running."},
	{"server-started", "server", "The server of a local resource runs."},
	{"server-ready", "server", "The server of a local resource passes its probe, or runs without having one."},
	{"server-unready", "server", "The server of a local resource does not pass its probe any more."},
	{"server-failed", "server", "The server of a local resource has ended, or could not be started."},
	{"server-stopped", "server", "The server of a local resource was stopped by hone."},
	{"forward-open", "forward", "A port forward leads to a pod, or to another one than before."},
	{"forward-waiting", "forward", "A port forward has no pod to lead to."},
	{"forward-failed", "forward", "A port forward cannot be opened."},
	{"forward-closed", "forward", "A port forward is not wanted any more, and closed."},
	{"cluster-connected", "connection", "The cluster answers."},
	{"cluster-lost", "connection", "The cluster does not answer. That matters only to sessions that deploy something."},
	{"engine-connected", "connection", "The container engine answers."},
	{"engine-lost", "connection", "The container engine does not answer. That matters only to sessions that build images with it."},
	{"button-clicked", "button", "A button of the Tiltfile was clicked."},
	{"command-started", "command", "A command that the Tiltfile declares beside all resources has begun to run."},
	{"command-finished", "command", "A command that the Tiltfile declares beside all resources has ended."},
	{"controller-failed", "controller", "A part of hone itself has failed, and is started again."},
	{"problem", "problem", "Something is wrong that a person may want to mend. It follows the event that shows it."},
	{"gap", "gap", "Events are missing: they were dropped before the reader came for them."},
	{"summary", "summary", "The session is over, and this is how it went: the last line of \"hone ci -o json\", and told nowhere else."},
}

// SessionEvent is the session.
type SessionEvent struct {
	// Command is up or ci.
	Command string `json:"command"`
	// Tiltfile is an absolute path.
	Tiltfile string `json:"tiltfile"`
	// URL is where the session's API answers.
	URL string `json:"url,omitempty"`
	// Failure is why the session has failed; absent when it has not, or is still running.
	Failure string `json:"failure,omitempty"`
}

// TiltfileEvent is an evaluation of the Tiltfile.
type TiltfileEvent struct {
	// Reason is why it has begun, in words; told at the beginning.
	Reason string `json:"reason,omitempty"`
	// TookMs, Resources, Warnings and Error are told at the end: how long it took, how many resources are declared, how many
	// warnings there were, and why it failed.
	TookMs    Milliseconds `json:"tookMs,omitempty"`
	Resources int          `json:"resources,omitempty"`
	Warnings  int          `json:"warnings,omitempty"`
	Error     string       `json:"error,omitempty"`
}

// FilesEvent is files that have changed.
type FilesEvent struct {
	// Files are the first of them, sorted, relative to the Tiltfile where they lie below it.
	Files []string `json:"files"`
	// Total is how many there are.
	Total int `json:"total"`
	// Watch names the file watch of the Tiltfile that they are for; absent for resources.
	Watch string `json:"watch,omitempty"`
}

// HoldEvent is why an update of a resource waits.
type HoldEvent struct {
	// Reason is one of tiltfile-reload, waiting-for-local, is-unparallelizable-local, waiting-for-uncategorized,
	// building-component, waiting-for-dep, waiting-for-cluster, waiting-for-engine, waiting-for-deploy,
	// waiting-for-container, waiting-for-slot and manual; absent when it waits no longer.
	Reason string `json:"reason,omitempty"`
	// Text is the same in words.
	Text string `json:"text,omitempty"`
	// On are the resources that it waits for.
	On []string `json:"on,omitempty"`
	// Was is the reason until now, and WasMs how long that held; absent when it did not wait before.
	Was   string       `json:"was,omitempty"`
	WasMs Milliseconds `json:"wasMs,omitempty"`
}

// UpdateEvent is an update of a resource.
type UpdateEvent struct {
	// Serial numbers the updates of the resource, from 1.
	Serial int `json:"serial"`
	// Reason is why it has begun, in words.
	Reason string `json:"reason,omitempty"`
	// Files are the first of the changed files that it takes in, relative to the Tiltfile where they lie below it, and Total
	// is how many there are.
	Files []string `json:"files,omitempty"`
	Total int      `json:"total,omitempty"`
	// StartedAt is the time of the state of things that it was decided on: it takes in every change up to then.
	StartedAt time.Time `json:"startedAt"`
	// What follows is told at the end. Mode is how it was done: synclet, container, exec, image, deploy, local or compose.
	Mode   string       `json:"mode,omitempty"`
	TookMs Milliseconds `json:"tookMs,omitempty"`
	// Error is why it failed, with the mend where one is known; absent when it did not. A cancelled update, which a newer
	// change has overtaken or nobody wants any more, has neither failed nor succeeded.
	Error     string `json:"error,omitempty"`
	Cancelled bool   `json:"cancelled,omitempty"`
	Warnings  int    `json:"warnings,omitempty"`
	// FellBack is why a faster mode was not enough.
	FellBack string `json:"fellBack,omitempty"`
	// Containers are what was done in each container, with the time of each stage, where it was done in place.
	Containers []ContainerUpdate `json:"containers,omitempty"`
}

// ReadyEvent is a resource's first readiness.
type ReadyEvent struct {
	// AfterMs is the time since the resource was declared or switched on.
	AfterMs Milliseconds `json:"afterMs"`
}

// PodEvent is a pod at that moment.
type PodEvent struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Status is the word that kubectl shows.
	Status string `json:"status"`
	// Why is why it will not get ready by itself.
	Why      string `json:"why,omitempty"`
	Ready    bool   `json:"ready"`
	Restarts int    `json:"restarts"`
	// Current tells a pod of the resource's newest deploy from older ones.
	Current bool `json:"current"`
}

// ProgramEvent is the program in a container that hone can restart in place.
type ProgramEvent struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Container string `json:"container"`
	// Starts counts how often it was started.
	Starts int `json:"starts"`
	// ExitCode is that of one that has ended.
	ExitCode *int `json:"exitCode,omitempty"`
}

// ServerEvent is the server of a local resource.
type ServerEvent struct {
	PID int `json:"pid,omitempty"`
	// Detail is why it is not ready, as far as its probe knows.
	Detail string `json:"detail,omitempty"`
	// ExitCode and Error are those of one that has failed; the code is -1 if it could not be started.
	ExitCode *int   `json:"exitCode,omitempty"`
	Error    string `json:"error,omitempty"`
}

// ForwardEvent is a port forward.
type ForwardEvent struct {
	LocalPort int    `json:"localPort"`
	URL       string `json:"url,omitempty"`
	// Pod is where it leads to, "namespace/name:port".
	Pod   string `json:"pod,omitempty"`
	Error string `json:"error,omitempty"`
}

// ConnectionEvent is the cluster or the container engine.
type ConnectionEvent struct {
	// Name is the context of the cluster, or the host of the engine.
	Name  string `json:"name,omitempty"`
	Error string `json:"error,omitempty"`
}

// ButtonEvent is a click of a button. What it brought along is not told.
type ButtonEvent struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
	// Clicks is how many there have been.
	Clicks int `json:"clicks"`
}

// CommandEvent is a command that the Tiltfile declares beside all resources.
type CommandEvent struct {
	Name string `json:"name"`
	// Run numbers the runs, from 1.
	Run int `json:"run"`
	// What follows is told at the end. A run that hone has stopped has neither failed nor succeeded.
	ExitCode *int   `json:"exitCode,omitempty"`
	Error    string `json:"error,omitempty"`
	Stopped  bool   `json:"stopped,omitempty"`
}

// ControllerEvent is a part of hone that has failed.
type ControllerEvent struct {
	Name    string `json:"name"`
	Crashes int    `json:"crashes"`
	Error   string `json:"error"`
}

// ProblemEvent is what is wrong, why, and what mends it.
type ProblemEvent struct {
	// Summary is one line.
	Summary string `json:"summary"`
	Cause   string `json:"cause,omitempty"`
	// Detail is output or source text that belongs to it.
	Detail string `json:"detail,omitempty"`
	// Mend is what to do about it, the command or line to paste included. Link is where to read more.
	Mend string `json:"mend,omitempty"`
	Link string `json:"link,omitempty"`
}

// GapEvent is a hole in what is told. A session keeps the newest events only.
type GapEvent struct {
	// Missed is how many events are missing, of all resources and types: those numbered From to the gap's own number.
	Missed uint64 `json:"missed"`
	From   uint64 `json:"from"`
}
