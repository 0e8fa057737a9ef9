package k8s

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moby/spdystream"
)

const (
	// lingerTimeout bounds the wait of a closed connection for the pod's side to end before it is cut.
	lingerTimeout = 2 * time.Second
	// reasonTimeout bounds the wait, at the end of the data, for the reason, which arrives on a separate stream.
	reasonTimeout = time.Second
)

// podConn is one connection to a port of a pod. Two goroutines copy between its queues and the data stream, so that
// deadlines and slow readers affect this connection only. run owns them.
type podConn struct {
	tunnel       *tunnel
	addr         podAddr
	data, errors *spdystream.Stream
	in, out      *byteQueue

	closed    chan struct{} // closed by Close
	closeOnce sync.Once
	reason    chan struct{} // closed when the error stream has ended
	message   string        // the text of the error stream; valid once reason is closed
	wrote     atomic.Bool   // data was sent
}

// podAddr is the address of a port of a pod.
type podAddr struct {
	namespace, pod string
	port           int
}

// Network returns "pod".
func (podAddr) Network() string { return "pod" }

// String returns "namespace/pod:port".
func (a podAddr) String() string {
	return a.namespace + "/" + net.JoinHostPort(a.pod, strconv.Itoa(a.port))
}

func newPodConn(t *tunnel, addr podAddr, errs, data *spdystream.Stream) *podConn {
	return &podConn{
		tunnel: t, addr: addr, data: data, errors: errs, in: newByteQueue(), out: newByteQueue(),
		closed: make(chan struct{}), reason: make(chan struct{}),
	}
}

// run copies the bytes until both sides have ended, then discards the streams.
func (c *podConn) run() {
	_ = c.errors.Close() // this side sends nothing on it
	go c.readReason()
	sent, received := make(chan struct{}), make(chan struct{})
	go func() { defer close(sent); c.send() }()
	go func() { defer close(received); c.receive() }()

	<-c.closed
	select {
	case <-sent:
	case <-c.tunnel.conn.spdy.CloseChan():
	case <-time.After(writeTimeout):
	}
	select {
	case <-received:
	case <-time.After(lingerTimeout):
		_ = c.data.Cancel()
	}
	c.tunnel.conn.discard(c.data, c.errors)
	c.out.abandon(net.ErrClosed)
	<-sent
	<-received
	<-c.reason
}

// readReason reads the error that the pod's side reports. After an error the tunnel takes no new connections: its pod
// may have been replaced by one of the same name.
func (c *podConn) readReason() {
	defer close(c.reason)
	text, _ := io.ReadAll(io.LimitReader(c.errors, 4<<10))
	_, _ = io.Copy(io.Discard, readerOnly{c.errors})
	if len(text) == 0 {
		return
	}
	c.message = portReason(string(text))
	c.tunnel.retire()
	c.out.abandon(c.broken(errors.New(c.message)))
	if c.wrote.Load() {
		// The kubelet and the container runtimes do not read the remaining data of a broken connection. The whole
		// tunnel may then be blocked forever.
		c.tunnel.conn.pulse.doubt()
	}
}

// send sends the written bytes until the output ends, then closes the sending side of the stream.
func (c *podConn) send() {
	buf := make([]byte, 32<<10)
	for {
		n, err := c.out.Read(buf)
		if n > 0 {
			c.wrote.Store(true)
			c.tunnel.conn.pulse.wrote()
			if _, err := c.data.Write(buf[:n]); err != nil {
				c.out.abandon(c.broken(c.tunnel.conn.reason(err)))
				return
			}
		}
		if err != nil {
			_ = c.data.Close()
			return
		}
	}
}

// receive reads the data that the pod sends. It continues after the reader has left, because unread data would hold up
// the other connections of the tunnel.
func (c *podConn) receive() {
	buf := make([]byte, 32<<10)
	for {
		n, err := c.data.Read(buf)
		if n > 0 {
			c.tunnel.conn.pulse.hold()
			_, _ = c.in.Write(buf[:n])
			c.tunnel.conn.pulse.release()
		}
		if err != nil {
			c.in.finish(c.endReason())
			return
		}
	}
}

// endReason returns io.EOF if the data ended normally, else the error that the pod's side reported or the error of the
// tunnel.
func (c *podConn) endReason() error {
	select {
	case <-c.reason:
	case <-time.After(reasonTimeout):
		return io.EOF
	}
	if c.message != "" {
		return c.broken(errors.New(c.message))
	}
	if err := c.tunnel.conn.err(); err != nil {
		err = c.broken(err)
		c.out.abandon(err)
		return err
	}
	return io.EOF
}

func (c *podConn) broken(err error) error { return &podConnError{addr: c.addr, cause: err} }

// podConnError is the reason why a connection to a pod broke.
type podConnError struct {
	addr  podAddr
	cause error
}

func (e *podConnError) Error() string {
	return fmt.Sprintf("connection to pod %s: %v", e.addr, e.cause)
}
func (e *podConnError) Unwrap() error { return e.cause }

// Read implements net.Conn. An error that the pod's side reports follows the last byte.
func (c *podConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// Write implements net.Conn. It returns when the bytes are queued, at most queueLimit ahead of the network.
func (c *podConn) Write(p []byte) (int, error) { return c.out.Write(p) }

// CloseWrite ends the data to the pod; reading stays open. Container runtimes may close the connection shortly
// afterwards (containerd: after one second).
func (c *podConn) CloseWrite() error {
	c.out.finish(io.EOF)
	return nil
}

// Close implements net.Conn. Bytes that were written before are still sent, in the background.
func (c *podConn) Close() error {
	c.closeOnce.Do(func() {
		c.out.finish(io.EOF)
		c.in.abandon(net.ErrClosed)
		close(c.closed)
	})
	return nil
}

// LocalAddr implements net.Conn. It returns the pod's address, because there is no local one.
func (c *podConn) LocalAddr() net.Addr { return c.addr }

// RemoteAddr implements net.Conn.
func (c *podConn) RemoteAddr() net.Addr { return c.addr }

// SetDeadline implements net.Conn.
func (c *podConn) SetDeadline(t time.Time) error {
	c.in.setReadDeadline(t)
	c.out.setWriteDeadline(t)
	return nil
}

// SetReadDeadline implements net.Conn.
func (c *podConn) SetReadDeadline(t time.Time) error { c.in.setReadDeadline(t); return nil }

// SetWriteDeadline implements net.Conn.
func (c *podConn) SetWriteDeadline(t time.Time) error { c.out.setWriteDeadline(t); return nil }

// HalfCloser is a connection whose writing side can be closed on its own. The connections of DialPod implement it.
type HalfCloser interface {
	net.Conn
	CloseWrite() error
}

var _ HalfCloser = (*podConn)(nil)
