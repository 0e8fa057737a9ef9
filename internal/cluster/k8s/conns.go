package k8s

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
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
	return s.add(ctx, network, address, false)
}

// dialPinged dials a connection for requests, which is pinged if the server speaks HTTP/2.
func (s *conns) dialPinged(ctx context.Context, network, address string) (net.Conn, error) {
	return s.add(ctx, network, address, true)
}

func (s *conns) add(ctx context.Context, network, address string, pinged bool) (net.Conn, error) {
	raw, err := s.dialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := &ownedConn{Conn: raw, owner: s, since: s.heard.clock(), pinged: pinged}
	conn.at.Store(conn.since)
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

// stuck returns the longest time for which nothing has arrived on a pinged connection.
func (s *conns) stuck() (longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.open {
		if conn.pinged {
			longest = max(longest, time.Duration(s.heard.clock()-conn.at.Load()))
		}
	}
	return longest
}

// endDead ends dead connections that were opened before a time on the clock of heard: the pinged ones on which nothing
// has arrived for the time after, and the others on which nothing has arrived since the pinged ones were alive. Their
// users read an error. It reports whether any pinged connection was dead.
func (s *conns) endDead(before int64, after time.Duration) bool {
	s.mu.Lock()
	now, last := s.heard.clock(), int64(-1)
	for conn := range s.open {
		if at := conn.at.Load(); conn.pinged && conn.since < before && now-at >= int64(after) {
			last = max(last, at)
		}
	}
	s.mu.Unlock()
	if last < 0 {
		return false
	}
	s.end(before, last+int64(askIdle))
	return true
}

// end ends the connections that were opened before a time, and on which nothing has arrived since another one.
func (s *conns) end(before, heard int64) {
	s.mu.Lock()
	var dead []*ownedConn
	for conn := range s.open {
		if conn.since < before && conn.at.Load() <= heard {
			dead = append(dead, conn)
		}
	}
	s.mu.Unlock()
	for _, conn := range dead {
		conn.Close()
	}
}

// ownedConn removes itself from its owner when it is closed.
type ownedConn struct {
	net.Conn
	owner *conns
	// since is the time when it was opened, and at the time when something last arrived on it, on the clock of heard.
	since  int64
	at     atomic.Int64
	pinged bool
}

func (c *ownedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.at.Store(c.owner.heard.now())
	}
	return n, err
}

func (c *ownedConn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.open, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}
