package shell

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// inEngine runs in a container of the session's container engine.
func (w *work) inEngine(ctx context.Context, c api.ShellContainer) error {
	engine, err := w.engine(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close() }()
	return w.inContainer(ctx, engine, c)
}

// execer is the part of a container engine that is needed here.
type execer interface {
	ContainerExec(ctx context.Context, containerID string, argv []string, stdin io.Reader, out io.Writer) error
	Exec(ctx context.Context, containerID string, argv []string, stdin io.Reader, stdout, stderr io.Writer) error
	ExecTerminal(ctx context.Context, containerID string, argv []string, t docker.Terminal) error
}

func (w *work) inContainer(ctx context.Context, engine execer, c api.ShellContainer) error {
	where := title(c)
	var found bytes.Buffer
	if len(w.argv) == 0 {
		// On a terminal, the engine's message about a missing shell could not be distinguished from the output of one: look first.
		err := engine.ContainerExec(ctx, c.ID, []string{"sh", "-c", "command -v bash || command -v sh"}, nil, &found)
		if exit, ok := exitOf(err); ok {
			return w.missing(where, "docker debug "+c.Pod+" brings one along, if your Docker has it", exit)
		}
		if err != nil {
			return w.ended(err, where)
		}
	}
	argv := w.or(cmp.Or(strings.TrimSpace(found.String()), "sh"))
	s, err := w.open(ctx)
	if err != nil {
		return err
	}
	w.greet(s, where)
	out, errs := &runtimeText{to: s.out}, &runtimeText{to: s.err}
	if s.tty {
		err = engine.ExecTerminal(ctx, c.ID, argv, docker.Terminal{In: s.in, Out: out, Sizes: s.sizes})
	} else {
		err = engine.Exec(ctx, c.ID, argv, s.in, out, errs)
	}
	code, ended := exitOf(err)
	refused := out.refuses() || errs.refuses()
	if refused && (code == notExecutable || code == notFound) {
		s.close(true)
		if out.notFound() || errs.notFound() {
			code = notFound
		}
		return w.missing(where, "", code)
	}
	if written := errors.Join(out.pass(), errs.pass()); written != nil && err == nil {
		err = fmt.Errorf("write what the command has printed: %w", written)
	}
	s.close(err == nil || ended)
	return w.ended(err, where)
}

// runtimeText passes on output, but holds back a text that may be the message of a container runtime that cannot start the command:
// an engine sends such a message as if the command had written it, with exit code 126 or 127.
type runtimeText struct {
	to     io.Writer
	held   []byte
	passes bool
}

const (
	runtimeRefuses = "OCI runtime exec failed:"
	// mostRefusal bounds such a message, in bytes.
	mostRefusal = 4 << 10
)

var _ io.Writer = (*runtimeText)(nil)

// Write implements io.Writer.
func (r *runtimeText) Write(p []byte) (int, error) {
	if r.passes {
		return r.to.Write(p)
	}
	r.held = append(r.held, p...)
	n := min(len(r.held), len(runtimeRefuses))
	if string(r.held[:n]) == runtimeRefuses[:n] && len(r.held) <= mostRefusal {
		return len(p), nil
	}
	return len(p), r.pass()
}

// pass writes the held text; all later output passes at once.
func (r *runtimeText) pass() error {
	r.passes = true
	_, err := r.to.Write(r.held)
	r.held = nil
	return err
}

// refuses reports whether all of the output is the message of a runtime.
func (r *runtimeText) refuses() bool { return strings.HasPrefix(string(r.held), runtimeRefuses) }

// notFound reports whether the message says that the command does not exist.
func (r *runtimeText) notFound() bool {
	return r.refuses() && (strings.Contains(string(r.held), "executable file not found") || strings.Contains(string(r.held), "no such file or directory"))
}

// ended returns the error for the end of a command in a container of an engine.
func (w *work) ended(err error, where string) error {
	code, exited := exitOf(err)
	switch {
	case err == nil:
		return nil
	case exited:
		return w.exited(code, where)
	case docker.IsNotFound(err):
		return problem.Wrap(err, where+" is gone", fmt.Sprintf("hone shell %s connects to its replacement", w.at.Resource))
	}
	return w.lost(err, where)
}

func exitOf(err error) (code int, ok bool) {
	var exit *docker.ExitError
	if !errors.As(err, &exit) {
		return 0, false
	}
	return exit.Code, true
}

// engine connects to the session's container engine.
func (w *work) engine(ctx context.Context) (*docker.Engine, error) {
	endpoint, err := docker.FindFor(ctx, model.Cluster{})
	if err != nil {
		return nil, err
	}
	if host := w.at.Engine; host != "" && host != endpoint.Host {
		if !w.here || !strings.HasPrefix(host, "unix://") && !strings.HasPrefix(host, "npipe://") {
			return nil, problem.New(fmt.Sprintf("the session uses the container engine at %s, and this shell the one at %s", host, endpoint.Host), "export DOCKER_HOST="+host)
		}
		endpoint = docker.Endpoint{Host: host}
	}
	return docker.New(endpoint)
}
