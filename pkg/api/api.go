// Package api defines the JSON types of the session's HTTP API, for scripts and other programs. New fields may be added;
// existing fields keep their names and meanings.
package api

import "time"

// TriggerRequest is the body of POST /api/trigger. The field name is the one that scripts for Tilt use.
type TriggerRequest struct {
	ManifestNames []string `json:"manifest_names"`
	// NoCache requests updates from scratch: images are built without a cache, and all pods are replaced.
	NoCache bool `json:"no_cache,omitempty"`
}

// RestartRequest is the body of POST /api/restart, which restarts the pods or the processes of resources.
type RestartRequest struct {
	ManifestNames []string `json:"manifest_names"`
	// Pods replaces pods; otherwise processes are restarted where they run.
	Pods bool `json:"pods,omitempty"`
}

// PauseRequest is the body of POST /api/pause. While a session is paused, updates begin only on request.
type PauseRequest struct {
	// Paused is true to pause the session, and false to resume it.
	Paused bool `json:"paused"`
}

// PauseResult is the response to a PauseRequest. Changed is false if the session was already in the requested state. Waiting lists
// the work that the paused session has held back so far.
type PauseResult struct {
	Changed bool   `json:"changed"`
	Waiting Paused `json:"waiting"`
}

// Paused lists the work that a paused session holds back.
type Paused struct {
	Since time.Time `json:"since,omitzero"`
	// Resources are the resources whose updates wait, and Files is the number of their changed files.
	Resources []string `json:"resources"`
	Files     int      `json:"files"`
	// TiltfileFiles is the number of changed files of the Tiltfile.
	TiltfileFiles int `json:"tiltfileFiles"`
}

// ForwardRequest is the body of POST /api/forwards, which adds or removes a port forward of a running session, or changes
// its local port: then both Remove and Add are set.
type ForwardRequest struct {
	ManifestName string `json:"manifest_name"`
	// Remove is the address that the forward to remove listens on: "8080" or "host:8080".
	Remove string `json:"remove,omitempty"`
	// Add is the forward to add: "8080", "8080:80" or "host:8080:80". With Remove it is only the new local port, "8081".
	Add string `json:"add,omitempty"`
}

// Failure is the body of every response that is not a success.
type Failure struct {
	Error string `json:"error"`
	// Mend tells how to fix the error; absent when unknown.
	Mend string `json:"mend,omitempty"`
}

// View is the body of GET /api/view: the whole session at one moment.
type View struct {
	Version       string    `json:"version"`
	Tiltfile      string    `json:"tiltfile"`
	Context       string    `json:"context,omitempty"`
	Namespace     string    `json:"namespace,omitempty"`
	StartedAt     time.Time `json:"startedAt"`
	TiltfileError string    `json:"tiltfileError,omitempty"`
	ClusterError  string    `json:"clusterError,omitempty"`
	EngineError   string    `json:"engineError,omitempty"`
	// Clusters are the clusters of a session that works on several, its own first; absent for any other session. Context, Namespace and
	// ClusterError belong to its own.
	Clusters []Cluster `json:"clusters,omitempty"`
	// Paused is set while the user has paused the session.
	Paused *Paused `json:"paused,omitempty"`
	// WatchError is the reason why files cannot be watched properly; absent when they can.
	WatchError string     `json:"watchError,omitempty"`
	Resources  []Resource `json:"resources"`
	Buttons    []Button   `json:"buttons"`
	Commands   []Command  `json:"commands"`
	// Revisions are the last revisions of the project in each of its clusters, its own one first, and the newest one of each first, as far as
	// the session has read and written the ledgers.
	Revisions   []Revision   `json:"revisions"`
	Subscribers []Subscriber `json:"subscribers"`
}

// Cluster is a Kubernetes cluster of a session that works on several.
type Cluster struct {
	// Name is the name of the Tiltfile, or the context.
	Name      string `json:"name"`
	Context   string `json:"context"`
	Namespace string `json:"namespace,omitempty"`
	Connected bool   `json:"connected"`
	// Needed is set if a resource that is not disabled is deployed to it.
	Needed bool `json:"needed"`
	// Starting is set while it does not answer yet and reports that it may soon.
	Starting bool `json:"starting,omitempty"`
	// Error is the reason why it does not answer.
	Error string `json:"error,omitempty"`
}

// Subscriber is one of hone's internal components. State is running, backing off or done.
type Subscriber struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Crashes int    `json:"crashes"`
	Error   string `json:"error,omitempty"`
}

// Resource is one resource. Type is k8s, local or compose. Status is idle, ok, warning, waiting, updating, failed or unknown: the same
// as the glyph on the screen; Error is the whole text of the error of the update, else of the runtime, else of a port. UpdateStatus is
// none, pending, in_progress, ok, error or not_applicable; RuntimeStatus is unknown, ok, pending, error, not_applicable or none.
// Disabled resources come last in a View; they have neither an update nor a runtime.
type Resource struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Cluster is the name of the declared cluster that it is deployed to; absent for the session's own.
	Cluster       string   `json:"cluster,omitempty"`
	Labels        []string `json:"labels,omitempty"`
	TriggerMode   string   `json:"triggerMode"`
	Phase         string   `json:"phase"`
	Disabled      bool     `json:"disabled,omitempty"`
	Status        string   `json:"status"`
	Error         string   `json:"error,omitempty"`
	UpdateStatus  string   `json:"updateStatus"`
	RuntimeStatus string   `json:"runtimeStatus"`
	RuntimeText   string   `json:"runtimeText,omitempty"`
	RuntimeError  string   `json:"runtimeError,omitempty"`
	PendingFiles  []string `json:"pendingFiles,omitempty"`
	Waiting       *Waiting `json:"waiting,omitempty"`
	CurrentBuild  *Build   `json:"currentBuild,omitempty"`
	BuildHistory  []Build  `json:"buildHistory,omitempty"`
	// EarlierBuilds are the updates of earlier sessions, newest first; each session counts its own.
	EarlierBuilds []Build  `json:"earlierBuilds,omitempty"`
	Lag           *Lag     `json:"lag,omitempty"`
	Process       *Process `json:"process,omitempty"`
	// Restart is the newest restart that the user requested; absent if there was none.
	Restart      *Restart  `json:"restart,omitempty"`
	Pods         []Pod     `json:"pods,omitempty"`
	PortForwards []Forward `json:"portForwards,omitempty"`
	ServiceURLs  []string  `json:"serviceUrls,omitempty"`
	Synclets     []Synclet `json:"synclets,omitempty"`
}

// Restart is a restart of a resource's pods or processes. FinishedAt is absent while it runs. Done lists the restarted pods or
// processes, in words; Error is the reason why something could not be restarted.
type Restart struct {
	Pods        bool      `json:"pods"`
	RequestedAt time.Time `json:"requestedAt"`
	FinishedAt  time.Time `json:"finishedAt,omitzero"`
	Done        []string  `json:"done,omitempty"`
	Error       string    `json:"error,omitempty"`
}

// Waiting is the reason why a resource is not updated now, and the resources that it waits for.
type Waiting struct {
	Reason string   `json:"reason"`
	On     []string `json:"on,omitempty"`
	Text   string   `json:"text"`
}

// Build is one update of a resource. BuildHistory lists the newest first.
type Build struct {
	Serial     int       `json:"serial"`
	Mode       string    `json:"mode,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Files      []string  `json:"files,omitempty"`
	Stage      string    `json:"stage,omitempty"`
	Progress   *Progress `json:"progress,omitempty"`
	StartedAt  time.Time `json:"startedAt"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	Error      string    `json:"error,omitempty"`
	Cancelled  bool      `json:"cancelled,omitempty"`
	FellBack   string    `json:"fellBack,omitempty"`
	// Containers holds the result for each container of an in-place update.
	Containers []ContainerUpdate `json:"containers,omitempty"`
}

// Progress is the progress of the current stage of a running update. Kind is build, push, apply, start or run. Image is the image
// that is built or pushed, number Nth of Images. Step is the number of steps of its Dockerfile that have begun, and Steps is the
// number of all of them; both are absent while they are unknown, and for custom_build. Percent is the percentage of the image that
// has been pushed, if that is known. Waits is the reason why the stage pauses, and Since is the beginning of that pause, where it is
// known.
type Progress struct {
	Kind    string    `json:"kind"`
	Image   string    `json:"image,omitempty"`
	Nth     int       `json:"nth,omitempty"`
	Images  int       `json:"images,omitempty"`
	Step    int       `json:"step,omitempty"`
	Steps   int       `json:"steps,omitempty"`
	Percent int       `json:"percent,omitempty"`
	Waits   string    `json:"waits,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// Process is the server of a local resource. State is starting, running, stopping, failed or stopped. Detail is the reason why a
// running server is not ready. ExitCode is set once the server has failed; it is -1 if the server could not be started.
type Process struct {
	State     string    `json:"state"`
	PID       int       `json:"pid,omitempty"`
	Ready     bool      `json:"ready"`
	Detail    string    `json:"detail,omitempty"`
	ExitCode  *int      `json:"exitCode,omitempty"`
	StartedAt time.Time `json:"startedAt"`
}

// Pod is a pod of a resource. Current is true for pods of the newest deploy.
type Pod struct {
	Name      string    `json:"name"`
	Namespace string    `json:"namespace"`
	Status    string    `json:"status"`
	Ready     bool      `json:"ready"`
	Current   bool      `json:"current"`
	Restarts  int       `json:"restarts"`
	CreatedAt time.Time `json:"createdAt"`
}

// Synclet is the program that hone runs in a container to receive files. State is starting, ready, broken or failed. Way is
// how the synclet got into the container; Passed is the reason why the ways that were tried before it did not work.
type Synclet struct {
	Pod       string `json:"pod"`
	Container string `json:"container"`
	State     string `json:"state"`
	Way       string `json:"way,omitempty"`
	Passed    string `json:"passed,omitempty"`
	Error     string `json:"error,omitempty"`
}

// Forward is a port forward. State is waiting, ready, failed, or unknown while its destination does not answer. Address is the
// local address, as it is declared: "8080" or "host:8080"; absent for ports that Compose publishes. Added is set for a forward that
// was added in this session.
type Forward struct {
	LocalPort int    `json:"localPort"`
	Address   string `json:"address,omitempty"`
	Added     bool   `json:"added,omitempty"`
	URL       string `json:"url"`
	Pod       string `json:"pod,omitempty"`
	State     string `json:"state"`
	Error     string `json:"error,omitempty"`
}
