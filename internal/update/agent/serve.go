//go:build linux

package agent

import (
	"bufio"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// Serve speaks the protocol until in ends, which is not an error. Running commands are killed, and staged changes
// without a commit are discarded.
func Serve(in io.Reader, out io.Writer, environ []string) error {
	_, err := serve(in, out, environ, ownFiles{})
	return err
}

// serve is Serve for any files. It also returns whether the client has ended the conversation for good.
func serve(in io.Reader, out io.Writer, environ []string, files files) (left bool, err error) {
	if _, err := io.WriteString(out, protocol.Preamble); err != nil {
		return false, err
	}
	s := &server{out: &replies{w: protocol.NewWriter(out)}, environ: environ, files: files, running: map[uint64]*command{},
		outcomes: map[uint64]*outcome{}, journal: &journal{}, done: make(chan struct{})}
	defer s.end()
	r := protocol.NewReader(bufio.NewReaderSize(in, 64<<10))
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			return false, nil
		}
		if _, left := m.(*protocol.Leave); left {
			s.left = true
			return true, nil
		}
		if err == nil {
			err = s.handle(m)
		}
		if err != nil {
			s.out.send(&protocol.Failed{Text: err.Error()})
			return false, err
		}
		if err := s.out.failure(); err != nil {
			return false, err
		}
	}
}

// replies takes messages from several goroutines.
type replies struct {
	mu  sync.Mutex
	w   *protocol.Writer
	err error
}

func (r *replies) send(m protocol.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	r.w.Append(m)
	r.err = r.w.Flush()
}

// gather adds a message to those that the next send writes; only long lists are written at once.
func (r *replies) gather(m protocol.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	r.w.Append(m)
	if r.w.Buffered() > protocol.MaxData {
		r.err = r.w.Flush()
	}
}

func (r *replies) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// server is one conversation.
type server struct {
	out     *replies
	environ []string
	files   files
	places  places
	greeted bool
	update  *update
	seeking bool          // whether seek was started
	step    protocol.Step // of the next request; its sequence is zero if the request is no step
	journal *journal
	left    bool          // the client has said Leave
	done    chan struct{} // closed at the end
	ended   atomic.Bool

	mu      sync.Mutex
	running map[uint64]*command // guarded by mu
	// outcomes are the results of updates and commands, by id, for the requests that wait for them; guarded by mu.
	outcomes map[uint64]*outcome
	link     *link // to the supervisor, nil if there is none; guarded by mu
	all      sync.WaitGroup
}

var errHello = errors.New("the conversation does not begin with hello")

func (s *server) handle(m protocol.Message) error {
	if hello, ok := m.(*protocol.Hello); ok {
		s.hello(hello)
		return nil
	}
	if !s.greeted {
		return errHello
	}
	switch m := m.(type) {
	case *protocol.Begin:
		s.abort()
		s.update = newUpdate(m, s.places)
	case *protocol.Put:
		return s.staging(func() { s.update.put(m) })
	case *protocol.Data:
		return s.staging(func() { s.update.data(m.Data) })
	case *protocol.Copy:
		return s.staging(func() { s.update.copy(m) })
	case *protocol.Patch:
		return s.staging(func() { s.update.patch(m) })
	case *protocol.Delete:
		return s.staging(func() { s.update.delete(m) })
	case *protocol.Commit:
		return s.staging(func() {
			u := s.update
			s.update = nil
			s.expect(u.id)
			s.beating(func() {
				applied := u.commit()
				s.out.send(applied)
				s.settle(u.id, len(applied.Faults) == 0)
			})
			s.all.Go(u.letGo)
		})
	case *protocol.Abort:
		s.abort()
	case *protocol.List:
		s.beating(func() { s.list(m) })
	case *protocol.Step:
		s.step = *m
	case *protocol.Done:
		s.journal.forget(m.Sequence)
	case *protocol.Run:
		s.runOnce(m, s.takeStep())
	case *protocol.Kill:
		s.kill(m.ID)
	case *protocol.Restart:
		step := s.takeStep()
		s.after(m.After, func(ok bool) { s.restart(m, step, ok) })
	case *protocol.Ping:
		s.out.send(&protocol.Pong{ID: m.ID})
	default:
		return errors.New("a message that only the synclet sends")
	}
	return nil
}

// hello takes the places, and looks for the supervisor of this container.
func (s *server) hello(m *protocol.Hello) {
	s.abort()
	s.places.close()
	if !s.greeted {
		claim(m.Client)
		s.journal = openJournal(m.Client)
		endCutOff(s.journal)
		s.all.Go(func() {
			sweepJournals()
			sweep(m.Places, s.files, &s.ended)
		})
	}
	s.places, s.greeted = newPlaces(m.Places, s.files), true
	l, found := s.dial()
	s.out.send(&protocol.Hello{Program: Program, UID: uint64(os.Getuid()), Supervised: l != nil, Sequence: s.journal.current(), Run: containerRun()})
	switch {
	case found:
		s.all.Go(func() { s.relay(l) }) // after hello, which comes first
	case l == nil && !s.seeking && s.own():
		s.seeking = true
		s.all.Go(s.seek)
	}
}

// own reports whether the conversation is about the container that the synclet runs in.
func (s *server) own() bool { return s.files == files(ownFiles{}) }

// staging calls do for the update that has begun.
func (s *server) staging(do func()) error {
	if s.update == nil {
		return errors.New("an update that has not begun")
	}
	do()
	return nil
}

func (s *server) abort() {
	if s.update != nil {
		s.update.abort()
		s.update = nil
	}
}

// end leaves nothing behind.
func (s *server) end() {
	s.ended.Store(true)
	s.abort()
	close(s.done)
	s.mu.Lock()
	for _, c := range s.running {
		c.kill()
	}
	if s.link != nil {
		s.link.end(s.left)
	}
	s.mu.Unlock()
	s.all.Wait()
	s.places.close()
}
