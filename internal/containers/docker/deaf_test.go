package docker

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/docker/docker/client"

	"github.com/hone-dev/hone/internal/base/problem"
)

// TestDeafEngine asks an engine that accepts connections and never answers, without a limit by the caller: it counts as
// unreachable, and the error contains advice.
func TestDeafEngine(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *Engine) error{
		"ping":  func(ctx context.Context, e *Engine) error { _, err := e.Ping(ctx); return err },
		"alive": func(ctx context.Context, e *Engine) error { return e.Alive(ctx) },
		"after a failure": func(ctx context.Context, e *Engine) error {
			return e.orAway(ctx, context.DeadlineExceeded)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api, err := client.NewClientWithOpts(client.WithHost("tcp://engine:2375"), client.WithAPIVersionNegotiation(),
					client.WithDialContext(func(context.Context, string, string) (net.Conn, error) {
						c, _ := net.Pipe()
						return c, nil
					}))
				if err != nil {
					t.Fatal(err)
				}
				e := &Engine{api: api, endpoint: Endpoint{Host: "tcp://engine:2375"}}
				err = ask(t.Context(), e)
				if text := problem.Text(err); !IsUnreachable(err) || !strings.Contains(text, "answers nothing") || !strings.Contains(text, "start the engine") {
					t.Errorf("got %q", text)
				}
			})
		})
	}
}
