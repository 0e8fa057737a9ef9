package synclet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// ExitError means that a command ended with a code other than 0, or could not be started.
type ExitError struct {
	// Code is the exit code: 127 when the program does not exist, 126 when it cannot be started, and 128 plus the number
	// of the signal that ended it.
	Code int
	// Text is why the command could not be started, empty if it was.
	Text string
}

// Error returns the code, with the reason where it could not be started.
func (e *ExitError) Error() string {
	if e.Text != "" {
		return e.Text
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// ExitCode returns Code.
func (e *ExitError) ExitCode() int { return e.Code }

var _ error = (*ExitError)(nil)

// Run runs a command in the container until it ends. Its output is written to out as it arrives, from one goroutine. An
// empty dir means the container's working folder. A code other than 0 gives an *ExitError. When ctx is done, the command
// is killed with all its descendants.
func (s *Conversation) Run(ctx context.Context, argv []string, dir string, env []string, out io.Writer) error {
	o, err := s.order(model.Cmd{Argv: argv, Dir: dir, Env: env}, 0)
	if err != nil {
		return errors.Join(err, errUnsent)
	}
	if err := s.send(o.message); err != nil {
		s.forget(o.message.ID)
		return errors.Join(err, errUnsent) // the synclet ignores half a frame
	}
	return o.await(ctx, s, out)
}

// either is closed when a request is answered or the conversation has ended.
func (s *Conversation) either(answered <-chan struct{}) <-chan struct{} {
	c := make(chan struct{})
	go func() {
		defer close(c)
		select {
		case <-answered:
		case <-s.done:
		}
	}()
	return c
}

// ErrNoSupervisor means that the container's process cannot be restarted, because only the container runtime controls
// it.
var ErrNoSupervisor = errors.New("the container's process does not run under the synclet")

// NotStartedError means that the process has ended, and that the new one could not be started.
type NotStartedError struct{ Reason string }

// Error returns the reason.
func (e *NotStartedError) Error() string { return e.Reason }

var _ error = (*NotStartedError)(nil)

// Restart ends the container's process, with SIGTERM and after the grace period with SIGKILL, and returns when the new
// one has been started. The error is ErrNoSupervisor if that is not possible, and a *NotStartedError if no process is
// running now. A restart with the same step is carried out only once, even if its answer is lost. Sequence zero means no step.
func (s *Conversation) Restart(ctx context.Context, step protocol.Step, grace time.Duration) error {
	r, err := s.pendingRestart(grace, 0)
	if err != nil {
		return err
	}
	messages := []protocol.Message{r.message}
	if step.Sequence != 0 {
		messages = []protocol.Message{&step, r.message}
	}
	if err := s.send(messages...); err != nil {
		s.forget(r.message.ID)
		return err
	}
	return r.await(ctx, s)
}

// Ping returns the round-trip time to the synclet.
func (s *Conversation) Ping(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	answered := make(chan struct{})
	id, err := s.expect(func(m protocol.Message) bool {
		if m != nil {
			close(answered)
		}
		return true
	})
	if err != nil {
		return 0, err
	}
	defer s.forget(id)
	if err := s.send(&protocol.Ping{ID: id}); err != nil {
		return 0, err
	}
	if err := s.await(ctx, answered); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}
