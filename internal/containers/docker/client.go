package docker

import (
	"context"
	"io"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// Client is a container engine. Every method that talks to the engine returns a problem when the engine cannot be
// reached, and ctx's error when ctx ends first.
type Client interface {
	// Ping asks the engine who it is.
	Ping(ctx context.Context) (Info, error)
	// Build builds an image and returns its content id ("sha256:…"). What the user did wrong (a Dockerfile that cannot be
	// read, a file that is missing, a command that fails) satisfies IsUserError. When ctx ends the engine is told to stop.
	Build(ctx context.Context, req BuildRequest) (imageID string, err error)
	// Tag gives the image src (an id or a reference) the further reference dst.
	Tag(ctx context.Context, src, dst string) error
	// Inspect looks ref (an id or a reference) up among the engine's images.
	Inspect(ctx context.Context, ref string) (image Image, found bool, err error)
	// Push sends the image to the registry that its reference names, with the user's stored credentials. Layers report
	// to progress.
	Push(ctx context.Context, ref string, progress logstore.Logger) error
	// Save returns a "docker save" archive of the images. The caller closes it.
	Save(ctx context.Context, refs []string) (io.ReadCloser, error)
	// Load takes the images of a "docker save" archive into the engine, with the references that it gives them.
	Load(ctx context.Context, archive io.Reader) error
	// Programs returns those of the absolute paths at which the image has a program, links followed. Nothing is started: the
	// engine makes a container for it, which is gone afterwards.
	Programs(ctx context.Context, ref string, paths []string) ([]string, error)
	// Images lists the images that carry the label, whatever its value, newest first.
	Images(ctx context.Context, label string) ([]Image, error)
	// Remove takes the reference from its image, and the image out of the engine when that was its last one. An image that a
	// container uses stays: IsInUse tells. Removing what does not exist satisfies IsNotFound.
	Remove(ctx context.Context, ref string) error
	// Containers lists the running containers that carry all of the labels.
	Containers(ctx context.Context, labels map[string]string) ([]Container, error)
	// ContainerExec runs argv in a running container and returns when it has ended: nil for exit code 0, an *ExitError for
	// any other. Both output streams go to out; stdin and out may be nil. When ctx ends the connection is cut, the process
	// may go on. A stdin that can block should be an io.Closer: it is closed when the process has ended before reading it.
	ContainerExec(ctx context.Context, containerID string, argv []string, stdin io.Reader, out io.Writer) error
	// Exec is ContainerExec with the two output streams kept apart; each may be nil.
	Exec(ctx context.Context, containerID string, argv []string, stdin io.Reader, stdout, stderr io.Writer) error
	// CopyTo unpacks an uncompressed tar archive below dir, an existing folder of the container, which need not run. Nothing reads
	// from tar any more when it returns; a Read that blocks holds it up.
	CopyTo(ctx context.Context, containerID, dir string, tar io.Reader) error
	// RestartContainer stops the container's processes at once and starts it again.
	RestartContainer(ctx context.Context, containerID string) error
	// ContainerStates lists the containers that carry all of the labels, those that do not run with them, and says how they
	// do. An empty value stands for any.
	ContainerStates(ctx context.Context, labels map[string]string) ([]ContainerState, error)
	// WatchContainers calls changed once it is listening, and then whenever something happens to a container that carries
	// the label. It returns when ctx or the connection ends, which is always an error. Changed is called by its goroutine.
	WatchContainers(ctx context.Context, label string, changed func()) error
	// ContainerLogs opens what a container has written since a time (zero means from the beginning), over all of its runs:
	// whole lines, each after its time in RFC 3339 with nanoseconds and a space. With follow the stream stays open until the
	// container ends. The caller closes it. A container that does not exist satisfies IsNotFound.
	ContainerLogs(ctx context.Context, containerID string, since time.Time, follow bool) (io.ReadCloser, error)
	// ContainerChanges returns the paths at which the file system of a container differs from its image, volumes left out.
	ContainerChanges(ctx context.Context, containerID string) ([]string, error)
	// RemoveContainer stops a container as its own settings say, and removes it; its volumes stay. Removing one that does
	// not exist satisfies IsNotFound.
	RemoveContainer(ctx context.Context, containerID string) error
	// Env is what has to be added to the environment of a docker CLI for it to reach this engine; empty when it does so
	// anyway.
	Env() []string
	// Close lets go of idle connections.
	Close() error
}

// Info is what an engine says about itself.
type Info struct {
	// Version is the engine's version ("20.10.24"), APIVersion the one that both sides speak ("1.41").
	Version    string
	APIVersion string
	// OS and Arch are those of the containers, in Go's words ("linux", "amd64").
	OS   string
	Arch string
	// BuildKit says that images are built with BuildKit, not with the classic builder.
	BuildKit bool
	// Host is the address of the engine, e.g. "unix:///var/run/docker.sock".
	Host string
	// Name is the host name of the machine that the engine runs on ("minikube", "colima").
	Name string
	// Product is what the engine calls the system it runs on ("Docker Desktop", "Debian GNU/Linux 12").
	Product string
}

// Image is an image in the engine.
type Image struct {
	// ID is the content id, "sha256:…".
	ID string
	// Tags are all references of the image, in the familiar short form ("api:hone-0123456789abcdef").
	Tags []string
	OS   string
	Arch string
	// Size is in bytes.
	Size int64
	// TaggedAt is when the image last got a reference, or was made if it never got one.
	TaggedAt time.Time
	Labels   map[string]string
	// Entrypoint, Cmd, Env ("K=V"), User and WorkingDir are the image's defaults for its containers.
	Entrypoint []string
	Cmd        []string
	Env        []string
	User       string
	WorkingDir string
}

// Container is a running container.
type Container struct {
	ID     string
	Name   string
	Image  string
	Labels map[string]string
}

// ContainerState is what a container is and its current state.
type ContainerState struct {
	ID   string
	Name string
	// Image is the reference that it was made with, ImageID the content id of that image.
	Image   string
	ImageID string
	Labels  map[string]string
	// Entrypoint is what it runs, with the image's where it was given none of its own.
	Entrypoint []string
	// Status is the engine's word: created, running, paused, restarting, removing, exited, dead. Health is empty where
	// nobody checks it, else starting, healthy or unhealthy, and HealthLog is what the newest check said.
	Status    string
	Health    string
	HealthLog string
	// ExitCode is that of the last run that has ended; Err is why the engine could not start it.
	ExitCode  int
	OOMKilled bool
	Err       string
	// Restarts counts how often the engine has restarted it by itself.
	Restarts   int
	CreatedAt  time.Time
	StartedAt  time.Time
	FinishedAt time.Time
	// Ports are those that are published, sorted.
	Ports []PublishedPort
}

// Running reports whether the container's process runs, or is only paused.
func (c ContainerState) Running() bool { return c.Status == "running" || c.Status == "paused" }

// PublishedPort is a port of a container that is reached on the engine's machine.
type PublishedPort struct {
	HostIP   string
	HostPort int
	Port     int
	Protocol string
}

// BuildRequest describes an image to build.
type BuildRequest struct {
	// Context is the absolute path of the folder that COPY takes files from; empty for a context without files.
	Context string
	// Ignores leave files of the context out.
	Ignores []model.Ignore
	// Dockerfile is the path that messages name; Contents is its text, which counts.
	Dockerfile string
	Contents   string
	// BuildArgs maps names to values. A nil value takes the value from the environment, or none if it is not set there.
	BuildArgs map[string]*string
	// Target is the stage to build; empty for the last.
	Target string
	// Secrets and SSH are specifications as in "docker build --secret id=npm,src=…" and "--ssh default".
	Secrets []string
	SSH     []string
	// Network is the network mode of RUN; empty for the engine's default.
	Network    string
	CacheFrom  []string
	ExtraHosts []string
	// Platform is "os/arch"; empty for the engine's own.
	Platform string
	// Pull asks the registry for a newer base image, NoCache runs every step again.
	Pull    bool
	NoCache bool
	// Labels are added to the image, Tags are references to give it.
	Labels map[string]string
	Tags   []string
	// Log receives the steps and their output; nil discards them.
	Log logstore.Logger
}
