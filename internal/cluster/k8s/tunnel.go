package k8s

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// portForwardProtocol is the protocol on the SPDY connection: pairs of an error stream and a data stream.
	portForwardProtocol = "portforward.k8s.io"
	// tunnelProtocol is SPDY within a WebSocket.
	tunnelProtocol = "SPDY/3.1+" + portForwardProtocol
	// reuseTimeout bounds the wait for a tunnel in use to accept one more connection before a new tunnel is dialled.
	reuseTimeout = time.Second
	// tunnelIdle is the time for which a tunnel without connections is kept.
	tunnelIdle = 15 * time.Second
)

// dialTunnel connects to the port-forward endpoint of a pod. The tunnel outlives ctx, which bounds the handshake.
func (c *Client) dialTunnel(ctx context.Context, key podKey) (*spdyConn, error) {
	u := c.podURL(key.namespace, key.pod, "portforward")
	return withStream(ctx, c, protocolWebSocket,
		func(hctx context.Context) (*spdyConn, error) {
			ws, err := c.dialWebSocket(hctx, u, tunnelProtocol)
			if err != nil {
				return nil, err
			}
			// The tunnel lives until its owner closes it, not until the dial's context ends.
			lifetime := context.WithoutCancel(hctx)
			return newSPDYConn(wsConn{websocket.NetConn(lifetime, ws, websocket.MessageBinary), ws})
		},
		func(hctx context.Context) (*spdyConn, error) {
			raw, err := c.dialSPDY(hctx, u, portForwardProtocol)
			if err != nil {
				return nil, err
			}
			return newSPDYConn(raw)
		},
	)
}

// tunnel is a connection to a pod, for a connection to one of its ports. Where there are many, several share it; SPDY/3.1 has no flow
// control here, so that one of them can hold up the others.
type tunnel struct {
	owner *tunnels
	key   podKey
	conn  *spdyConn

	mu      sync.Mutex
	conns   map[*podConn]struct{} // guarded by mu
	nextID  int                   // guarded by mu; request ids pair the two streams of a connection
	retired bool                  // guarded by mu; takes no new connections, and ends with the last one
	pending int                   // guarded by mu; places taken: connections, and those that are being opened
	idle    *time.Timer           // guarded by mu; runs while there is no connection
}

// reserve claims one of so many places on the tunnel. ok is false if the tunnel should not take another connection.
func (t *tunnel) reserve(places int) (id int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	serves := !t.retired && t.conn.alive()
	if !serves || t.pending >= places || t.congestedLocked() {
		return 0, false
	}
	if t.idle != nil {
		t.idle.Stop()
		t.idle = nil
	}
	t.pending++
	t.nextID++
	return t.nextID, true
}

// load is how many connections the tunnel has.
func (t *tunnel) load() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pending
}

// congestedLocked reports whether a connection's queue is full, which may hold up the whole tunnel.
func (t *tunnel) congestedLocked() bool {
	for c := range t.conns {
		if c.in.full() {
			return true
		}
	}
	return false
}

// open opens a connection in the place that reserve claimed.
func (t *tunnel) open(ctx context.Context, id int, addr podAddr) (*podConn, error) {
	header := func(kind string) http.Header {
		h := http.Header{}
		h.Set(headerStreamType, kind)
		h.Set("port", strconv.Itoa(addr.port))
		h.Set("requestID", strconv.Itoa(id))
		return h
	}
	streams, err := t.conn.open(ctx, header("error"), header("data"))
	if err != nil {
		t.retire()
		t.release(nil)
		return nil, err
	}
	c := newPodConn(t, addr, streams[0], streams[1])
	t.mu.Lock()
	t.conns[c] = struct{}{}
	t.mu.Unlock()
	t.owner.start(func() {
		c.run()
		t.release(c)
	})
	return c, nil
}

// release frees a place; c is nil if no connection was made. The last one starts the idle timer, or drops a tunnel that
// is retired or dead.
func (t *tunnel) release(c *podConn) {
	t.mu.Lock()
	if c == nil {
		t.pending--
	} else if _, ok := t.conns[c]; ok {
		delete(t.conns, c)
		t.pending--
	}
	unused := t.pending == 0
	end := unused && (t.retired || !t.conn.alive())
	if unused && !end && t.idle == nil {
		t.idle = time.AfterFunc(tunnelIdle, t.retire)
	}
	t.mu.Unlock()
	if end {
		t.owner.drop(t)
	}
}

// retire takes the tunnel out of use for new connections; the existing ones stay open.
func (t *tunnel) retire() {
	t.mu.Lock()
	t.retired = true
	unused := t.pending == 0
	if t.idle != nil {
		t.idle.Stop()
		t.idle = nil
	}
	t.mu.Unlock()
	if unused {
		t.owner.drop(t)
	}
}

// closeConns closes every connection. It is called when the client is closed.
func (t *tunnel) closeConns() {
	t.mu.Lock()
	conns := make([]*podConn, 0, len(t.conns))
	for c := range t.conns {
		conns = append(conns, c)
	}
	t.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
}
