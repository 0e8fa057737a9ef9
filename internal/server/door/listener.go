package door

import (
	"bufio"
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

// Listen wraps a listener: no more than max connections are open at a time, further ones are closed at once. With a
// certificate a connection may speak TLS.
func Listen(l net.Listener, certificate *tls.Certificate, max int) net.Listener {
	d := &listener{Listener: l, max: int64(max)}
	if certificate != nil {
		// HTTP/1.1 only: one connection is one request, which is what the limits count.
		d.config = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	return d
}

type listener struct {
	net.Listener
	config *tls.Config
	max    int64
	open   atomic.Int64
}

// Accept implements net.Listener. What a client does not keep to ends with its own connection, and a machine that is out of
// file descriptors is waited for: only a closed listener is an error.
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
		if l.open.Add(1) > l.max {
			l.open.Add(-1)
			_ = c.Close()
			continue
		}
		return &conn{Conn: c, raw: c, config: l.config, closed: func() { l.open.Add(-1) }}, nil
	}
}

// conn is a connection that finds out with its first byte whether it speaks TLS.
type conn struct {
	// Conn is raw until the first read, and the TLS connection from then on if it is one.
	net.Conn
	raw    net.Conn
	config *tls.Config
	first  sync.Once
	secure atomic.Bool
	err    error
	once   sync.Once
	closed func()
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
	c.once.Do(c.closed)
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
