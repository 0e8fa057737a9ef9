package k8s

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moby/spdystream"
)

// podServer is the pod's side of tunnels, without a network. Port 7 echoes, port 1 refuses, port 2 breaks without
// reading the data, port 9 discards it.
type podServer struct {
	dials atomic.Int32
	mu    sync.Mutex
	conns []net.Conn           // guarded by mu; this side of the tunnels
	stuck []*spdystream.Stream // guarded by mu; streams without a reader
}

func (s *podServer) dial(context.Context, podKey) (*spdyConn, error) {
	s.dials.Add(1)
	near, far := net.Pipe()
	conn, err := spdystream.NewConnection(far, true)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.conns = append(s.conns, far)
	s.mu.Unlock()
	var mu sync.Mutex
	half := map[string]*spdystream.Stream{} // by request; the two streams of one may come in any order
	go conn.Serve(func(st *spdystream.Stream) {
		_ = st.SendReply(http.Header{}, false)
		mu.Lock()
		defer mu.Unlock()
		id := st.Headers().Get("requestID")
		other := half[id]
		switch {
		case other == nil:
			half[id] = st
		case st.Headers().Get(headerStreamType) == "error":
			go s.serve(other, st)
		default:
			go s.serve(st, other)
		}
	})
	return newSPDYConn(near)
}

func (s *podServer) serve(data, errs *spdystream.Stream) {
	switch data.Headers().Get("port") {
	case "7":
		if _, err := io.Copy(struct{ io.Writer }{data}, struct{ io.Reader }{data}); err != nil {
			_ = data.Reset() // data that still arrives for it would block the connection forever
		}
	case "1":
		_, _ = io.WriteString(errs, "dial tcp4 127.0.0.1:1: connect: connection refused")
	case "2":
		s.mu.Lock()
		s.stuck = append(s.stuck, data)
		s.mu.Unlock()
		time.Sleep(time.Second) // virtual: by now the data is there
		_, _ = io.WriteString(errs, "read: connection reset by peer")
	case "9":
		_, _ = io.Copy(io.Discard, struct{ io.Reader }{data})
	}
	_ = errs.Close()
	_ = data.Close()
}

func (s *podServer) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close()
	}
	for _, st := range s.stuck {
		_ = st.Reset()
	}
}

func tunnelTest(t *testing.T, run func(t *testing.T, s *podServer, p *tunnels)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &podServer{}
		p := newTunnels(s.dial)
		run(t, s, p)
		p.close()
		s.cut()
		if len(p.dialled) > 0 || len(p.all) > 0 {
			t.Errorf("left behind: %v %v", p.dialled, p.all)
		}
	})
}

func addr(port int) podAddr { return podAddr{"ns", "p", port} }

func mustConnect(t *testing.T, p *tunnels, port int) *podConn {
	t.Helper()
	c, err := p.connect(t.Context(), addr(port))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func roundTrip(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := io.WriteString(c, "ping"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
}

// TestTunnels: a connection beside others has a tunnel of its own, the next one takes a tunnel that has become free, and many share
// those that there are.
func TestTunnels(t *testing.T) {
	tunnelTest(t, func(t *testing.T, s *podServer, p *tunnels) {
		p.most = 3
		var conns []*podConn
		for i, dials := range []int32{1, 2, 3, 3, 3, 3} {
			c := mustConnect(t, p, 7)
			roundTrip(t, c)
			conns = append(conns, c)
			if got := s.dials.Load(); got != dials {
				t.Errorf("%d tunnels for %d connections, want %d", got, i+1, dials)
			}
		}
		for used := range p.all {
			if n := used.load(); n != 2 {
				t.Errorf("%d connections on a tunnel, want 2", n)
			}
		}
		for _, c := range conns {
			roundTrip(t, c)
			_ = c.Close()
		}
		synctest.Wait()
		again := mustConnect(t, p, 7)
		roundTrip(t, again)
		_ = again.Close()
		if got := s.dials.Load(); got != 3 {
			t.Errorf("%d tunnels, want one that was free", got)
		}
	})
}

func TestTunnelEndsWhenIdle(t *testing.T) {
	tunnelTest(t, func(t *testing.T, s *podServer, p *tunnels) {
		_ = mustConnect(t, p, 7).Close()
		synctest.Wait()
		time.Sleep(tunnelIdle + lingerTimeout + time.Second) // virtual
		synctest.Wait()
		p.mu.Lock()
		left := len(p.all) + len(p.dialled)
		p.mu.Unlock()
		if left != 0 {
			t.Errorf("%d left", left)
		}
		c := mustConnect(t, p, 7)
		roundTrip(t, c)
		_ = c.Close()
		if s.dials.Load() != 2 {
			t.Errorf("%d tunnels", s.dials.Load())
		}
	})
}

func TestTunnelRetiresAfterAnError(t *testing.T) {
	tunnelTest(t, func(t *testing.T, s *podServer, p *tunnels) {
		p.most = 1 // they share it
		good := mustConnect(t, p, 7)
		bad := mustConnect(t, p, 1)
		_, err := io.ReadAll(bad)
		if err == nil || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), "ns/p:1") {
			t.Errorf("got %v", err)
		}
		if _, err := bad.Write([]byte("x")); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("write: %v", err)
		}
		roundTrip(t, good)
		next := mustConnect(t, p, 7)
		roundTrip(t, next)
		if s.dials.Load() != 2 {
			t.Errorf("%d tunnels", s.dials.Load())
		}
		for _, c := range []net.Conn{good, bad, next} {
			_ = c.Close()
		}
	})
}

func TestTunnelLost(t *testing.T) {
	tunnelTest(t, func(t *testing.T, s *podServer, p *tunnels) {
		c := mustConnect(t, p, 7)
		roundTrip(t, c)
		s.cut()
		if _, err := io.ReadAll(c); err == nil {
			t.Error("a lost tunnel looks like the end of the data")
		}
		synctest.Wait()
		if _, err := c.Write([]byte("x")); err == nil {
			t.Error("writing to a lost tunnel works")
		}
		_ = c.Close()
		next := mustConnect(t, p, 7)
		roundTrip(t, next)
		_ = next.Close()
	})
}

func TestTunnelDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The server accepts the first two streams and then falls silent without closing anything.
		near, far := net.Pipe()
		var silent atomic.Bool
		conn, err := spdystream.NewConnection(muteConn{far, &silent}, true)
		if err != nil {
			t.Fatal(err)
		}
		go conn.Serve(func(st *spdystream.Stream) { _ = st.SendReply(http.Header{}, false) })
		p := newTunnels(func(context.Context, podKey) (*spdyConn, error) { return newSPDYConn(near) })
		c := mustConnect(t, p, 7)
		silent.Store(true)
		start := time.Now()
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
		if d := time.Since(start); d > pingInterval+pingTimeout+reasonTimeout {
			t.Errorf("noticed after %v", d)
		}
		_ = c.Close()
		p.close()
		_ = far.Close()
	})
}

// muteConn discards written data once it is muted.
type muteConn struct {
	net.Conn
	silent *atomic.Bool
}

func (m muteConn) Write(p []byte) (int, error) {
	if m.silent.Load() {
		return len(p), nil
	}
	return m.Conn.Write(p)
}

// TestTunnelStalledReaders: connections that exist already are not held up by readers that stop, and neither are later ones.
func TestTunnelStalledReaders(t *testing.T) {
	tunnelTest(t, func(t *testing.T, s *podServer, p *tunnels) {
		before := mustConnect(t, p, 7)
		stalled := []*podConn{mustConnect(t, p, 7), mustConnect(t, p, 7)}
		chunk := make([]byte, 64<<10)
		for _, c := range stalled {
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
			for {
				if _, err := c.Write(chunk); err != nil {
					break
				}
			}
		}
		after := mustConnect(t, p, 7)
		for _, c := range []*podConn{before, after} {
			roundTrip(t, c)
			_ = c.Close()
		}
		for _, c := range stalled {
			_ = c.Close()
		}
	})
}

func TestTunnelStuckOverABrokenConnection(t *testing.T) {
	tunnelTest(t, func(t *testing.T, s *podServer, p *tunnels) {
		p.most = 1 // they share it
		good := mustConnect(t, p, 7)
		bad := mustConnect(t, p, 2) // breaks without reading the data
		_, _ = bad.Write([]byte("x"))
		start := time.Now()
		if _, err := io.ReadAll(bad); err == nil {
			t.Error("no error")
		}
		if _, err := good.Read(make([]byte, 1)); err == nil || time.Since(start) > proofTimeout+3*time.Second {
			t.Errorf("its neighbour: %v after %v", err, time.Since(start))
		}
		_ = good.Close()
		_ = bad.Close()
	})
}

func TestTunnelCloseInUse(t *testing.T) {
	tunnelTest(t, func(t *testing.T, _ *podServer, p *tunnels) {
		c := mustConnect(t, p, 9)
		p.close()
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a connection outlives its client")
		}
		if _, err := p.connect(t.Context(), addr(7)); !errors.Is(err, errClientClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTunnelDialFails(t *testing.T) {
	boom := errors.New("boom")
	p := newTunnels(func(context.Context, podKey) (*spdyConn, error) { return nil, boom })
	if _, err := p.connect(t.Context(), addr(7)); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	p.close()
	if len(p.dialled) > 0 {
		t.Error("the dial is left behind")
	}
}
