package access

import (
	"bufio"
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// recordHandshake is the first byte of a TLS connection; no HTTP method begins with it.
const recordHandshake = 0x16

// Listen wraps a listener so that at most max connections are open at a time. A connection beyond that replaces the oldest
// connection that has not yet been authorized; if there is none, the new connection is closed at once. With a certificate,
// connections may use TLS.
func Listen(l net.Listener, certificate *tls.Certificate, max int) net.Listener {
	d := &listener{Listener: l, max: max}
	if certificate != nil {
		// HTTP/1.1 only: one connection is one request at a time, and the limits count connections.
		d.config = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	return d
}

type listener struct {
	net.Listener
	config *tls.Config
	max    int

	mu        sync.Mutex
	open      int       // guarded by mu
	strangers list.List // guarded by mu; the connections that have shown nothing yet, oldest first
}

// Accept implements net.Listener. Protocol errors of a client end only its own connection, and a lack of file descriptors is
// waited out. Only a closed listener is an error.
func (l *listener) Accept() (net.Conn, error) {
	for pause := time.Duration(0); ; {
		c, err := l.Listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil, err
		case err != nil:
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			time.Sleep(pause)
			continue
		}
		if in := l.take(c); in != nil {
			return in, nil
		}
		_ = c.Close()
	}
}

// take makes room for a connection; it returns nil if there is no room.
func (l *listener) take(raw net.Conn) *conn {
	l.mu.Lock()
	var gone *conn
	if l.open >= l.max {
		oldest := l.strangers.Front()
		if oldest == nil {
			l.mu.Unlock()
			return nil
		}
		gone = oldest.Value.(*conn)
		l.leave(gone)
	}
	c := &conn{Conn: raw, raw: raw, config: l.config, of: l}
	c.stranger = l.strangers.PushBack(c)
	l.open++
	l.mu.Unlock()
	if gone != nil {
		_ = gone.raw.Close()
	}
	return c
}

// leave counts a connection out, once. l.mu is held.
func (l *listener) leave(c *conn) {
	if c.left {
		return
	}
	c.left = true
	l.open--
	l.know(c)
}

// know takes a connection from the strangers. l.mu is held.
func (l *listener) know(c *conn) {
	if c.stranger != nil {
		l.strangers.Remove(c.stranger)
		c.stranger = nil
	}
}

// know marks the connection of a request as authorized.
func know(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.of.know(c)
	}
}

// conn is a connection that detects TLS by its first byte.
type conn struct {
	// Conn is raw until the first read, and the TLS connection from then on if it is one.
	net.Conn
	raw    net.Conn
	config *tls.Config
	first  sync.Once
	secure atomic.Bool
	err    error
	of     *listener
	// stranger is the connection's place in the list of unauthorized connections, and left is set once the connection is no
	// longer counted; of.mu guards both.
	stranger *list.Element
	left     bool
}

// peeked is a connection of which something was read already.
type peeked struct {
	net.Conn
	r *bufio.Reader
}

func (p peeked) Read(b []byte) (int, error) { return p.r.Read(b) }

// Read implements net.Conn. A server reads before it writes, so that Write need not find anything out.
func (c *conn) Read(b []byte) (int, error) {
	c.first.Do(func() {
		if c.config == nil {
			return
		}
		p := peeked{c.raw, bufio.NewReaderSize(c.raw, 4<<10)}
		head, err := p.r.Peek(1)
		switch {
		case err != nil:
			c.err = err
		case head[0] == recordHandshake:
			t := tls.Server(p, c.config)
			// The deadline for headers, which the server has set on the connection, bounds this too.
			if c.err = t.HandshakeContext(context.Background()); c.err == nil {
				c.Conn = t
				c.secure.Store(true)
			}
		default:
			c.Conn = p
		}
	})
	if c.err != nil {
		return 0, c.err
	}
	return c.Conn.Read(b)
}

// Close implements net.Conn. It closes without TLS's farewell, which could wait for a client that does not read.
func (c *conn) Close() error {
	c.of.mu.Lock()
	c.of.leave(c)
	c.of.mu.Unlock()
	return c.raw.Close()
}

type connKey struct{}

// remember keeps a request's connection in its context.
func remember(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// scheme returns how a request came in.
func scheme(ctx context.Context) string {
	if c, ok := ctx.Value(connKey{}).(*conn); ok && c.secure.Load() {
		return "https"
	}
	return "http"
}
