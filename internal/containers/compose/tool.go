package compose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/pkg/model"
)

// Runner runs services of Compose projects. All output of a run goes to its log. Errors that the user can act on are
// problems. It is safe for use by several goroutines.
type Runner interface {
	// Build builds the image of a service as declared in the Compose files.
	Build(ctx context.Context, p model.ComposeProject, b Build, log logstore.Logger) error
	// Up creates or updates the containers of one service according to the project and the changes in u, and starts
	// them. It does not touch containers that are up to date. It creates the networks and volumes that they need. It
	// does not touch other services, nor containers of the project that hone does not know.
	Up(ctx context.Context, p model.ComposeProject, u Up, log logstore.Logger) error
	// Down removes all containers and networks of the project. With volumes it also removes the project's volumes.
	Down(ctx context.Context, p model.ComposeProject, volumes bool, log logstore.Logger) error
}

// Build describes the service to build.
type Build struct {
	Service string
	// NoCache runs every step of the build again.
	NoCache bool
}

// Up describes the service to start, and the differences from the Compose files.
type Up struct {
	Service string
	// Image, if not empty, is the image that the containers run. It must exist; it is neither built nor pulled.
	Image string
	// Entrypoint, if not nil, replaces the service's entrypoint, and Command its command.
	Entrypoint []string
	Command    []string
	// NoStart creates the containers without starting them. Recreate recreates them even if they are unchanged.
	NoStart  bool
	Recreate bool
}

// Tool is a Runner that runs the program of Docker Compose v2. Construct it with NewTool.
type Tool struct {
	env []string

	mu   sync.Mutex
	argv []string // the command to run it, once found; guarded by mu
	// locks has a channel for each project, with one slot for the run that may create networks, volumes and containers;
	// guarded by mu.
	locks map[string]chan struct{}
}

// NewTool returns a Tool. env is added to its environment, for example to select the engine. The program is looked up
// when it is first needed.
func NewTool(env []string) *Tool { return &Tool{env: env, locks: map[string]chan struct{}{}} }

var _ Runner = (*Tool)(nil)

const (
	// commandVariable is the environment variable with which Tilt's users name the program.
	commandVariable = "TILT_DOCKER_COMPOSE_CMD"
	askTimeout      = 10 * time.Second
	// grace is the time that a run may take to end after it was interrupted.
	grace = 10 * time.Second
)

// Version returns the version of the program.
func (t *Tool) Version(ctx context.Context) (string, error) {
	argv, err := t.find(ctx)
	if err != nil {
		return "", err
	}
	return version(ctx, argv, t.env)
}

// find returns the command to run Docker Compose: the one that the environment names, the plugin of the docker command,
// or the standalone command.
func (t *Tool) find(ctx context.Context) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.argv != nil {
		return t.argv, nil
	}
	candidates := [][]string{{"docker", "compose"}, {"docker-compose"}}
	if named := strings.Fields(os.Getenv(commandVariable)); len(named) > 0 {
		candidates = [][]string{named}
	}
	var old []string
	for _, argv := range candidates {
		v, err := version(ctx, argv, t.env)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || v == "" {
			continue
		}
		if isRecent(v) {
			t.argv = argv
			return argv, nil
		}
		old = append(old, fmt.Sprintf("%s is version %s", strings.Join(argv, " "), v))
	}
	mend := "Install Docker Compose v2 as a plugin of docker (https://docs.docker.com/compose/install),\nor name the program in " + commandVariable + "."
	if len(old) > 0 {
		return nil, problem.New("Docker Compose is too old: "+strings.Join(old, "; ")+", and hone needs 2", mend).See("compose")
	}
	return nil, problem.New("Docker Compose was not found: neither as docker compose nor as docker-compose", mend).See("compose")
}

func version(ctx context.Context, argv, env []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var out bytes.Buffer
	err := process.Run(ctx, process.Command{Cmd: model.Cmd{Argv: slices.Concat(argv, []string{"version", "--short"})},
		ExtraEnv: env, Stdout: &out, Plain: true})
	return strings.TrimPrefix(strings.TrimSpace(out.String()), "v"), err
}

// isRecent reports whether a version may be 2 or later. Version 1 always begins with a number; a version without one
// ("dev", a commit) was built from the sources of a later version.
func isRecent(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return err != nil || n >= 2
}

// lock waits until no other run creates anything in a project. Otherwise two runs could create the project's networks
// at the same time: the engine accepts several networks of the same name, and then none of them can be used. The caller
// must call done.
func (t *Tool) lock(ctx context.Context, project string) (done func(), err error) {
	t.mu.Lock()
	lock := t.locks[project]
	if lock == nil {
		lock = make(chan struct{}, 1)
		t.locks[project] = lock
	}
	t.mu.Unlock()
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Build implements Runner.
func (t *Tool) Build(ctx context.Context, p model.ComposeProject, b Build, log logstore.Logger) error {
	args := []string{"build"}
	if b.NoCache {
		args = append(args, "--no-cache")
	}
	return t.run(ctx, p, nil, log, "build "+b.Service, append(args, b.Service)...)
}

// Up implements Runner.
func (t *Tool) Up(ctx context.Context, p model.ComposeProject, u Up, log logstore.Logger) error {
	override, err := u.override()
	if err != nil {
		return err
	}
	args := []string{"up", "--no-deps", "--no-build"}
	start := append(slices.Clone(args), "--detach")
	if u.NoStart {
		start = append(slices.Clone(args), "--no-start")
	}
	if u.Recreate {
		start = append(start, "--force-recreate")
	}
	if err := t.make(ctx, p, override, log, "start "+u.Service, append(start, u.Service)...); err != nil || !p.Wait || u.NoStart {
		return err
	}
	return t.run(ctx, p, override, log, "start "+u.Service, append(args, "--detach", "--wait", u.Service)...)
}

// make works like run, for commands that create or remove something: it waits for the project's turn.
func (t *Tool) make(ctx context.Context, p model.ComposeProject, override []byte, log logstore.Logger, what string, args ...string) error {
	done, err := t.lock(ctx, p.Name)
	if err != nil {
		return err
	}
	defer done()
	return t.run(ctx, p, override, log, what, args...)
}

// Down implements Runner.
func (t *Tool) Down(ctx context.Context, p model.ComposeProject, volumes bool, log logstore.Logger) error {
	args := []string{"down", "--remove-orphans"}
	if volumes {
		args = append(args, "--volumes")
	}
	return t.make(ctx, p, nil, log, "take down "+p.Name, args...)
}

// run runs the program for a project. The override is an additional Compose file, nil for none.
func (t *Tool) run(ctx context.Context, p model.ComposeProject, override []byte, log logstore.Logger, what string, args ...string) error {
	argv, err := t.find(ctx)
	if err != nil {
		return err
	}
	files, remove, err := onDisk(p.Files)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer remove()
	argv = append(slices.Clone(argv), "--progress", "plain", "--ansi", "never", "--project-name", p.Name, "--project-directory", p.Dir)
	for _, f := range files {
		argv = append(argv, "--file", f)
	}
	for _, f := range p.EnvFiles {
		argv = append(argv, "--env-file", f)
	}
	for _, name := range p.Profiles {
		argv = append(argv, "--profile", name)
	}
	c := process.Command{ExtraEnv: t.env, Grace: grace, Plain: true,
		// These must not come from the environment: the Tiltfile was evaluated with that already.
		Without: []string{"COMPOSE_PROFILES", "COMPOSE_FILE", "COMPOSE_PROJECT_NAME"}}
	for _, kv := range p.Env {
		if strings.Contains(kv, "=") {
			c.Env = append(c.Env, kv)
		} else {
			c.Without = append(c.Without, kv)
		}
	}
	if override != nil {
		argv = append(argv, "--file", "-")
		c.Stdin = bytes.NewReader(override)
	}
	argv = append(argv, args...)
	c.Argv, c.Dir = argv, p.Dir
	said := &lastLine{to: logstore.WriterAt(log, logstore.LevelInfo)}
	c.Stdout, c.Stderr = said, said
	flush := func() {}
	if _, set := os.LookupEnv("COMPOSE_BAKE"); !set {
		quiet := &withoutBake{to: said}
		c.Stdout, c.Stderr, flush = quiet, quiet, quiet.flush
	}
	err = process.Run(ctx, c)
	flush()
	logstore.Flush(log)
	var exit *process.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit) && said.text() != "":
		return fmt.Errorf("docker compose could not %s: %s", what, said.text())
	}
	return fmt.Errorf("docker compose could not %s: %w", what, err)
}

// onDisk returns the paths of the files of a project. It writes inline text to a private folder, which remove removes.
func onDisk(files []model.ComposeFile) (paths []string, remove func(), err error) {
	dir := ""
	remove = func() {
		if dir != "" {
			_ = os.RemoveAll(dir)
		}
	}
	for i, f := range files {
		if f.Path != "" {
			paths = append(paths, f.Path)
			continue
		}
		if dir == "" {
			if dir, err = os.MkdirTemp("", "hone-compose-"); err != nil {
				return nil, remove, err
			}
		}
		path := filepath.Join(dir, strconv.Itoa(i)+".yml")
		if err := os.WriteFile(path, []byte(f.Content), 0o600); err != nil {
			remove()
			return nil, func() {}, err
		}
		paths = append(paths, path)
	}
	return paths, remove, nil
}

// bakeFallback is part of a line that Compose prints at each build if the buildx plugin is missing or BuildKit is
// disabled: it then builds without Bake. Configuring that explicitly also causes a warning.
var bakeFallback = []byte("configured to build using Bake, but")

// withoutBake passes on all lines except that one.
type withoutBake struct {
	to io.Writer

	mu   sync.Mutex
	open []byte // the incomplete last line; guarded by mu
}

// Write implements io.Writer.
func (w *withoutBake) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, p...)
	end := bytes.LastIndexByte(w.open, '\n') + 1
	for line := range bytes.Lines(w.open[:end]) {
		if bytes.Contains(line, bakeFallback) {
			continue
		}
		if _, err := w.to.Write(line); err != nil {
			return 0, err
		}
	}
	w.open = append([]byte(nil), w.open[end:]...)
	return len(p), nil
}

// flush passes on an incomplete last line.
func (w *withoutBake) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.to.Write(w.open)
	w.open = nil
}

// lastLine passes on all output and keeps the last line that is not empty.
type lastLine struct {
	to io.Writer

	mu   sync.Mutex
	tail []byte // guarded by mu
}

// tailBytes is the number of bytes that are kept of the end.
const tailBytes = 4 << 10

// Write implements io.Writer.
func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.tail = append(l.tail, p...)
	if n := len(l.tail) - tailBytes; n > 0 {
		l.tail = append([]byte(nil), l.tail[n:]...)
	}
	l.mu.Unlock()
	return l.to.Write(p)
}

func (l *lastLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(l.tail)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
