package tunnel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/checkout"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// maxFailure limits how much of a relay's refusal is read.
const maxFailure = 1 << 12

// ErrEnded reports that a session has ended.
var ErrEnded = errors.New("the session has ended")

// Tunnel leads to another machine. It connects when it is used, and connects again when the connection was lost. It must be closed.
type Tunnel struct {
	To Address
	// version is the version of this hone.
	version string

	turn sync.Mutex // held while ssh is started
	mu   sync.Mutex
	live *link // guarded by mu; nil before the first use
	end  bool  // guarded by mu
}

// New returns a tunnel to a machine for a version of hone.
func New(to Address, version string) *Tunnel { return &Tunnel{To: to, version: version} }

// Sessions returns the sessions of the user on the other machine.
func (t *Tunnel) Sessions(ctx context.Context) (all []sessions.Info, err error) {
	resp, err := t.ask(ctx, http.MethodGet, pathSessions, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		return nil, fmt.Errorf("read the sessions of %s: %w", t.To.Box(), err)
	}
	return all, nil
}

// Checkout returns the source tree of a session there. Older versions of hone do not tell it, which is an error.
func (t *Tunnel) Checkout(ctx context.Context, s sessions.Info) (tree checkout.Tree, err error) {
	resp, err := t.ask(ctx, http.MethodGet, pathCheckout+"?"+named(s), nil)
	if err != nil {
		return tree, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&tree); err != nil {
		return tree, fmt.Errorf("read the source tree of %s: %w", s.Name, err)
	}
	return tree, nil
}

// named names a session in a request.
func named(s sessions.Info) string {
	return url.Values{"name": {s.Name}, "pid": {strconv.Itoa(s.PID)}}.Encode()
}

// Session connects to the API of a session there; ErrEnded reports that it has ended.
func (t *Tunnel) Session(ctx context.Context, s sessions.Info) (net.Conn, error) {
	return t.connect(ctx, pathSession+"?"+named(s))
}

// Port connects to a host and port as the other machine reaches them.
func (t *Tunnel) Port(ctx context.Context, address string) (net.Conn, error) {
	return t.connect(ctx, pathPort+"?"+url.Values{"address": {address}}.Encode())
}

// Close ends ssh, and with it all connections.
func (t *Tunnel) Close() {
	t.mu.Lock()
	live := t.live
	t.end = true
	t.mu.Unlock()
	if live != nil {
		live.stop()
	}
}

// connect makes a connection of a request. It outlives the context of its beginning.
func (t *Tunnel) connect(ctx context.Context, path string) (net.Conn, error) {
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx))
	begun := context.AfterFunc(ctx, cancel)
	body, there := io.Pipe()
	resp, err := t.ask(whole, http.MethodPost, path, body)
	if err == nil && !begun() {
		_ = resp.Body.Close()
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		_ = body.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return &Conn{there: there, back: resp.Body, cancel: cancel}, nil
}

// ask sends a request to the relay, and returns its answer if that is a success.
func (t *Tunnel) ask(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	l, err := t.alive(ctx)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+relayHost+path, body)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	resp, err := l.http.RoundTrip(req)
	if err != nil {
		return nil, l.failure(ctx, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxFailure))
	if resp.StatusCode == http.StatusGone {
		return nil, ErrEnded
	}
	return nil, fmt.Errorf("%s: %s", t.To.Box(), strings.TrimSpace(string(text)))
}

// alive returns the present link, or a new one if there is none that works.
func (t *Tunnel) alive(ctx context.Context) (*link, error) {
	t.turn.Lock()
	defer t.turn.Unlock()
	t.mu.Lock()
	l := t.live
	t.mu.Unlock()
	if l != nil && l.usable() {
		return l, nil
	}
	if l != nil {
		l.stop()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.greet(ctx, t.version); err != nil {
		l.stop()
		return nil, err
	}
	return l, nil
}

// start starts ssh, unless the tunnel is closed.
func (t *Tunnel) start(ctx context.Context) (*link, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end {
		return nil, net.ErrClosed
	}
	l, err := newLink(ctx, t.To)
	if err == nil {
		t.live = l
	}
	return l, err
}

// Choose returns the session that an address means: the one that it names, or the only one. A session that cannot be chosen is a
// problem that lists the others.
func (a Address) Choose(all []sessions.Info) (sessions.Info, error) {
	for _, s := range all {
		if s.Name != a.Session && (a.Session != "" || len(all) > 1) {
			continue
		}
		if s.Socket == "" {
			return s, problem.New(fmt.Sprintf("session %s on %s is still starting", s.Name, a.Box()), "wait a moment")
		}
		return s, nil
	}
	summary := fmt.Sprintf("%s has several sessions", a.Box())
	switch {
	case len(all) == 0:
		return sessions.Info{}, problem.New(fmt.Sprintf("no session of this user runs on %s", a.Box()), "start one there with hone up --detach")
	case a.Session != "":
		summary = fmt.Sprintf("no session on %s is called %q", a.Box(), a.Session)
	}
	var b strings.Builder
	b.WriteString("choose one:")
	for _, s := range all {
		fmt.Fprintf(&b, "\n  hone attach %s  (%s %s)", a.Of(s.Name), s.Command, s.Tiltfile)
	}
	return sessions.Info{}, problem.New(summary, b.String())
}
