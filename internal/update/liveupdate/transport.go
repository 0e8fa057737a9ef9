package liveupdate

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// Exit codes with a special meaning.
const (
	codeNotExecutable = 126
	codeNotFound      = 127
	codeKilled        = 137 // 128 + SIGKILL: the container went away
)

// ExitCode returns the exit code of a command in a container that err stands for. ok is false for errors of the
// connection.
func ExitCode(err error) (code int, ok bool) { return exitCode(err) }

// exitCode returns the exit code that err stands for. Runtimes report a program that cannot be started either as exit
// code 126 or 127 or as an error of their own, which can be recognized only by its text.
func exitCode(err error) (code int, exited bool) {
	var coder interface{ ExitCode() int }
	if errors.As(err, &coder) {
		return coder.ExitCode(), true
	}
	var exit *k8s.ExitError // it holds its code in a field
	if errors.As(err, &exit) {
		return exit.Code, true
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "executable file not found"),
		strings.Contains(text, "unable to start container process") && strings.Contains(text, "no such file or directory"):
		return codeNotFound, true
	case strings.Contains(text, "unable to start container process") && strings.Contains(text, "permission denied"):
		return codeNotExecutable, true
	}
	return 0, false
}

// cannotStart reports whether err says that the program is not in the image or cannot be executed.
func cannotStart(err error) bool {
	if err == nil {
		return false
	}
	code, ok := exitCode(err)
	return ok && (code == codeNotExecutable || code == codeNotFound)
}

// undelivered reports whether a connection failed before anything can have started in the container.
func undelivered(err error) bool {
	if _, exited := exitCode(err); exited {
		return false
	}
	return errors.Is(err, syscall.ECONNREFUSED) || containsAny(err, "error dialing backend", "connection refused", "TLS handshake timeout")
}

// transient reports whether a connection failed in a way that a second try may not hit again.
func transient(err error) bool {
	if _, exited := exitCode(err); exited {
		return false
	}
	return undelivered(err) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		containsAny(err, "connection reset", "broken pipe", "unexpected EOF", "client connection lost", ": EOF")
}

func containsAny(err error, parts ...string) bool {
	text := err.Error()
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// pauses are the waits before the second and the third try.
var pauses = []time.Duration{50 * time.Millisecond, 250 * time.Millisecond}

// persist calls do until it succeeds, fails in a way that again rejects, or has failed three times.
func persist(ctx context.Context, again func(error) bool, do func() error) error {
	for _, pause := range pauses {
		err := do()
		if err == nil || ctx.Err() != nil || !again(err) {
			return err
		}
		if !retry.Sleep(ctx, pause) {
			return err
		}
	}
	return do()
}

// transportProblem adds a mend to the errors of the connection that the user can do something about.
func transportProblem(err error) error {
	if _, ok := problem.Of(err); ok {
		return err
	}
	if containsAny(err, "forbidden", "Forbidden") {
		return problem.Wrap(err, "not allowed to run commands in the pod",
			`Let your user "create" the resource "pods/exec" in this namespace, or use --update-mode=image.`)
	}
	if containsAny(err, "rootfs is marked read-only", "read-only file system") {
		return unwritable(err)
	}
	return err
}
