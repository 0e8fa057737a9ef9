package tunnel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/hone-dev/hone/internal/base/checkout"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// The requests to a relay.
const (
	pathSessions = "/sessions"
	pathSession  = "/session"
	pathPort     = "/port"
	pathCheckout = "/checkout"
)

// mostStreams bounds the connections of a tunnel at a time.
const mostStreams = 10_000

// relay serves the other end of a tunnel on the machine of the sessions.
type relay struct{ registry *sessions.Registry }

// Relay serves the sessions of a registry, and the ports of this machine, to the tunnel at the other end of two streams. It returns when in
// ends or ctx is done. version is the version of this hone.
func Relay(ctx context.Context, in io.ReadCloser, out io.WriteCloser, registry *sessions.Registry, version string) error {
	conn := &only{streams: &streams{in: in, out: out}, closed: make(chan struct{})}
	if _, err := fmt.Fprintf(out, "%s%s %s\n", greeting, protocol, version); err != nil {
		return fmt.Errorf("greet the other side: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	r := relay{registry}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathSessions, r.sessions)
	mux.HandleFunc("POST "+pathSession, r.session)
	mux.HandleFunc("POST "+pathPort, r.port)
	mux.HandleFunc("GET "+pathCheckout, r.checkout)
	server := http.Server{Handler: mux, Protocols: onlyHTTP2(), BaseContext: func(net.Listener) context.Context { return ctx },
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: mostStreams, SendPingTimeout: idle, PingTimeout: idle}}
	if err := server.Serve(conn); !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serve the other side: %w", err)
	}
	return ctx.Err()
}

// only is the connection of a relay, and the listener that accepts it, once. The listener is closed with the connection.
type only struct {
	*streams
	accepted bool // for the goroutine that calls Accept
	once     sync.Once
	closed   chan struct{}
}

var _ net.Listener = (*only)(nil)

// Accept implements net.Listener.
func (o *only) Accept() (net.Conn, error) {
	if !o.accepted {
		o.accepted = true
		return o, nil
	}
	<-o.closed
	return nil, net.ErrClosed
}

// Close implements net.Conn and net.Listener.
func (o *only) Close() (err error) {
	o.once.Do(func() {
		err = o.streams.Close()
		close(o.closed)
	})
	return err
}

// Addr implements net.Listener.
func (o *only) Addr() net.Addr { return o.place }

// sessions answers with the running sessions.
func (r relay) sessions(w http.ResponseWriter, req *http.Request) {
	all, err := r.registry.List(req.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	_ = json.NewEncoder(w).Encode(all)
}

// session connects to the socket of a session, unless it has ended.
func (r relay) session(w http.ResponseWriter, req *http.Request) {
	if s, ok := r.named(w, req); ok {
		carry(w, req, "unix", s.Socket)
	}
}

// checkout answers with the source tree of a session.
func (r relay) checkout(w http.ResponseWriter, req *http.Request) {
	s, ok := r.named(w, req)
	if !ok {
		return
	}
	tree, err := checkout.Of(req.Context(), s.Tiltfile)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(tree)
}

// named returns the session that a request names, or answers that there is none. Another one that has got its name since then is not the
// same.
func (r relay) named(w http.ResponseWriter, req *http.Request) (s sessions.Info, ok bool) {
	all, err := r.registry.List(req.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return s, false
	}
	pid, _ := strconv.Atoi(req.URL.Query().Get("pid"))
	for _, s := range all {
		if s.Name == req.URL.Query().Get("name") && s.PID == pid {
			return s, true
		}
	}
	http.Error(w, "the session has ended", http.StatusGone)
	return s, false
}

// port connects to a port that this machine reaches.
func (r relay) port(w http.ResponseWriter, req *http.Request) {
	carry(w, req, "tcp", req.URL.Query().Get("address"))
}

// carry carries the bytes of a request to an address, and its answer back, until either side ends.
func carry(w http.ResponseWriter, req *http.Request, network, address string) {
	conn, err := new(net.Dialer).DialContext(req.Context(), network, address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer conn.Close()
	defer context.AfterFunc(req.Context(), func() { _ = conn.Close() })()
	c := http.NewResponseController(w)
	if c.Flush() != nil {
		return
	}
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() {
		_, _ = io.Copy(conn, req.Body)
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	})
	_, _ = io.Copy(prompt{w, c}, conn)
	_ = req.Body.Close()
}

// prompt writes without waiting for more.
type prompt struct {
	w io.Writer
	c *http.ResponseController
}

// Write implements io.Writer.
func (p prompt) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if err != nil {
		return n, err
	}
	return n, p.c.Flush()
}
