package k8s

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestConnsClose closes a client's connections in each of their states: in use, idle, and still being dialled.
func TestConnsClose(t *testing.T) {
	entered := make(chan struct{}, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			entered <- struct{}{}
			<-r.Context().Done()
		}
	}))
	defer srv.Close()
	owner := &conns{dialContext: new(net.Dialer).DialContext, heard: newHeard()}
	client := &http.Client{Transport: &http.Transport{DialContext: owner.dial}}

	hanging := make(chan error, 1)
	go func() {
		resp, err := client.Get(srv.URL + "/hang")
		if err == nil {
			resp.Body.Close()
		}
		hanging <- err
	}()
	<-entered
	resp, err := client.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	late, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}

	owner.close()
	if err := <-hanging; err == nil {
		t.Error("the request in flight succeeded")
	}
	if _, err := client.Get(srv.URL); !errors.Is(err, errClientClosed) {
		t.Errorf("a request after close: %v", err)
	}
	if len(owner.open) != 0 {
		t.Errorf("%d connections left", len(owner.open))
	}
	// A dial that began before close and ends after it.
	owner.dialContext = func(context.Context, string, string) (net.Conn, error) { return late, nil }
	if _, err := owner.dial(t.Context(), "tcp", ""); !errors.Is(err, errClientClosed) {
		t.Errorf("a late connection: %v", err)
	}
	if _, err := late.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the late connection lives: %v", err)
	}
}
