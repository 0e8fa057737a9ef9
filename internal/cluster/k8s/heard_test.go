package k8s

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/pkg/model"
)

// TestHeard: while a request over HTTP/2 is not answered, the connection is pinged, so that a slow server is not quiet.
func TestHeard(t *testing.T) {
	hang := make(chan struct{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-hang
		case "/version":
			w.WriteHeader(http.StatusForbidden)
		case "/busy/version":
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	defer close(hang)
	rc := &rest.Config{Host: srv.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	c, err := newClient(rc, model.Cluster{Context: "dev"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, pinged := c.Quiet(); pinged {
		t.Error("pinged before the first answer")
	}
	if err := c.Alive(t.Context()); err != nil {
		t.Errorf("a server that refuses the request is alive: %v", err)
	}
	if _, pinged := c.Quiet(); !pinged {
		t.Error("HTTP/2 without pings")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/hang", nil)
	done := make(chan error, 1)
	go func() {
		resp, err := c.HTTPClient().Do(req)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	at := func() time.Duration { return time.Duration(c.conns.heard.at.Load()) }
	for first := at(); at() <= first+askIdle; { // two pings later than the request at the latest
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("nothing arrives from a slow server")
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Log(err) // of the request that was cancelled
	}
}

// TestOwnTransport: a client with a transport of its own is not pinged, and does not count as if it were. After a
// second without work, it was taken for dead, and with it every connection on which nothing had arrived since, such as
// the connection of a running command.
func TestOwnTransport(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	c, err := newClient(&rest.Config{Host: srv.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, model.Cluster{Context: "dev"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.Alive(t.Context()); err != nil {
		t.Fatal(err)
	}
	own, err := rest.HTTPClientFor(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := own.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	c.conns.mu.Lock()
	defer c.conns.mu.Unlock()
	pinged := 0
	for conn := range c.conns.open {
		if conn.pinged {
			pinged++
		}
	}
	if open := len(c.conns.open); open != 2 || pinged != 1 {
		t.Errorf("%d of %d connections count as pinged", pinged, open)
	}
}

// TestAliveBehindAGateway: the error of a gateway is not the API server's answer, and a refused connection is none.
func TestAliveBehindAGateway(t *testing.T) {
	status := http.StatusBadGateway
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	c, err := newClient(&rest.Config{Host: srv.URL}, model.Cluster{Context: "dev"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for s, alive := range map[int]bool{502: false, 503: false, 500: false, 429: true, 401: true, 404: true, 200: true} {
		if status = s; (c.Alive(t.Context()) == nil) != alive {
			t.Errorf("%d: alive %v", s, !alive)
		}
	}
	if _, pinged := c.Quiet(); pinged {
		t.Error("HTTP/1.1 has no pings")
	}
	srv.Close()
	if err := c.Alive(t.Context()); !IsUnreachable(err) {
		t.Errorf("a server that is gone: %v", err)
	}
}
