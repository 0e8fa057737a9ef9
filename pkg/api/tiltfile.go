package api

// TiltfileResult is the output of "hone tiltfile -o json": everything that an evaluation declared. Lists without elements are [],
// never null.
type TiltfileResult struct {
	// Resources are in the order in which the Tiltfile declares them, uncategorized first; empty after an error.
	Resources []TiltfileResource `json:"resources"`
	// Errors are the reasons why the evaluation failed, in the form "FILE:LINE: ERROR"; empty when it succeeded.
	Errors []string `json:"errors"`
	// Warnings are probable mistakes, in the order in which they were found.
	Warnings []string `json:"warnings"`
	// Profile breaks down the time of the evaluation; absent unless it was requested.
	Profile *TiltfileProfile `json:"profile,omitempty"`
}

// The values of TiltfileResource.Type.
const (
	TypeK8s     = "k8s"
	TypeLocal   = "local"
	TypeCompose = "compose"
)

// The values of TiltfileResource.TriggerMode. Tilt uses the same numbers.
const (
	// TriggerAuto updates at the start and whenever a file changes.
	TriggerAuto = 0
	// TriggerManualAfterInitial updates at the start; later changes wait for the user.
	TriggerManualAfterInitial = 1
	// TriggerManual always waits for the user, also at the start.
	TriggerManual = 2
	// TriggerAutoAfterInitial waits for the user at the start. After the first update it updates whenever a file changes.
	TriggerAutoAfterInitial = 3
)

// TiltfileResource is one resource that a Tiltfile declares.
type TiltfileResource struct {
	// Name is unique; "uncategorized" is the resource of the objects that belong to no workload.
	Name string `json:"name"`
	// Type is "k8s", "local" or "compose".
	Type string `json:"type"`
	// Labels are the groups that the resource is shown in, sorted.
	Labels []string `json:"labels"`
	// ResourceDeps are the names of the resources that must be ready before its first update.
	ResourceDeps []string `json:"resourceDeps"`
	// TriggerMode is one of the Trigger constants: trigger_mode= and auto_init= combined in one number.
	TriggerMode int `json:"triggerMode"`
	// AutoInit determines whether the first update starts automatically.
	AutoInit bool `json:"autoInit"`
	// Images are the images that the resource needs and that hone or Compose builds, and the images that k8s_custom_deploy
	// updates in place. Base images come before the images that are built on them.
	Images []TiltfileImage `json:"images"`
	// Objects are the names of the resource's objects in the order of the YAML, as "kind/namespace/name" with the kind in
	// lower case. Where the YAML names no namespace, it is the one that the object would be applied to. Objects of kinds that
	// are known to be cluster-scoped are "kind/name".
	Objects []string `json:"objects"`
	// PortForwards are the local ports that lead to the resource's pod.
	PortForwards []TiltfilePortForward `json:"portForwards"`
	// Links are the addresses that the user can open in a browser, in addition to the port forwards.
	Links []TiltfileLink `json:"links"`
	// Enabled is false where the arguments or config.set_enabled_resources leave the resource out of the session.
	Enabled bool `json:"enabled"`
}

// TiltfileImage is an image that a resource needs.
type TiltfileImage struct {
	// Ref is the reference of the image in the Tiltfile and the YAML; empty where only Container is known.
	Ref string `json:"ref"`
	// Container is the name of the containers that are updated in place, where container_selector= selects them by name.
	Container string `json:"container,omitempty"`
	// LiveUpdate lists, in order, the steps that update a running container in place; empty for an image without live update.
	LiveUpdate []TiltfileStep `json:"live_update"`
}

// The values of TiltfileStep.Type: the builtins that create the steps.
const (
	StepInitialSync      = "initial_sync"
	StepFallBackOn       = "fall_back_on"
	StepSync             = "sync"
	StepRun              = "run"
	StepRestartContainer = "restart_container"
	StepRestartProcess   = "restart_process"
)

// TiltfileStep is one step of a live update. Fields that its type does not use are absent.
type TiltfileStep struct {
	// Type is the name of the builtin that creates the step.
	Type string `json:"type"`
	// Paths of fall_back_on are absolute local paths: a change below one of them needs a new image.
	Paths []string `json:"paths,omitempty"`
	// LocalPath of sync is the absolute path of a file or folder on this machine.
	LocalPath string `json:"localPath,omitempty"`
	// RemotePath of sync is its absolute path in the container.
	RemotePath string `json:"remotePath,omitempty"`
	// Cmd of run is the argument vector. A command that is a string in the Tiltfile is ["sh", "-c", text].
	Cmd []string `json:"cmd,omitempty"`
	// Triggers of run and restart_process are absolute local paths: the step is skipped unless a file below one of them
	// changed. Absent means that the step is never skipped.
	Triggers []string `json:"triggers,omitempty"`
	// File of restart_process is an absolute path in the container. Touching that file also restarts the process.
	File string `json:"file,omitempty"`
}

// TiltfilePortForward is a local port that leads to a resource's pod.
type TiltfilePortForward struct {
	// LocalPort is 1 to 65535.
	LocalPort int `json:"localPort"`
	// ContainerPort is the port in the pod. 0 means the local port if the pod declares it, else the first port that the pod
	// declares.
	ContainerPort int `json:"containerPort"`
	// Host is the local address to listen on; empty for the session's default.
	Host string `json:"host"`
	// Name is the name of the link; it may be empty.
	Name string `json:"name"`
	// LinkPath is appended to the link's URL; it may be empty.
	LinkPath string `json:"linkPath"`
}

// TiltfileLink is an address that the user can open in a browser.
type TiltfileLink struct {
	URL  string `json:"url"`
	Name string `json:"name"`
}

// TiltfileProfile breaks down the time of an evaluation. Times are in milliseconds.
type TiltfileProfile struct {
	// TotalMillis is the time of the whole evaluation. CompileMillis is the part spent reading Starlark source, ProgramMillis
	// the part spent in the program's own statements, and AssemblyMillis the part spent after the end of the program. The
	// rest is the builtins' own time.
	TotalMillis    float64 `json:"totalMillis"`
	CompileMillis  float64 `json:"compileMillis"`
	ProgramMillis  float64 `json:"programMillis"`
	AssemblyMillis float64 `json:"assemblyMillis"`
	// Builtins are the builtins that were called, sorted by own time, the longest first.
	Builtins []TiltfileTiming `json:"builtins"`
}

// TiltfileTiming is the time that the calls of one builtin took.
type TiltfileTiming struct {
	// Name is the name of the builtin; "load" stands for the load statement.
	Name string `json:"name"`
	TiltfileCalls
	// Sites are the call sites, sorted by own time, the longest first. Long lists are truncated.
	Sites []TiltfileSite `json:"sites"`
}

// TiltfileSite is the time that the calls at one line took.
type TiltfileSite struct {
	// File is an absolute path. Line counts from 1.
	File string `json:"file"`
	Line int    `json:"line"`
	TiltfileCalls
}

// TiltfileCalls are totals over a set of calls.
type TiltfileCalls struct {
	// Calls is the number of calls. Remembered is the number of calls whose work was done by an earlier call or evaluation.
	Calls      int `json:"calls"`
	Remembered int `json:"remembered"`
	// TotalMillis is the time spent in the calls. OwnMillis excludes the time in other builtins that they called.
	// SlowestMillis is the own time of the slowest call.
	TotalMillis   float64 `json:"totalMillis"`
	OwnMillis     float64 `json:"ownMillis"`
	SlowestMillis float64 `json:"slowestMillis"`
}
