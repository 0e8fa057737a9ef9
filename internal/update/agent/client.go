//go:build linux

package agent

import (
	"bufio"
	"os"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// clients are the clients that may request restarts from the supervisor.
type clients struct {
	left chan struct{} // a client has gone

	mu   sync.Mutex
	all  map[*client]bool // guarded by mu
	last protocol.Process // guarded by mu
}

func newClients() *clients { return &clients{left: make(chan struct{}, 1), all: map[*client]bool{}} }

func (c *clients) none() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all) == 0
}

// tell sends the state of the process to every client, including those that join later.
func (c *clients) tell(p protocol.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = p
	for one := range c.all {
		one.send(&p)
	}
}

// join adds a client. It receives the last state before any later one.
func (c *clients) join(one *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[one] = true
	if p := c.last; p.Starts > 0 {
		one.send(&p)
	}
}

func (c *clients) leave(one *client) {
	c.mu.Lock()
	delete(c.all, one)
	c.mu.Unlock()
	_ = one.conn.Close()
	select {
	case c.left <- struct{}{}:
	default:
	}
}

// client is one of them.
type client struct {
	conn *os.File
	mu   sync.Mutex
	w    *protocol.Writer
}

func (c *client) send(m protocol.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(time.Second)) // a client that does not read does not delay the others
	c.w.Append(m)
	_ = c.w.Flush()
}

func (s *supervisor) accept(fd int) {
	for {
		conn, err := acceptSocket(fd)
		if err != nil {
			return
		}
		go s.serve(&client{conn: conn, w: protocol.NewWriter(conn)})
	}
}

func (s *supervisor) serve(c *client) {
	s.clients.join(c)
	defer s.clients.leave(c)
	r := protocol.NewReader(bufio.NewReader(c.conn))
	var step protocol.Step
	for {
		m, err := r.Next()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *protocol.Step:
			step = *m
		case *protocol.Restart:
			s.restarts <- request{c, m, step}
			step = protocol.Step{}
		}
	}
}
