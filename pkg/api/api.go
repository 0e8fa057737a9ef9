// Package api defines the JSON types of the session's HTTP API, for scripts and other programs. New fields may be added;
// existing fields keep their names and meanings.
package api

import "time"

// TriggerRequest is the body of POST /api/trigger. The field name is the one that scripts for Tilt use.
type TriggerRequest struct {
	ManifestNames []string `json:"manifest_names"`
}

// Failure is the body of every response that is not a success.
type Failure struct {
	Error string `json:"error"`
	// Mend is what to do about the error; absent when unknown.
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
	// WatchError is why files cannot be watched properly; absent when they can.
	WatchError  string       `json:"watchError,omitempty"`
	Resources   []Resource   `json:"resources"`
	Buttons     []Button     `json:"buttons"`
	Commands    []Command    `json:"commands"`
	Subscribers []Subscriber `json:"subscribers"`
}

// Subscriber is one of hone's internal components. State is running, backing off or done.
type Subscriber struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Crashes int    `json:"crashes"`
	Error   string `json:"error,omitempty"`
}

// Resource is one resource. Type is k8s, local or compose; UpdateStatus is none, pending, in_progress, ok or error;
// RuntimeStatus is unknown, ok, pending, error, not_applicable or none. Disabled resources come last in a View; they have
// neither an update nor a runtime.
type Resource struct {
	Name          string    `json:"name"`
	Type          string    `json:"type"`
	Labels        []string  `json:"labels,omitempty"`
	TriggerMode   string    `json:"triggerMode"`
	Phase         string    `json:"phase"`
	Disabled      bool      `json:"disabled,omitempty"`
	UpdateStatus  string    `json:"updateStatus"`
	RuntimeStatus string    `json:"runtimeStatus"`
	RuntimeText   string    `json:"runtimeText,omitempty"`
	RuntimeError  string    `json:"runtimeError,omitempty"`
	PendingFiles  []string  `json:"pendingFiles,omitempty"`
	Waiting       *Waiting  `json:"waiting,omitempty"`
	CurrentBuild  *Build    `json:"currentBuild,omitempty"`
	BuildHistory  []Build   `json:"buildHistory,omitempty"`
	Lag           *Lag      `json:"lag,omitempty"`
	Process       *Process  `json:"process,omitempty"`
	Pods          []Pod     `json:"pods,omitempty"`
	PortForwards  []Forward `json:"portForwards,omitempty"`
	ServiceURLs   []string  `json:"serviceUrls,omitempty"`
	Synclets      []Synclet `json:"synclets,omitempty"`
}

// Waiting is why a resource is not updated now, and which resources it waits for.
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

// Progress is how far the current stage of a running update is. Kind is build, push, apply, start or run. Image is the image
// that is built or pushed, number Nth of Images. Step is how many of the Steps of its Dockerfile have begun; both are absent
// while they are not known, and for custom_build. Percent is how much of the image has been pushed, if that is known. Waits is
// why the stage pauses.
type Progress struct {
	Kind    string `json:"kind"`
	Image   string `json:"image,omitempty"`
	Nth     int    `json:"nth,omitempty"`
	Images  int    `json:"images,omitempty"`
	Step    int    `json:"step,omitempty"`
	Steps   int    `json:"steps,omitempty"`
	Percent int    `json:"percent,omitempty"`
	Waits   string `json:"waits,omitempty"`
}

// Process is the server of a local resource. State is starting, running, stopping, failed or stopped. Detail is why a running
// server is not ready. ExitCode is set once the server has failed; it is -1 if the server could not be started.
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
// how the synclet got into the container; Passed is why the ways that were tried before it did not work.
type Synclet struct {
	Pod       string `json:"pod"`
	Container string `json:"container"`
	State     string `json:"state"`
	Way       string `json:"way,omitempty"`
	Passed    string `json:"passed,omitempty"`
	Error     string `json:"error,omitempty"`
}

// Forward is a port forward. State is waiting, ready or failed.
type Forward struct {
	LocalPort int    `json:"localPort"`
	URL       string `json:"url"`
	Pod       string `json:"pod,omitempty"`
	State     string `json:"state"`
	Error     string `json:"error,omitempty"`
}
