package k8s

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/pkg/model"
)

// network is a way to a server on which connections can be lost without an error, as after a change of addresses.
type network struct {
	mu   sync.Mutex
	open []*wire
	gone bool // no new connections either
}

// wire is a connection; once lost is closed, nothing more arrives on it.
type wire struct {
	net.Conn
	lost, ended chan struct{}
	once        sync.Once
}

func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	raw, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: raw, lost: make(chan struct{}), ended: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open = append(n.open, w)
	if n.gone {
		close(w.lost)
	}
	return w, nil
}

// lose loses the connections that there are.
func (n *network) lose() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.open {
		close(w.lost)
	}
	n.open = nil
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	select {
	case <-w.lost:
		<-w.ended
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.ended) })
	return w.Conn.Close()
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("waiting for %s", what)
		}
	}
}

// TestRenew replaces connections that are dead without an error, and no others.
func TestRenew(t *testing.T) {
	hang := make(chan struct{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	defer close(hang)
	n := &network{}
	c, err := newClient(&rest.Config{Host: srv.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, model.Cluster{Context: "dev"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	c.conns.dialContext = n.dial
	if err := c.Alive(t.Context()); err != nil {
		t.Fatal(err)
	}
	watching := func() <-chan error {
		ended := make(chan error, 1)
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/hang", nil)
		go func() {
			resp, err := c.HTTPClient().Do(req)
			if err == nil {
				resp.Body.Close()
			}
			ended <- err
		}()
		return ended
	}

	first := watching()
	// Something arrives on it meanwhile: the answers to pings, each second.
	heard := c.conns.heard.at.Load()
	until(t, "a ping to be answered", func() bool { return c.conns.heard.at.Load() != heard })
	if err := c.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-first:
		t.Fatalf("a connection that lives was ended: %v", err)
	default:
	}

	n.lose()
	until(t, "the connection to be silent", func() bool { return c.Stuck() >= askIdle+deadAfter })
	if err := c.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err == nil {
		t.Error("the request on the lost connection was answered")
	}
	if err := c.Alive(t.Context()); err != nil {
		t.Errorf("on a new connection: %v", err)
	}

	n.lose()
	n.gone = true
	short, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer done()
	if err := c.Renew(short); err == nil {
		t.Error("renewed without a network")
	}
	srv.Listener.Close()
	if err := c.Renew(t.Context()); err == nil {
		t.Error("renewed with a server that refuses")
	}
}
