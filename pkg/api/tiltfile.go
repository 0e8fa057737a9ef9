package api

// TiltfileResult is what "hone tiltfile -o json" prints: what an evaluation declared. Lists without elements are [], never
// null.
type TiltfileResult struct {
	// Resources are in the order in which the Tiltfile declares them, uncategorized first; empty after an error.
	Resources []TiltfileResource `json:"resources"`
	// Errors say why the evaluation failed, "FILE:LINE: what is wrong"; empty when it did not.
	Errors []string `json:"errors"`
	// Warnings say what is probably a mistake, in the order in which it was found.
	Warnings []string `json:"warnings"`
	// Profile says where the time of the evaluation went; absent unless it was asked for.
	Profile *TiltfileProfile `json:"profile,omitempty"`
}

// The values of TiltfileResource.Type.
const (
	TypeK8s     = "k8s"
	TypeLocal   = "local"
	TypeCompose = "compose"
)

// The values of TiltfileResource.TriggerMode; the numbers are those of Tilt.
const (
	// TriggerAuto updates at the start and whenever a file changes.
	TriggerAuto = 0
	// TriggerManualAfterInitial updates at the start; changes wait for the user.
	TriggerManualAfterInitial = 1
	// TriggerManual always waits for the user, at the start, too.
	TriggerManual = 2
	// TriggerAutoAfterInitial waits for the user at the start, and from the first update on updates whenever a file changes.
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
	// TriggerMode is what starts an update, one of the constants above: trigger_mode= and auto_init= in one number.
	TriggerMode int `json:"triggerMode"`
	// AutoInit is whether the first update starts by itself.
	AutoInit bool `json:"autoInit"`
	// Images are those that the resource needs and that hone or Compose builds, base images before what is built on them, and
	// those that k8s_custom_deploy updates in place.
	Images []TiltfileImage `json:"images"`
	// Objects are "kind/namespace/name" with the kind in lower case, in the order of the YAML. Where the YAML names no
	// namespace it is the one that the object would be applied to. Objects of kinds that are known to live in none are
	// "kind/name".
	Objects []string `json:"objects"`
	// PortForwards are the local ports that lead to the resource's pod.
	PortForwards []TiltfilePortForward `json:"portForwards"`
	// Links are what the user can open in a browser, besides the port forwards.
	Links []TiltfileLink `json:"links"`
	// Enabled is false where the arguments or config.set_enabled_resources leave the resource out of the session.
	Enabled bool `json:"enabled"`
}

// TiltfileImage is an image that a resource needs.
type TiltfileImage struct {
	// Ref is the reference by which Tiltfile and YAML call the image; empty where only Container is known.
	Ref string `json:"ref"`
	// Container is the name of the containers that are updated in place, where container_selector= chooses them by that.
	Container string `json:"container,omitempty"`
	// LiveUpdate are the steps by which a running container is updated in place, in their order; empty when it never is.
	LiveUpdate []TiltfileStep `json:"live_update"`
}

// The values of TiltfileStep.Type: the builtins that make the steps.
const (
	StepInitialSync      = "initial_sync"
	StepFallBackOn       = "fall_back_on"
	StepSync             = "sync"
	StepRun              = "run"
	StepRestartContainer = "restart_container"
	StepRestartProcess   = "restart_process"
)

// TiltfileStep is one step of a live update. Fields that its type has no use for are absent.
type TiltfileStep struct {
	// Type is the name of the builtin that makes the step.
	Type string `json:"type"`
	// Paths of fall_back_on are absolute local paths: a change below one of them needs a new image.
	Paths []string `json:"paths,omitempty"`
	// LocalPath of sync is the absolute path of a file or folder on this machine.
	LocalPath string `json:"localPath,omitempty"`
	// RemotePath of sync is its absolute path in the container.
	RemotePath string `json:"remotePath,omitempty"`
	// Cmd of run is the argument vector; a command that was written as text is ["sh", "-c", text].
	Cmd []string `json:"cmd,omitempty"`
	// Triggers of run and restart_process are absolute local paths: without a change below one of them the step is left out.
	// Absent means that it never is.
	Triggers []string `json:"triggers,omitempty"`
	// File of restart_process is an absolute path in the container: a touch of it restarts the process, too.
	File string `json:"file,omitempty"`
}

// TiltfilePortForward is a local port that leads to a resource's pod.
type TiltfilePortForward struct {
	// LocalPort is 1 to 65535.
	LocalPort int `json:"localPort"`
	// ContainerPort is 0 where it is left to the pod: the local port if the pod declares it, else the first that it declares.
	ContainerPort int `json:"containerPort"`
	// Host is the local address to listen on; empty for the session's.
	Host string `json:"host"`
	// Name is what the link is called; it may be empty.
	Name string `json:"name"`
	// LinkPath is appended to the link's URL; it may be empty.
	LinkPath string `json:"linkPath"`
}

// TiltfileLink is something that the user can open in a browser.
type TiltfileLink struct {
	URL  string `json:"url"`
	Name string `json:"name"`
}

// TiltfileProfile says where the time of an evaluation went. Times are milliseconds.
type TiltfileProfile struct {
	// TotalMillis is the whole evaluation. Of it, CompileMillis went into reading Starlark source, AssemblyMillis into what
	// comes after the program's end, ProgramMillis into its own statements; the rest are the builtins' own times.
	TotalMillis    float64 `json:"totalMillis"`
	CompileMillis  float64 `json:"compileMillis"`
	ProgramMillis  float64 `json:"programMillis"`
	AssemblyMillis float64 `json:"assemblyMillis"`
	// Builtins are those that were called, the one with the longest own time first.
	Builtins []TiltfileTiming `json:"builtins"`
}

// TiltfileTiming is what the calls of one builtin took.
type TiltfileTiming struct {
	// Name is the builtin's; "load" stands for the statement.
	Name string `json:"name"`
	TiltfileCalls
	// Sites are where it was called from, the one with the longest own time first; long lists are cut.
	Sites []TiltfileSite `json:"sites"`
}

// TiltfileSite is what the calls at one line took.
type TiltfileSite struct {
	// File is an absolute path, Line counts from 1.
	File string `json:"file"`
	Line int    `json:"line"`
	TiltfileCalls
}

// TiltfileCalls sums up calls.
type TiltfileCalls struct {
	// Calls counts them; Remembered those among them whose work had been done before.
	Calls      int `json:"calls"`
	Remembered int `json:"remembered"`
	// TotalMillis is the time in them, OwnMillis without that in other builtins that they led to, SlowestMillis the own time
	// of the slowest.
	TotalMillis   float64 `json:"totalMillis"`
	OwnMillis     float64 `json:"ownMillis"`
	SlowestMillis float64 `json:"slowestMillis"`
}
