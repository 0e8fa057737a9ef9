package tunnel

import (
	"context"
	"io"
	"net"
)

// Conn is a connection through a tunnel. Deadlines have no effect on it.
type Conn struct {
	there  *io.PipeWriter
	back   io.ReadCloser
	cancel context.CancelFunc
	place
}

var _ net.Conn = (*Conn)(nil)

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) { return c.back.Read(b) }

// Write implements net.Conn.
func (c *Conn) Write(b []byte) (int, error) { return c.there.Write(b) }

// CloseWrite ends the bytes to the other side, and the connection still reads.
func (c *Conn) CloseWrite() error { return c.there.Close() }

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.cancel()
	_ = c.there.CloseWithError(net.ErrClosed)
	return c.back.Close()
}
