package mcp

import (
	"context"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// Handler serves the tools on the port of a session, which they ask over its socket. It can neither start a session nor run commands. It
// lets each client use its tools: the session's server has checked the token before.
func Handler(of sessions.Info) http.Handler {
	c := client.Over(of)
	return handler(Options{Version: command.Version, Snapshots: snapshotsDir(), Find: func(context.Context) (*client.Client, error) { return c, nil }})
}

// handler makes its server with the first request: most sessions have none.
func handler(o Options) http.Handler {
	make := sync.OnceValue(func() http.Handler {
		s := NewServer(o)
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { make().ServeHTTP(w, r) })
}

func snapshotsDir() string { return filepath.Join(command.StateDir(), "snapshots") }
