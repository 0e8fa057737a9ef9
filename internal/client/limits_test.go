package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/pkg/api"
)

// pipes is a listener whose connections are made in memory.
type pipes struct {
	dialled chan net.Conn
	closed  chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialled:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// TestLimits lets a session answer late: what it has to find out may take longer than what it knows.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		name  string
		takes time.Duration
		ask   func(*Client, context.Context) error
		fails bool
	}{
		{"what it knows", 5 * time.Second, func(c *Client, ctx context.Context) error { _, err := c.View(ctx); return err }, false},
		{"what it knows, too late", 15 * time.Second, func(c *Client, ctx context.Context) error { _, err := c.View(ctx); return err }, true},
		{"a plan", 2 * time.Minute, func(c *Client, ctx context.Context) error { _, err := c.Plan(ctx); return err }, false},
		{"the end of updates", 30 * time.Second, func(c *Client, ctx context.Context) error {
			return c.TakenDown(ctx, api.TakenDownRequest{By: "test"})
		}, false},
		{"nothing for ever", 2 * time.Hour, func(c *Client, ctx context.Context) error { _, err := c.Plan(ctx); return err }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := pipes{make(chan net.Conn), make(chan struct{})}
				srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodHead {
						select {
						case <-time.After(tt.takes):
						case <-r.Context().Done():
						}
						_, _ = io.WriteString(w, "{}")
					}
				})}
				go func() { _ = srv.Serve(l) }()
				defer srv.Close()
				c := newClient(sessions.Info{Name: "shop", Socket: "in memory"}, "", func(context.Context, string, string) (net.Conn, error) {
					mine, theirs := net.Pipe()
					l.dialled <- theirs
					return mine, nil
				})
				began := time.Now()
				if err := tt.ask(c, t.Context()); (err != nil) != tt.fails {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
			})
		})
	}
}
