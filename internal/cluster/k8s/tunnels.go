package k8s

import (
	"context"
	"errors"
	"fmt"
	"net"
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

// tunnels keeps one usable tunnel per pod.
type tunnels struct {
	dial func(context.Context, podKey) (*spdyConn, error)

	mu      sync.Mutex
	byPod   map[podKey]*tunnelSlot // guarded by mu
	all     map[*tunnel]struct{}   // guarded by mu; those not dropped yet
	running int                    // guarded by mu; goroutines of connections, and those that close tunnels
	quiet   *sync.Cond             // on mu; broadcast when running or all shrinks
	closed  bool                   // guarded by mu
}

// tunnelSlot holds the tunnel that new connections to a pod use. The goroutine that dials holds turn.
type tunnelSlot struct {
	turn  chan struct{} // one token
	users int           // guarded by tunnels.mu; the last one removes the slot
	t     *tunnel       // owned by the holder of turn
}

func newTunnels(dial func(context.Context, podKey) (*spdyConn, error)) *tunnels {
	p := &tunnels{dial: dial, byPod: map[podKey]*tunnelSlot{}, all: map[*tunnel]struct{}{}}
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

// DialPod connects to a port of a pod, 1 to 65535. The context bounds the dialling only. Connections to one pod share a
// tunnel, except a tunnel with a connection whose reader falls far behind. If nothing listens on the port, the first
// Read fails (see IsPortRefused). A missing pod is an error for which IsNotFound holds. The connection's type
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

// ForgetPod makes the next DialPod open a new tunnel. Call it when a pod was replaced. WatchPods of the same client
// calls it automatically.
func (c *Client) ForgetPod(namespace, pod string) {
	c.tunnels.forget(podKey{c.namespace(namespace), pod})
}

// connect opens a connection, on the pod's tunnel if there is one. If that tunnel turns out to be dead, connect tries
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
	slot, err := p.slot(key)
	if err != nil {
		return nil, 0, false, err
	}
	defer p.leave(key, slot)
	select {
	case <-slot.turn:
		defer func() { slot.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, 0, false, ctx.Err()
	}
	if slot.t != nil {
		if id, ok := slot.t.reserve(); ok {
			return slot.t, id, false, nil
		}
		// Its connections stay open. A tunnel that is only full is retired as well: tracking the places that become
		// free on it is not worth the effort.
		slot.t.retire()
		slot.t = nil
	}
	conn, err := p.dial(ctx, key)
	if err != nil {
		return nil, 0, false, err
	}
	t = &tunnel{owner: p, key: key, conn: conn, conns: map[*podConn]struct{}{}}
	id, ok := t.reserve()
	if !p.adopt(t) || !ok {
		conn.close()
		return nil, 0, false, errTunnelClosed
	}
	slot.t = t
	return t, id, true, nil
}

func (p *tunnels) slot(key podKey) (*tunnelSlot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClientClosed
	}
	s, ok := p.byPod[key]
	if !ok {
		s = &tunnelSlot{turn: make(chan struct{}, 1)}
		s.turn <- struct{}{}
		p.byPod[key] = s
	}
	s.users++
	return s, nil
}

// errClientClosed is the error of DialPod after Close.
var errClientClosed = errors.New("the client is closed")

// leave removes a slot that has no users and no tunnel.
func (p *tunnels) leave(key podKey, s *tunnelSlot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
	if s.users == 0 && (s.t == nil || !p.has(s.t)) && p.byPod[key] == s {
		delete(p.byPod, key)
	}
}

func (p *tunnels) has(t *tunnel) bool { _, ok := p.all[t]; return ok }

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
	if !p.has(t) {
		return
	}
	delete(p.all, t)
	if s := p.byPod[t.key]; s != nil && s.users == 0 && s.t == t {
		delete(p.byPod, t.key)
	}
	p.startLocked(t.conn.close)
}

// forget retires the tunnels of a pod.
func (p *tunnels) forget(key podKey) {
	p.mu.Lock()
	var old []*tunnel
	for t := range p.all {
		if t.key == key {
			old = append(old, t)
		}
	}
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
