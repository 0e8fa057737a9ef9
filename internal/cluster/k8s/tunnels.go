package k8s

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"sync"

	"github.com/coder/websocket"
)

// podKey names a pod.
type podKey struct{ namespace, pod string }

// wsConn is a WebSocket as a byte stream. It closes immediately, without the closing handshake.
type wsConn struct {
	net.Conn
	ws *websocket.Conn
}

func (c wsConn) Close() error { return c.ws.CloseNow() }

// tunnelsPerPod is how many tunnels to a pod there may be before connections share them. A browser opens six connections to a server.
const tunnelsPerPod = 32

// tunnels keeps the tunnels to pods. Each connection has a tunnel of its own: on a shared one, a reader that stops holds up all
// others. A tunnel that is not in use any more is kept for a while for the next connection, which then starts at once.
type tunnels struct {
	dial func(context.Context, podKey) (*spdyConn, error)
	most int // tunnels per pod before they are shared

	mu      sync.Mutex
	all     map[*tunnel]struct{} // guarded by mu; those not dropped yet
	dialled map[podKey]int       // guarded by mu; how many are being dialled
	running int                  // guarded by mu; goroutines of connections, and those that close tunnels
	quiet   *sync.Cond           // on mu; broadcast when running or all shrinks
	closed  bool                 // guarded by mu
}

func newTunnels(dial func(context.Context, podKey) (*spdyConn, error)) *tunnels {
	p := &tunnels{dial: dial, most: tunnelsPerPod, all: map[*tunnel]struct{}{}, dialled: map[podKey]int{}}
	p.quiet = sync.NewCond(&p.mu)
	return p
}

// start runs f in a goroutine that close waits for.
func (p *tunnels) start(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.startLocked(f)
}

func (p *tunnels) startLocked(f func()) {
	p.running++
	go func() {
		f()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running--
		p.quiet.Broadcast()
	}()
}

// DialPod connects to a port of a pod, 1 to 65535. The context bounds the dialling only. Connections to one pod do not
// hold up each other. If nothing listens on the port, the first
// Read fails with the container runtime's "connection refused". A missing pod is an error for which IsNotFound holds. The connection's type
// implements HalfCloser, deadlines work, and it must be closed.
func (c *Client) DialPod(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	addr := podAddr{c.namespace(namespace), pod, port}
	if port < 1 || port > 65535 {
		return nil, fmt.Errorf("connect to pod %s: no such port", addr)
	}
	conn, err := c.tunnels.connect(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("connect to pod %s: %w", addr, c.Explain(contextError(ctx, err)))
	}
	return conn, nil
}

// connect opens a connection, on a tunnel to the pod that is not in use if there is one. If that tunnel turns out to be dead, connect tries
// again with a new tunnel.
func (p *tunnels) connect(ctx context.Context, addr podAddr) (*podConn, error) {
	key := podKey{addr.namespace, addr.pod}
	for {
		t, id, fresh, err := p.tunnel(ctx, key)
		if err != nil {
			return nil, err
		}
		conn, err := t.openWithin(ctx, fresh, id, addr)
		if err == nil || fresh || ctx.Err() != nil {
			return conn, err
		}
	}
}

// openWithin opens a connection. On a tunnel that is not fresh it waits reuseTimeout at most.
func (t *tunnel) openWithin(ctx context.Context, fresh bool, id int, addr podAddr) (*podConn, error) {
	if !fresh {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, reuseTimeout)
		defer cancel()
	}
	return t.open(ctx, id, addr)
}

// tunnel returns a tunnel with a place reserved. It dials one if necessary.
func (p *tunnels) tunnel(ctx context.Context, key podKey) (t *tunnel, id int, fresh bool, err error) {
	if t, id, err = p.reserve(key); t != nil || err != nil {
		return t, id, false, err
	}
	defer p.dialledOne(key)
	conn, err := p.dial(ctx, key)
	if err != nil {
		return nil, 0, false, err
	}
	t = &tunnel{owner: p, key: key, conn: conn, conns: map[*podConn]struct{}{}}
	id, ok := t.reserve(1)
	if !ok || !p.adopt(t) {
		conn.close()
		return nil, 0, false, errTunnelClosed
	}
	return t, id, true, nil
}

// reserve reserves a place on a tunnel that is not in use or, where there are many, on the one with the fewest connections. Without
// such a tunnel it notes that the caller dials one, which ends with dialledOne.
func (p *tunnels) reserve(key podKey) (*tunnel, int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, 0, errClientClosed
	}
	mine := p.ofLocked(key)
	share := 1
	if len(mine)+p.dialled[key] >= p.most {
		share = math.MaxInt
		slices.SortFunc(mine, func(a, b *tunnel) int { return cmp.Compare(a.load(), b.load()) })
	}
	for _, t := range mine {
		if id, ok := t.reserve(share); ok {
			return t, id, nil
		}
	}
	p.dialled[key]++
	return nil, 0, nil
}

func (p *tunnels) dialledOne(key podKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dialled[key]--; p.dialled[key] == 0 {
		delete(p.dialled, key)
	}
}

func (p *tunnels) ofLocked(key podKey) (of []*tunnel) {
	for t := range p.all {
		if t.key == key {
			of = append(of, t)
		}
	}
	return of
}

// errClientClosed is the error of DialPod after Close.
var errClientClosed = errors.New("the client is closed")

// adopt registers the tunnel, unless the client was closed meanwhile.
func (p *tunnels) adopt(t *tunnel) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.all[t] = struct{}{}
	return true
}

// drop closes a tunnel that is no longer used. It does not wait, because close may wait for the caller.
func (p *tunnels) drop(t *tunnel) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, open := p.all[t]; open {
		delete(p.all, t)
		p.startLocked(t.conn.close)
	}
}

// forget retires the tunnels of a pod.
func (p *tunnels) forget(key podKey) {
	p.mu.Lock()
	old := p.ofLocked(key)
	p.mu.Unlock()
	for _, t := range old {
		t.retire()
	}
}

// close ends all tunnels with their connections and waits for every goroutine.
func (p *tunnels) close() {
	p.mu.Lock()
	p.closed = true
	all := make([]*tunnel, 0, len(p.all))
	for t := range p.all {
		all = append(all, t)
	}
	p.mu.Unlock()
	for _, t := range all {
		t.closeConns()
		t.conn.abort()
		t.retire()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.running > 0 || len(p.all) > 0 {
		p.quiet.Wait()
	}
}
