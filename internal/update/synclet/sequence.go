package synclet

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// Then holds the steps behind the files of an update. They travel with the files, and the synclet begins each step when the one
// before has succeeded: on a slow connection, waiting for each answer costs more than the work.
type Then struct {
	// Sequence identifies the steps, so that none is carried out twice if its answer is lost; zero if that does not matter.
	Sequence uint64
	Runs     []model.Cmd
	// Restart requests a new process at the end; the old one has Grace to end.
	Restart bool
	Grace   time.Duration
}

// sequence holds the steps of an update that have been sent and may still run.
type sequence struct {
	runs    []*order
	restart *pendingRestart
	// contents maps the update's paths to their contents once its files are in place; nil if there are no steps, or if not all
	// files were read.
	contents map[string]content
}

// order is a command whose answers have not been awaited yet.
type order struct {
	message  *protocol.Run
	answered chan struct{}
	exited   *protocol.Exited // valid once answered is closed

	mu sync.Mutex
	// out receives the output. It is nil until await is called; early holds the output that arrives before.
	out   io.Writer
	early []byte
}

// order prepares a command; it is sent by the caller.
func (s *Conversation) order(cmd model.Cmd, after uint64) (*order, error) {
	o := &order{answered: make(chan struct{})}
	id, err := s.expect(o.take)
	if err != nil {
		return nil, err
	}
	o.message = &protocol.Run{ID: id, Argv: cmd.Argv, Dir: cmd.Dir, Env: cmd.Env, After: after}
	return o, nil
}

// mostEarly is the most output of a command, in bytes, that is kept until await is called. await is called once the commands before
// it have ended, and this one begins no earlier: the time between is short.
const mostEarly = 1 << 20

// take takes an answer.
func (o *order) take(m protocol.Message) (last bool) {
	switch m := m.(type) {
	case *protocol.Output:
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.out != nil {
			_, _ = o.out.Write(m.Data)
		} else if len(o.early) < mostEarly {
			o.early = append(o.early, m.Data...)
		}
		return false
	case *protocol.Exited:
		o.exited = m
		close(o.answered)
	}
	return true
}

// await waits until the command has ended; see Conversation.Run.
func (o *order) await(ctx context.Context, s *Conversation, out io.Writer) error {
	o.mu.Lock()
	o.out = out
	_, _ = out.Write(o.early)
	o.early = nil
	o.mu.Unlock()
	id := o.message.ID
	if err := s.await(ctx, o.answered); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, s.send(&protocol.Kill{ID: id}))
			<-s.either(o.answered)
		}
		s.forget(id)
		return err
	}
	if o.exited.Code != 0 {
		return &ExitError{Code: int(o.exited.Code), Text: o.exited.Text}
	}
	if o.exited.Text != "" {
		_, _ = io.WriteString(out, o.exited.Text+"\n")
	}
	return nil
}

// pendingRestart is a restart whose answer has not been awaited yet.
type pendingRestart struct {
	message   *protocol.Restart
	answered  chan struct{}
	restarted *protocol.Restarted // valid once answered is closed
}

// pendingRestart prepares a restart; it is sent by the caller.
func (s *Conversation) pendingRestart(grace time.Duration, after uint64) (*pendingRestart, error) {
	r := &pendingRestart{answered: make(chan struct{})}
	id, err := s.expect(func(m protocol.Message) bool {
		if m, ok := m.(*protocol.Restarted); ok {
			r.restarted = m
			close(r.answered)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	r.message = &protocol.Restart{ID: id, GraceNanos: uint64(grace), After: after}
	return r, nil
}

// await waits until the new process has been started; see Conversation.Restart.
func (r *pendingRestart) await(ctx context.Context, s *Conversation) error {
	defer s.forget(r.message.ID)
	if err := s.await(ctx, r.answered); err != nil {
		return err
	}
	switch r.restarted.Code {
	case protocol.RestartDone:
		return nil
	case protocol.RestartUnsupervised:
		return ErrNoSupervisor
	case protocol.RestartNotStarted:
		return &NotStartedError{r.restarted.Text}
	}
	return errors.New(r.restarted.Text)
}

// prepare prepares the steps behind the request with the id after; zero means no request. The caller sends the messages in their
// order.
func (s *Conversation) prepare(then Then, after uint64) (f sequence, messages []protocol.Message, err error) {
	add := func(m protocol.Message) {
		if then.Sequence != 0 {
			messages = append(messages, &protocol.Step{Sequence: then.Sequence, Number: uint64(len(messages) / 2)})
		}
		messages = append(messages, m)
	}
	for _, cmd := range then.Runs {
		o, err := s.order(cmd, after)
		if err != nil {
			return f, nil, err
		}
		add(o.message)
		f.runs, after = append(f.runs, o), o.message.ID
	}
	if then.Restart {
		if f.restart, err = s.pendingRestart(then.Grace, after); err != nil {
			return f, nil, err
		}
		add(f.restart.message)
	}
	return f, messages, nil
}
