package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/hone-dev/hone/internal/client/sessions"
)

// TestThroughKeeps: requests to a session on another machine share a connection, since a new one takes a way there and back.
func TestThroughKeeps(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}\n") }))
	defer server.Close()
	var dialed atomic.Int32
	c := Through(sessions.Info{Name: "shop", Socket: "there"}, "", func(ctx context.Context) (net.Conn, error) {
		dialed.Add(1)
		return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
	})
	for range 3 {
		if err := c.Send(t.Context(), "/api/trigger", struct{}{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := dialed.Load(); n != 1 {
		t.Errorf("%d connections for 3 requests, want 1", n)
	}
}
