package tunnel

import (
	"errors"
	"io"
	"net"
	"time"
)

// streams is a connection over the standard streams of a process. It has no deadlines: HTTP/2 has its own.
type streams struct {
	in  io.ReadCloser
	out io.WriteCloser
	place
}

var _ net.Conn = (*streams)(nil)

// Read implements net.Conn.
func (s *streams) Read(b []byte) (int, error) { return s.in.Read(b) }

// Write implements net.Conn.
func (s *streams) Write(b []byte) (int, error) { return s.out.Write(b) }

// Close implements net.Conn.
func (s *streams) Close() error { return errors.Join(s.in.Close(), s.out.Close()) }

// place is the address of a connection that has none, and no deadlines.
type place struct{}

var _ net.Addr = place{}

// Network implements net.Addr.
func (place) Network() string { return "ssh" }

// String implements net.Addr.
func (place) String() string { return "tunnel" }

// LocalAddr implements net.Conn.
func (p place) LocalAddr() net.Addr { return p }

// RemoteAddr implements net.Conn.
func (p place) RemoteAddr() net.Addr { return p }

// SetDeadline implements net.Conn: there is none.
func (place) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn: there is none.
func (place) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn: there is none.
func (place) SetWriteDeadline(time.Time) error { return nil }
