package k8s

import (
	"context"
	"net"
	"sync"
	"time"
)

// conns dials the connections of one client and tracks them, so that closing the client ends all of them, whether idle,
// in use or still being dialled. http.Transport closes only the idle ones and keeps a connection that becomes idle
// later for its idle time.
type conns struct {
	dialContext func(ctx context.Context, network, address string) (net.Conn, error)
	heard       *heard // of all connections

	mu     sync.Mutex
	closed bool                    // guarded by mu
	open   map[*ownedConn]struct{} // guarded by mu
}

func (s *conns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := s.dialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := &ownedConn{Conn: raw, owner: s, since: time.Now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		raw.Close()
		return nil, errClientClosed
	}
	if s.open == nil {
		s.open = map[*ownedConn]struct{}{}
	}
	s.open[conn] = struct{}{}
	return conn, nil
}

// close ends all connections, and each later one as soon as it is established.
func (s *conns) close() {
	s.mu.Lock()
	open := s.open
	s.closed, s.open = true, nil
	s.mu.Unlock()
	for conn := range open {
		conn.Conn.Close()
	}
}

// endOlder ends the connections that are older than that. Their users read an error.
func (s *conns) endOlder(than time.Time) {
	s.mu.Lock()
	var old []*ownedConn
	for conn := range s.open {
		if conn.since.Before(than) {
			old = append(old, conn)
		}
	}
	s.mu.Unlock()
	for _, conn := range old {
		conn.Close()
	}
}

// ownedConn removes itself from its owner when it is closed.
type ownedConn struct {
	net.Conn
	owner *conns
	since time.Time
}

func (c *ownedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.owner.heard.now()
	}
	return n, err
}

func (c *ownedConn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.open, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}
