//go:build linux

package agent

import (
	"bufio"
	"os"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// A container's process and this program may start at the same time, so the search for the supervisor is repeated.
const (
	seekEvery = 100 * time.Millisecond
	seekTimes = 100
)

// supervisor returns the connection to the supervisor of this container, nil if there is none. The supervisor of the
// other container is out of reach. From now on the supervisor's messages are passed on.
func (s *server) supervisor() *link {
	l, found := s.dial()
	if found {
		s.all.Go(func() { s.relay(l) })
	}
	return l
}

// dial is like supervisor, but leaves the relay to its caller if it finds a new supervisor.
func (s *server) dial() (l *link, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != nil || s.closed() || !s.own() {
		return s.link, false // at the end, a new connection would not be closed
	}
	s.link = dialSupervisor()
	return s.link, s.link != nil
}

func (s *server) closed() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// seek looks for the supervisor of a container that has just begun.
func (s *server) seek() {
	tick := time.NewTicker(seekEvery)
	defer tick.Stop()
	for range seekTimes {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		if s.supervisor() != nil {
			return
		}
	}
}

// restart requests a restart, unless the request before it has failed. The supervisor knows whether the step was carried out
// before.
func (s *server) restart(m *protocol.Restart, step protocol.Step, ok bool) {
	if !ok {
		s.out.send(&protocol.Restarted{ID: m.ID, Code: protocol.RestartSkipped, Text: errSkipped.Error()})
		return
	}
	l := s.supervisor()
	if l == nil {
		s.out.send(&protocol.Restarted{ID: m.ID, Code: protocol.RestartUnsupervised, Text: noSupervisor})
		return
	}
	if m.After != 0 { // a step with a sequence of its own follows nothing
		s.journal.begin(step)
	}
	messages := []protocol.Message{m}
	if step.Sequence != 0 {
		messages = []protocol.Message{&step, m}
	}
	if !l.send(messages...) {
		s.out.send(&protocol.Restarted{ID: m.ID, Code: protocol.RestartFailed, Text: "the supervisor does not answer"})
	}
}

// link is a connection to the supervisor of this container. It speaks the same frames.
type link struct {
	conn *os.File
	mu   sync.Mutex
	w    *protocol.Writer
}

// dialSupervisor returns nil if the container's process has no supervisor.
func dialSupervisor() *link {
	conn, err := dialSocket()
	if err != nil {
		return nil
	}
	return &link{conn: conn, w: protocol.NewWriter(conn)}
}

// send sends messages in one go.
func (l *link) send(messages ...protocol.Message) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range messages {
		l.w.Append(m)
	}
	return l.w.Flush() == nil
}

// relay passes on the supervisor's messages until one of the two ends. It hangs up after the end of the container's
// process, which the supervisor waits for: the end of the supervisor ends this program.
func (s *server) relay(l *link) {
	r := protocol.NewReader(bufio.NewReader(l.conn))
	for {
		m, err := r.Next()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *protocol.Restarted:
			s.out.send(m)
		case *protocol.Process:
			s.out.send(m)
			if m.Ending && !m.Running {
				l.close()
				return
			}
		}
	}
}

func (l *link) close() { _ = l.conn.Close() }

// end ends the connection, and tells the supervisor if the client has left: it waits for a client that was lost.
func (l *link) end(left bool) {
	if left {
		l.send(&protocol.Leave{})
	}
	l.close()
}
