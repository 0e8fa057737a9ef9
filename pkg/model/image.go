package model

import (
	"slices"
	"strings"
	"time"
)

// ImageTarget is an image that hone builds. Exactly one of Docker and Custom is set.
type ImageTarget struct {
	// Ref is the reference of the image in the Tiltfile and the YAML, e.g. "api" or "gcr.io/shop/api:dev".
	Ref    string
	Docker *DockerBuild
	Custom *CustomBuild
	// DependsOn are the references of other built images on which this one is based.
	DependsOn  []string
	LiveUpdate LiveUpdate
	// MatchInEnvVars also replaces the reference where it is the value of an environment variable.
	MatchInEnvVars bool
	// Entrypoint, when not nil, replaces the command of the containers that run the image.
	Entrypoint []string
	// ContainerArgs, when not nil, replaces their args; an empty list clears them.
	ContainerArgs *[]string
	// Supervised puts the supervisor for LiveUpdate.RestartProcess into the image, for pods that hone does not deploy.
	Supervised bool
	Watch      WatchSpec
}

// ID returns the target's id.
func (t ImageTarget) ID() TargetID { return ImageID(t.Ref) }

// DockerBuild is an image described by a Dockerfile.
type DockerBuild struct {
	// Context is the absolute path of the build context; empty for a context without files.
	Context string
	// Dockerfile is the absolute path to show in messages. The build uses Contents, the text.
	Dockerfile string
	Contents   string
	// BuildArgs maps names to values; a nil value takes the value from hone's environment.
	BuildArgs map[string]*string
	Target    string
	// Secrets and SSH are specifications as in "docker build --secret" and "--ssh".
	Secrets   []string
	SSH       []string
	Network   string
	ExtraTags []string
	// CacheFrom are the caches that the build may use, and CacheTo those that it writes.
	CacheFrom  []BuildCache
	CacheTo    []BuildCache
	Pull       bool
	Platform   string
	ExtraHosts []string
	// Options is a digest of settings that only a build by Compose has; empty for one by hone.
	Options string
	// ContextIgnores exclude files from the context: .dockerignore, ignore= and only=.
	ContextIgnores []Ignore
}

// CustomBuild is an image that a command of the user builds.
type CustomBuild struct {
	Command Cmd
	// Tag is the fixed tag that the command produces; empty when it builds the reference in EXPECTED_REF.
	Tag               string
	DisablePush       bool
	SkipsLocalDocker  bool
	OutputsImageRefTo string
	ImageDeps         []string
	// DepsComplete means that the image depends only on the command, its declared environment, the watched files and ImageDeps.
	DepsComplete bool
}

// BuildsNothing reports whether the command is ":". Tiltfiles use it for an image that is not built, but deployed as it is
// and updated in place.
func (c CustomBuild) BuildsNothing() bool {
	n := len(c.Command.Argv)
	if n == 0 || n == 2 || c.OutputsImageRefTo != "" {
		return false
	}
	return strings.TrimSpace(c.Command.Argv[n-1]) == ":"
}

// LiveUpdate is the procedure by which changed files reach a running container. The steps are in the order that the Tiltfile
// language enforces: initial sync, stop paths, syncs, runs, restart.
type LiveUpdate struct {
	InitialSync bool
	// StopPaths are absolute local paths (fall_back_on): a change below one of them needs a new image.
	StopPaths []string
	Syncs     []Sync
	Runs      []Run
	// RestartContainer restarts the container after the steps.
	RestartContainer bool
	// RestartProcess, if set, restarts the container's process after the steps without restarting the container: the process runs
	// under the synclet's supervisor.
	RestartProcess *RestartProcess
}

// RestartProcess restarts a container's process after an update in place.
type RestartProcess struct {
	// Triggers work like the triggers of Run: unless empty, only a change that one of them covers restarts the process.
	Triggers []string
	// File is a path in the container: touching that file also restarts the process. It may be empty.
	File string
}

// Due reports whether a change of the given file restarts the process.
func (r *RestartProcess) Due(path string) bool {
	return r != nil && (len(r.Triggers) == 0 || anyTriggered(r.Triggers, path))
}

func (r *RestartProcess) equal(o *RestartProcess) bool {
	if r == nil || o == nil {
		return r == o
	}
	return r.File == o.File && slices.Equal(r.Triggers, o.Triggers)
}

// Sync copies changes below LocalPath (absolute) to the same relative path below RemotePath.
type Sync struct {
	LocalPath  string
	RemotePath string
	// Owner is the owner of the copied files.
	Owner Owner
}

// Run is a command to run in the container after the syncs. With Triggers, absolute local paths and patterns, it runs only if one of them
// covers a changed file, see Triggered.
type Run struct {
	Cmd      Cmd
	Triggers []string
}

// Empty reports whether there is nothing to do in place.
func (l LiveUpdate) Empty() bool { return l.Equal(LiveUpdate{}) }

// Equal reports whether both live updates have the same steps.
func (l LiveUpdate) Equal(o LiveUpdate) bool {
	restarts := l.RestartContainer == o.RestartContainer && l.RestartProcess.equal(o.RestartProcess)
	syncs := l.InitialSync == o.InitialSync && slices.Equal(l.Syncs, o.Syncs) && slices.Equal(l.StopPaths, o.StopPaths)
	return restarts && syncs && slices.EqualFunc(l.Runs, o.Runs, func(a, b Run) bool {
		return a.Cmd.Equal(b.Cmd) && slices.Equal(a.Triggers, b.Triggers)
	})
}

// ImageResult is the result of an image build.
type ImageResult struct {
	// Local is the reference that the builder uses ("api:hone-0123456789abcdef").
	Local string
	// Cluster is the reference under which the cluster pulls the image. It is injected into the objects.
	Cluster string
	// On is the cluster that it was delivered to, as in K8sTarget.
	On string
	// Registry is the registry that its names are for; empty for none.
	Registry Registry
	// ImageID is the builder's content id ("sha256:…"); empty if the builder did not report it.
	ImageID string
	// StartedAt is the time at which the build of the image began. The image does not include later file changes.
	StartedAt time.Time
	// Lacks are the files that have changed since then, each with the time, if an earlier session has built the image. Containers get
	// them in place.
	Lacks map[string]time.Time `json:"-"`
	// Key is the reference by which others find the image in a registry: its tag is the sum of the build's inputs. Empty if they cannot.
	Key string `json:"-"`
	// Renews means that the image replaces another one that has the key: the user has asked for a new build.
	Renews bool `json:"-"`
}
