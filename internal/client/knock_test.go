package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// TestNothingIsLeftForLater: a stopped session does not carry out the requests of commands that have given up when it continues.
func TestNothingIsLeftForLater(t *testing.T) {
	info := sessions.Info{Name: "shop", PID: os.Getpid(), Socket: filepath.Join(t.TempDir(), "s.sock")}
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", info.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, send := range map[string]func(context.Context, *Client) error{
		"stop": func(ctx context.Context, c *Client) error { return c.Stop(ctx) },
		"logs": func(ctx context.Context, c *Client) error { _, err := c.Logs(ctx, nil); return err },
		"objects": func(ctx context.Context, c *Client) error {
			_, err := objects.Open(ctx, c.RESTConfig(), io.Discard)
			return err
		},
	} {
		ctx, giveUp := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := send(ctx, Over(info)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		giveUp()
	}
	asked := make(chan string, 10)
	srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Method + " " + r.URL.Path })}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	if err := Over(info).Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The end waits for all connections: the server may come to those that are left after the last one.
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	close(asked)
	sent := map[string]int{}
	for a := range asked {
		sent[a]++
	}
	if delete(sent, "HEAD /"); len(sent) != 1 || sent["POST /api/stop"] != 1 {
		t.Errorf("sent beside HEAD: %v, not only the last stop", sent)
	}
}
