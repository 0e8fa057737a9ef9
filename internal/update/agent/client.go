//go:build linux

package agent

import (
	"bufio"
	"os"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// attach is the time for which the container of a crashed process is kept for a client that may be about to connect.
const attach = 5 * time.Second

// clients are the clients that may request restarts from the supervisor.
type clients struct {
	left chan struct{} // a client has gone

	mu   sync.Mutex
	all  map[*client]bool // guarded by mu
	last protocol.Process // guarded by mu
	lost time.Time        // when the newest client that has gone lost its connection; zero if that one said Leave; guarded by mu
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

// mayCome returns the time within which a client may still connect: a new one, or one that has lost its connection.
func (c *clients) mayCome() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost.IsZero() {
		return attach
	}
	return max(attach, lingering-time.Since(c.lost))
}

// leave removes a client, which has lost its connection unless it has said Leave.
func (c *clients) leave(one *client, said bool) {
	c.mu.Lock()
	delete(c.all, one)
	if c.lost = time.Now(); said {
		c.lost = time.Time{}
	}
	c.mu.Unlock()
	_ = one.conn.Close()
	select {
	case c.left <- struct{}{}:
	default:
	}
}

// client is the connection of one client.
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
	said := false
	defer func() { s.clients.leave(c, said) }()
	r := protocol.NewReader(bufio.NewReader(c.conn))
	var step protocol.Step
	for {
		m, err := r.Next()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *protocol.Leave:
			said = true
		case *protocol.Step:
			step = *m
		case *protocol.Restart:
			s.restarts <- request{c, m, step}
			step = protocol.Step{}
		}
	}
}
