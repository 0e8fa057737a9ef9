package docker

import (
	"archive/tar"
	"context"
	"io"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// Client is a container engine. Every method that talks to the engine returns a problem when the engine cannot be
// reached, and ctx's error when ctx ends first.
type Client interface {
	// Ping queries the engine's version and properties.
	Ping(ctx context.Context) (Info, error)
	// Alive returns nil when the engine answers the cheapest request before ctx is done.
	Alive(ctx context.Context) error
	// Build builds an image and returns its content id ("sha256:…"). Errors of the user (a Dockerfile that cannot be
	// read, a missing file, a command that fails) are a *UserError. When ctx ends, the build is cancelled in the
	// engine.
	Build(ctx context.Context, req BuildRequest) (imageID string, err error)
	// Tag adds the reference dst to the image src (an id or a reference).
	Tag(ctx context.Context, src, dst string) error
	// Inspect looks ref (an id or a reference) up among the engine's images.
	Inspect(ctx context.Context, ref string) (image Image, found bool, err error)
	// Push sends the image to the registry that its reference names, with the user's stored credentials. Progress is reported by
	// layer. If sent is not nil, it receives the percentage of the image's bytes that have been sent, 1 to 100, whenever that grows,
	// if the engine reports it; Push calls it on the caller's goroutine, starting over if it pushes again.
	Push(ctx context.Context, ref string, progress logstore.Logger, sent func(percent int)) error
	// Pull fetches the image from the registry that its reference names, with the user's stored credentials. platform is "os/arch", or
	// empty for the engine's own.
	Pull(ctx context.Context, ref, platform string, progress logstore.Logger) error
	// PushHere is Push to a registry of this process, which has a password and needs no progress.
	PushHere(ctx context.Context, ref, password string) error
	// Save returns a "docker save" archive of the images. The caller closes it.
	Save(ctx context.Context, refs []string) (io.ReadCloser, error)
	// Load loads the images of a "docker save" archive into the engine, with their references.
	Load(ctx context.Context, archive io.Reader) error
	// Programs returns the absolute paths, out of paths, at which the image has an executable file, after following links. It creates
	// a temporary container, which it never starts.
	Programs(ctx context.Context, ref string, paths []string) ([]string, error)
	// Images lists the images that carry the label, whatever its value, newest first.
	Images(ctx context.Context, label string) ([]Image, error)
	// Remove removes the reference from its image, and the image if that was its last reference. An image that a
	// container uses stays, and the error satisfies IsInUse. A missing image satisfies IsNotFound.
	Remove(ctx context.Context, ref string) error
	// Containers lists the running containers that carry all of the labels.
	Containers(ctx context.Context, labels map[string]string) ([]Container, error)
	// ContainerExec runs argv in a running container and returns when it has ended: nil for exit code 0, an *ExitError
	// for any other. Both output streams go to out; stdin and out may be nil. When ctx ends the connection is closed,
	// but the process may keep running. A stdin that can block should be an io.Closer: it is closed when the process
	// has ended without reading all of it.
	ContainerExec(ctx context.Context, containerID string, argv []string, stdin io.Reader, out io.Writer) error
	// Exec is ContainerExec with the two output streams kept apart; each may be nil.
	Exec(ctx context.Context, containerID string, argv []string, stdin io.Reader, stdout, stderr io.Writer) error
	// ExecTerminal is ContainerExec for a command that has a terminal. The engine starts it even where the container has no such
	// command: the exit code is then 126 or 127, and the reason goes to the terminal.
	ExecTerminal(ctx context.Context, containerID string, argv []string, t Terminal) error
	// CopyTo unpacks an uncompressed tar archive below dir, an existing folder of the container. The container need not
	// run. After CopyTo has returned, tar is no longer read; a Read that blocks delays the return.
	CopyTo(ctx context.Context, containerID, dir string, tar io.Reader) error
	// Entry returns the header that a path in a container has in an archive; nil if the container or the path does not exist. The
	// container need not run. Links above the path are followed, the path itself is not.
	Entry(ctx context.Context, containerID, path string) (*tar.Header, error)
	// RestartContainer stops the container's processes and starts it again. Gently lets them end on their own first, for as
	// long as the container is configured to wait; otherwise they are killed immediately.
	RestartContainer(ctx context.Context, containerID string, gently bool) error
	// ContainerStates returns the states of the containers that carry all of the labels, including those that do not
	// run. An empty value matches any value.
	ContainerStates(ctx context.Context, labels map[string]string) ([]ContainerState, error)
	// WatchContainers calls changed once it is listening, and then after each event of a container that carries the
	// label. It returns when ctx or the connection ends, always with an error. It calls changed on the caller's
	// goroutine.
	WatchContainers(ctx context.Context, label string, changed func()) error
	// ContainerLogs opens the log of a container since a time (zero means from the beginning), over all of its runs. It
	// consists of whole lines, each preceded by its time in RFC 3339 with nanoseconds and a space. With follow the
	// stream stays open until the container ends. The caller closes it. A missing container satisfies IsNotFound.
	ContainerLogs(ctx context.Context, containerID string, since time.Time, follow bool) (io.ReadCloser, error)
	// ContainerChanges returns the paths at which the file system of a container differs from its image. It ignores
	// volumes.
	ContainerChanges(ctx context.Context, containerID string) ([]string, error)
	// RemoveContainer stops a container according to its settings, and removes it; its volumes stay. A missing
	// container satisfies IsNotFound.
	RemoveContainer(ctx context.Context, containerID string) error
	// Env returns the variables that a docker CLI needs to reach this engine. It is empty if the CLI uses this engine
	// by default.
	Env() []string
	// Close closes idle connections.
	Close() error
}

// Info describes an engine.
type Info struct {
	// Version is the engine's version ("20.10.24"), APIVersion the negotiated API version ("1.41").
	Version    string
	APIVersion string
	// OS and Arch are the system and the architecture of the containers, as in GOOS and GOARCH ("linux", "amd64").
	OS   string
	Arch string
	// BuildKit is set if images are built with BuildKit, not with the classic builder.
	BuildKit bool
	// ManifestIDs is set if the ID of an image is the digest by which registries know it, as in engines that keep images as containerd
	// does, rather than the digest of its configuration.
	ManifestIDs bool
	// Host is the address of the engine, e.g. "unix:///var/run/docker.sock".
	Host string
	// Name is the host name of the machine that the engine runs on ("minikube", "colima").
	Name string
	// Product is the engine's name for the system that it runs on ("Docker Desktop", "Debian GNU/Linux 12").
	Product string
}

// Image is an image in the engine.
type Image struct {
	// ID is the content id, "sha256:…".
	ID string
	// Tags are all references of the image, in the familiar short form ("api:hone-0123456789abcdef").
	Tags []string
	// Digests are the references by which registries have the image, as far as the engine knows: "host/name@sha256:…".
	Digests []string
	OS      string
	Arch    string
	// Size is in bytes.
	Size int64
	// Layers are the digests of the layers' uncompressed content, from the bottom.
	Layers []string
	// TaggedAt is the time at which the image last got a reference, or its creation time if it never got one.
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

// ContainerState describes a container and its current state.
type ContainerState struct {
	ID   string
	Name string
	// Image is the reference that it was created with, ImageID the content id of that image.
	Image   string
	ImageID string
	Labels  map[string]string
	// Entrypoint is the container's entrypoint, or the image's if the container has none.
	Entrypoint []string
	// Status is the engine's status: created, running, paused, restarting, removing, exited, dead. Health is empty
	// without a health check, else starting, healthy or unhealthy. HealthLog is the output of the newest check.
	Status    string
	Health    string
	HealthLog string
	// ExitCode is the exit code of the last run that has ended; Err is the reason why the engine could not start the container.
	ExitCode  int
	OOMKilled bool
	Err       string
	// Restarts counts the automatic restarts by the engine.
	Restarts   int
	CreatedAt  time.Time
	StartedAt  time.Time
	FinishedAt time.Time
	// Ports are the published ports, sorted.
	Ports []PublishedPort
}

// Running reports whether the container's process runs, or is only paused.
func (c ContainerState) Running() bool { return c.Status == "running" || c.Status == "paused" }

// PublishedPort is a port of a container that is published on the engine's machine.
type PublishedPort struct {
	HostIP   string
	HostPort int
	Port     int
	Protocol string
}

// BuildRequest describes an image to build.
type BuildRequest struct {
	// Context is the absolute path of the folder from which COPY copies files; empty for a context without files.
	Context string
	// Ignores exclude files from the context.
	Ignores []model.Ignore
	// Dockerfile is the path that messages name. Contents is the text that is built.
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
	ExtraHosts []string
	// CacheFrom are the caches that the build may use, and CacheTo those that it writes.
	CacheFrom, CacheTo []model.BuildCache
	// Bases are images that the Dockerfile names, and that no registry has which the builder reaches. An engine has its own, and ignores them.
	Bases []Base
	// Platform is "os/arch"; empty for the engine's own.
	Platform string
	// Pull checks the registry for a newer base image. NoCache runs every step again.
	Pull    bool
	NoCache bool
	// Image is the reference of the image in the Tiltfile. A builder of several daemons has the cache of an image at one of them.
	Image string
	// Labels are added to the image. Tags are its references.
	Labels map[string]string
	Tags   []string
	// Output says where a builder without a store of its own puts the image; nil leaves it there. An engine keeps its images, and ignores it.
	Output *Output
	// Log receives the steps and their output; nil discards them.
	Log logstore.Logger
	// OnContext, if set, receives the duration of the context's transfer, if there was one, before Build returns.
	OnContext func(took time.Duration)
	// OnStep, if set, receives the number of begun steps of the build, including steps whose results are cached, and the number of all
	// steps, whenever one of them changes. Steps are the numbered steps of the Dockerfile in all stages that the image needs. Build
	// calls it on the caller's goroutine, starting over if it has to build again.
	OnStep func(begun, all int)
	// OnWait, if set, receives the reason why the build waits for a builder while others answer, whenever there is another one, and an empty
	// one when the wait is over. Build calls it on the caller's goroutine.
	OnWait func(why string)
}

// Output is a place for an image.
type Output struct {
	// Repository is the name to push the image to, without a tag: the registry gets it by its digest, which is the id that the build
	// returns.
	Repository string
	// Archive, if Repository is empty, opens a receiver of the image in the form of "docker save", under the reference Name. It is called for
	// each attempt to build, and the receiver is closed at the end of the attempt.
	Archive func() io.WriteCloser
	Name    string
	// Layout, if set, is a folder that gets the blobs of the image: the manifest, the configuration, small layers, and those others that Wants
	// asks for by their digests. The image goes nowhere else.
	Layout string
	Wants  func(ctx context.Context, layer string) bool
	// Into, if set, takes in the blobs of the image that it lacks. The image goes nowhere else.
	Into Receiver
}

// step reports how many of the build's steps have begun.
func (r BuildRequest) step(begun, all int) {
	if r.OnStep != nil {
		r.OnStep(begun, all)
	}
}

// sent reports how long the transfer of the context took; 0 means that there was none.
func (r BuildRequest) sent(took time.Duration) {
	if r.OnContext != nil && took > 0 {
		r.OnContext(took)
	}
}
