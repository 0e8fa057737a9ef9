package mcp

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/pkg/api"
)

// reads are the permissions that the tools which change nothing need, and acts the ones of the other tools.
var (
	reads = []api.Permission{api.PermissionStatus, api.PermissionLogs, api.PermissionSettle, api.PermissionPreview}
	acts  = []api.Permission{api.PermissionSnapshot, api.PermissionTest, api.PermissionTrigger, api.PermissionRestart, api.PermissionEnable, api.PermissionButton, api.PermissionDeploy}
)

// tokenLife is the life of a token. A new one follows.
const tokenLife = api.LongestToken / 30

// grant is a token with no more rights than the tools need. The owner's own rights are larger: without it, a fault in a tool could do anything.
type grant struct {
	allow []api.Permission

	mu sync.Mutex
	// of is the owner's client of the session that the token is for, and number counts the tokens. Guarded by mu, as is token.
	of     *client.Client
	token  api.Token
	number int
}

// newGrant returns the grant for a server that may act, or only read.
func newGrant(readOnly bool) *grant {
	if readOnly {
		return &grant{allow: reads}
	}
	return &grant{allow: slices.Concat(reads, acts)}
}

// limit returns a client for the session of c, whose requests have the rights of the token.
func (g *grant) limit(ctx context.Context, c *client.Client) (*client.Client, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil || !sameRun(g.of.Session, c.Session) || time.Until(g.token.ExpiresAt) < callLimit {
		name := fmt.Sprintf("mcp-%d-%d", os.Getpid(), g.number+1)
		t, err := c.CreateToken(ctx, api.TokenRequest{Name: name, Allow: g.allow, ForMs: tokenLife})
		if err != nil {
			return nil, fmt.Errorf("ask for a token that has only the rights of the tools: %w", err)
		}
		g.of, g.token = c, t
		g.number++
	}
	return c.As(g.token.Token), nil
}

// sameRun reports whether two descriptions are about one run of a session.
func sameRun(a, b sessions.Info) bool { return a.PID == b.PID && a.StartedAt.Equal(b.StartedAt) }

// end revokes the token. A session that has ended has none left.
func (g *grant) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
	defer cancel()
	_ = g.of.RevokeToken(ctx, g.token.Name)
}
