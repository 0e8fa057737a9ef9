package mcp

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// Handler serves the tools on the port of a session, which they ask over its socket. It can neither start a session nor run commands. The
// session's server has checked the token before. The tools ask with the token in the header of the request, so that they have its
// rights; without one, it is the owner who asks.
func Handler(of sessions.Info) http.Handler {
	return handler(Options{Version: command.Version, Snapshots: snapshotsDir(), Find: asTheRequest(client.Over(of))})
}

// asTheRequest finds a session, with the rights of the request whose context it gets.
func asTheRequest(c *client.Client) func(context.Context) (*client.Client, error) {
	return func(ctx context.Context) (*client.Client, error) {
		token, _ := ctx.Value(tokenKey{}).(string)
		return c.As(token), nil
	}
}

// tokenKey is the key of the token of a request in its context.
type tokenKey struct{}

// delegated puts the token of a request into its context, and removes it from the header.
func delegated(r *http.Request) *http.Request {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	r = r.WithContext(context.WithValue(r.Context(), tokenKey{}, token))
	r.Header.Del("Authorization")
	return r
}

// handler makes its server with the first request: most sessions have none.
func handler(o Options) http.Handler {
	make := sync.OnceValue(func() http.Handler {
		s := NewServer(o)
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { make().ServeHTTP(w, delegated(r)) })
}

func snapshotsDir() string { return filepath.Join(command.StateDir(), "snapshots") }
