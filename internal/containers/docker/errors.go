package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"github.com/hone-dev/hone/internal/base/problem"
)

// ExitError is the error of a command in a container that ended with a code other than zero.
type ExitError struct {
	Code int
}

// Error returns "exit code N".
func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// ExitCode returns the code.
func (e *ExitError) ExitCode() int { return e.Code }

var _ error = (*ExitError)(nil)

// UserError marks a build that failed because of the user's input: the same request fails again until a file changes.
type UserError struct {
	Problem *problem.Problem
}

// Error returns the problem's text.
func (e *UserError) Error() string { return e.Problem.Error() }

// Unwrap returns the problem.
func (e *UserError) Unwrap() error { return e.Problem }

var _ error = (*UserError)(nil)

// IsNotFound reports whether err means that the image or container does not exist.
func IsNotFound(err error) bool { return cerrdefs.IsNotFound(err) }

// IsInUse reports whether err means that a container still uses the image to remove.
func IsInUse(err error) bool { return cerrdefs.IsConflict(err) }

// IsUnreachable reports whether err means that the engine cannot be reached.
func IsUnreachable(err error) bool {
	var u *unreachableError
	return errors.As(err, &u)
}

// unreachableError is the cause of the problem that reports an engine that does not answer.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string { return e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

var _ error = (*unreachableError)(nil)

// BuilderAway returns the problem of a builder other than an engine that does not answer. It satisfies IsUnreachable.
func BuilderAway(err error, summary, mend string) error {
	return problem.Wrap(&unreachableError{err}, summary, mend).See("builders")
}

// BuilderStarting is BuilderAway for a builder that does not answer because it starts.
func BuilderStarting(err error, summary, mend string) error {
	return problem.Wrap(&unreachableError{&startingError{err}}, summary, mend).See("builders")
}

// IsStarting reports whether err is a problem of BuilderStarting.
func IsStarting(err error) bool { return errors.As(err, new(*startingError)) }

// StartsAfter returns the thing that the start of a builder waits for; empty if err is no problem of BuilderStarting.
func StartsAfter(err error) string {
	var s *startingError
	if !errors.As(err, &s) {
		return ""
	}
	return s.Error()
}

// startingError is the thing that the start of a builder waits for.
type startingError struct{ error }

// IsPassing reports whether err may go away without a change of any file: a registry did not accept a push, or the
// connection to the engine broke during its work.
func IsPassing(err error) bool {
	var p *Passing
	return errors.As(err, &p)
}

// Passing is an external failure that may end at any time.
type Passing struct{ Err error }

// Error returns the text of the failure.
func (e *Passing) Error() string { return e.Err.Error() }

// Unwrap returns the failure.
func (e *Passing) Unwrap() error { return e.Err }

var _ error = (*Passing)(nil)

// orAway returns err, or an unreachable error if the engine does not answer: err is then only a consequence of the
// engine's end.
func (e *Engine) orAway(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || IsUnreachable(err) {
		return err
	}
	if gone := e.Alive(ctx); e.endpoint.Fault == nil && IsUnreachable(gone) {
		return gone
	}
	return err
}

// Unreachable returns the problem of an engine that does not answer, with advice for the user.
func Unreachable(host, context string, err error) error {
	summary := "cannot reach the Docker engine at " + host
	if context != "" {
		summary += fmt.Sprintf(" (docker context %q)", context)
	}
	mend := "start the engine, or point DOCKER_HOST at another one"
	path, local := strings.CutPrefix(host, "unix://")
	switch {
	case errors.Is(err, os.ErrPermission) || strings.Contains(err.Error(), "permission denied"):
		mend = "let your user use the engine's socket: sudo usermod -aG docker \"$USER\", then log in again"
	case context != "":
		mend = "start the engine, or choose another: docker context use default"
	case local && !exists(path):
		mend = "start the engine (" + path + " does not exist), or point DOCKER_HOST at another one"
	}
	return problem.Wrap(&unreachableError{err}, summary, mend).See("troubleshooting")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// wrap adds the operation that failed, and turns connection failures into a problem.
func (e *Engine) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if fault := e.endpoint.Fault; fault != nil {
		return &unreachableError{fault}
	}
	if client.IsErrConnectionFailed(err) {
		return Unreachable(e.endpoint.Host, e.endpoint.Context, err)
	}
	return fmt.Errorf("%s: %w", op, err)
}
