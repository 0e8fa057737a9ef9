package model

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ImageTarget is an image that hone builds. Exactly one of Docker and Custom is set.
type ImageTarget struct {
	// Ref is the reference by which the Tiltfile and the YAML call the image, e.g. "api" or "gcr.io/shop/api:dev".
	Ref    string
	Docker *DockerBuild
	Custom *CustomBuild
	// DependsOn are the references of other built images on which this one is based.
	DependsOn  []string
	LiveUpdate LiveUpdate
	// MatchInEnvVars also replaces the reference where it stands as the value of an environment variable.
	MatchInEnvVars bool
	// Entrypoint, when not nil, replaces the command of the containers that run the image.
	Entrypoint []string
	// ContainerArgs, when not nil, replaces their args; an empty list clears them.
	ContainerArgs *[]string
	// Supervised puts the supervisor for LiveUpdate.RestartProcess into the image, for pods that hone does not deploy.
	Supervised bool
	Watch      WatchSpec
}

// ID is the target's id.
func (t ImageTarget) ID() TargetID { return ImageID(t.Ref) }

// DockerBuild is an image described by a Dockerfile.
type DockerBuild struct {
	// Context is the absolute path of the build context; empty for a context without files.
	Context string
	// Dockerfile is the absolute path that messages name; Contents is its text, which counts.
	Dockerfile string
	Contents   string
	// BuildArgs maps names to values; a nil value takes the value from hone's environment.
	BuildArgs map[string]*string
	Target    string
	// Secrets and SSH are specifications as in "docker build --secret" and "--ssh".
	Secrets    []string
	SSH        []string
	Network    string
	ExtraTags  []string
	CacheFrom  []string
	Pull       bool
	Platform   string
	ExtraHosts []string
	// ContextIgnores leave files out of the context: .dockerignore, ignore= and only=.
	ContextIgnores []Ignore
}

// CustomBuild is an image that a command of the user builds.
type CustomBuild struct {
	Command Cmd
	// Tag is the fixed tag that the command produces; empty when it builds what EXPECTED_REF says.
	Tag               string
	DisablePush       bool
	SkipsLocalDocker  bool
	OutputsImageRefTo string
	ImageDeps         []string
}

// BuildsNothing reports whether the command is ":", by which Tiltfiles say that an image is not built: it is deployed as it is
// and updated in place.
func (c CustomBuild) BuildsNothing() bool {
	n := len(c.Command.Argv)
	return c.OutputsImageRefTo == "" && (n == 1 || n > 2) && strings.TrimSpace(c.Command.Argv[n-1]) == ":"
}

// LiveUpdate says how changed files reach a running container. The steps keep the order that the Tiltfile language
// enforces: initial sync, stop paths, syncs, runs, restart.
type LiveUpdate struct {
	InitialSync bool
	// StopPaths are absolute local paths (fall_back_on): a change below one of them needs a new image.
	StopPaths []string
	Syncs     []Sync
	Runs      []Run
	// RestartContainer restarts the container after the steps.
	RestartContainer bool
	// RestartProcess, unless nil, restarts the container's process after the steps, in the same container: its command
	// runs under the synclet's supervisor.
	RestartProcess *RestartProcess
}

// RestartProcess says when a container's process is restarted.
type RestartProcess struct {
	// Triggers are absolute local paths: with some, only a change below one of them restarts the process.
	Triggers []string
	// File is a path in the container; a touch of it restarts the process too. Empty when there is none.
	File string
}

// Due reports whether a change of the given file restarts the process.
func (r *RestartProcess) Due(path string) bool {
	return r != nil && (len(r.Triggers) == 0 || slices.ContainsFunc(r.Triggers, func(t string) bool { return IsChild(filepath.Clean(t), path) }))
}

func (r *RestartProcess) equal(o *RestartProcess) bool {
	if r == nil || o == nil {
		return r == o
	}
	return r.File == o.File && slices.Equal(r.Triggers, o.Triggers)
}

// Sync copies what changed below LocalPath (absolute) to the same place below RemotePath.
type Sync struct {
	LocalPath  string
	RemotePath string
	// Owner owns what is copied.
	Owner Owner
}

// Run is a command to run in the container after the syncs. With Triggers (absolute local paths) it runs only when a
// changed file lies below one of them.
type Run struct {
	Cmd      Cmd
	Triggers []string
}

// Empty reports whether there is nothing to do in place.
func (l LiveUpdate) Empty() bool {
	return !l.InitialSync && len(l.Syncs) == 0 && len(l.Runs) == 0 && !l.RestartContainer && l.RestartProcess == nil && len(l.StopPaths) == 0
}

// Equal reports whether both live updates have the same steps.
func (l LiveUpdate) Equal(o LiveUpdate) bool {
	return l.InitialSync == o.InitialSync && l.RestartContainer == o.RestartContainer && l.RestartProcess.equal(o.RestartProcess) &&
		slices.Equal(l.StopPaths, o.StopPaths) && slices.Equal(l.Syncs, o.Syncs) &&
		slices.EqualFunc(l.Runs, o.Runs, func(a, b Run) bool {
			return a.Cmd.Equal(b.Cmd) && slices.Equal(a.Triggers, b.Triggers)
		})
}

// ImageResult is what building an image left behind.
type ImageResult struct {
	// Local is the reference that the builder knows ("api:hone-0123456789abcdef").
	Local string
	// Cluster is the reference under which the cluster pulls it; it goes into the objects.
	Cluster string
	// ImageID is the builder's content id ("sha256:…"), empty when the builder did not tell.
	ImageID string
	// StartedAt is when the build that made it began: files changed later are not in it.
	StartedAt time.Time
}
