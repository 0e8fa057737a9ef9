package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/client/tunnel"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// loopback is the address that near ports listen on.
const loopback = "127.0.0.1"

// nearPorts are ports of this machine that lead to the ports of a session on another one: the same numbers where they are free. It is used
// by one goroutine, except for notices and close.
type nearPorts struct {
	tunnel *tunnel.Tunnel
	ctx    context.Context //nolint:containedctx // of the connections, which close ends
	cancel context.CancelFunc

	mu   sync.Mutex
	open map[string]*nearPort // guarded by mu; by the address there
	// page is the address of the page there, whose port stays; empty without one.
	page string
	work sync.WaitGroup
}

var _ nearSide = (*nearPorts)(nil)

// nearPort is a port of this machine.
type nearPort struct {
	listener net.Listener // nil if it could not be opened
	err      error
	there    string
	want, is int
}

func newNearPorts(ctx context.Context, t *tunnel.Tunnel, s sessions.Info) *nearPorts {
	ctx, cancel := context.WithCancel(ctx)
	n := &nearPorts{tunnel: t, ctx: ctx, cancel: cancel, open: map[string]*nearPort{}}
	if s.URL != "" {
		n.page = net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
		n.lead(n.page, s.Port)
	}
	return n
}

// pageHere returns an address of the page as this machine reaches it. Like there, its host is a number: the cookies of localhost go
// to the services that are developed.
func (n *nearPorts) pageHere(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("read the address of the page: %w", err)
	}
	p := n.lead(n.page, 0)
	if p.err != nil {
		return "", p.err
	}
	u.Host = net.JoinHostPort(loopback, strconv.Itoa(p.is))
	return u.String(), nil
}

// amend has the address of a forward lead to the port of this machine.
func (n *nearPorts) amend(value any) any {
	f, ok := value.(state.Forward)
	if !ok || !open(f) {
		return value
	}
	p := n.lead(f.Address, f.Spec.LocalPort)
	u, err := url.Parse(f.URL)
	if err != nil || p.listener == nil {
		return value
	}
	u.Host = net.JoinHostPort("localhost", strconv.Itoa(p.is))
	f.URL = u.String()
	return f
}

// open reports whether a forward has its port there.
func open(f state.Forward) bool { return f.State != state.ForwardFailed || f.Pod != "" }

// keep opens the ports that the engine there publishes, and closes those that are no longer wanted.
func (n *nearPorts) keep(v store.View) {
	wanted := map[string]bool{n.page: true}
	for f := range state.Forwards.In(v).Refs() {
		if open(f.Value) {
			wanted[f.Value.Address] = true
		}
	}
	for r := range state.Resources.In(v).Refs() {
		for _, p := range state.Published(r.Value.Manifest, state.PodsOf(v, r.Value.Manifest.Name)) {
			if p.URL() == "" {
				continue
			}
			there := net.JoinHostPort(cmp.Or(p.HostIP, "localhost"), strconv.Itoa(p.Published))
			wanted[there] = true
			n.lead(there, p.Published)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for there, p := range n.open {
		if !wanted[there] {
			p.close()
			delete(n.open, there)
		}
	}
}

// lead returns the port of this machine that leads to an address there, and opens it first if there is none.
func (n *nearPorts) lead(there string, port int) *nearPort {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.open[there]; p != nil {
		return p
	}
	p := &nearPort{there: dialable(there), want: port, is: port}
	n.open[there] = p
	var lc net.ListenConfig
	for _, try := range []int{port, 0} {
		if p.listener, p.err = lc.Listen(n.ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(try))); p.err == nil {
			break
		}
	}
	if p.err != nil {
		p.listener = nil
		return p
	}
	if at, ok := p.listener.Addr().(*net.TCPAddr); ok {
		p.is = at.Port
	}
	n.work.Go(func() { n.accept(p) })
	return p
}

// dialable returns the address at which a machine reaches one of its listeners.
func dialable(there string) string {
	host, port, err := net.SplitHostPort(there)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return there
	}
	return net.JoinHostPort("localhost", port)
}

// accept carries the connections to a port until it is closed.
func (n *nearPorts) accept(p *nearPort) {
	for {
		here, err := p.listener.Accept()
		if err != nil {
			return
		}
		n.work.Go(func() { n.carry(here, p.there) })
	}
}

// carry carries one connection. A user of the port sees a failure as the end of the connection, as with a port of this machine.
func (n *nearPorts) carry(here net.Conn, to string) {
	defer here.Close()
	defer context.AfterFunc(n.ctx, func() { _ = here.Close() })()
	there, err := n.tunnel.Port(n.ctx, to)
	if err != nil {
		return
	}
	defer there.Close()
	n.work.Go(func() {
		_, _ = io.Copy(there, here)
		if half, ok := there.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	})
	_, _ = io.Copy(here, there)
}

// notices tells which ports are others here.
func (n *nearPorts) notices() []view.Notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	var moved, failed []string
	for there, p := range n.open {
		switch {
		case p.listener == nil:
			failed = append(failed, fmt.Sprintf("%d: %v", p.want, p.err))
		case p.is != p.want && there != n.page:
			moved = append(moved, fmt.Sprintf("%d is %d", p.want, p.is))
		}
	}
	var out []view.Notice
	if slices.Sort(failed); len(failed) > 0 {
		out = append(out, view.Notice{Text: "ports that could not be opened here", Cause: strings.Join(failed, ", "), Tone: view.Warn})
	}
	if slices.Sort(moved); len(moved) > 0 {
		out = append(out, view.Notice{Text: "ports that are taken on this machine have another number here", Cause: strings.Join(moved, ", "), Tone: view.Warn})
	}
	return out
}

func (p *nearPort) close() {
	if p.listener != nil {
		_ = p.listener.Close()
	}
}

// close closes all ports and connections.
func (n *nearPorts) close() {
	n.cancel()
	n.mu.Lock()
	for _, p := range n.open {
		p.close()
	}
	n.mu.Unlock()
	n.work.Wait()
}

// noPorts is a session on this machine, which has its ports itself.
type noPorts struct{}

var _ nearSide = noPorts{}

func (noPorts) amend(value any) any { return value }
func (noPorts) keep(store.View)     {}
