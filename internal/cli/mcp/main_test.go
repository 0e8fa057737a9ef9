package mcp

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

func TestMain(m *testing.M) {
	time.Local = time.UTC // times of day are local
	goleak.VerifyTestMain(m)
}

// connect connects an agent to a server.
func connect(t *testing.T, o Options) *mcp.ClientSession {
	t.Helper()
	o.Version = "1.2.3"
	there, here := mcp.NewInMemoryTransports()
	s, err := NewServer(o).mcp.Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = s.Wait()
	})
	return c
}

// found are the options of a server whose session is c.
func found(c *client.Client) Options {
	return Options{Find: func(context.Context) (*client.Client, error) { return c, nil }}
}

// said calls a tool and returns the text of its answer, and whether it is an error. It checks the bounds.
func said(t *testing.T, c *mcp.ClientSession, tool string, args any) (text string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error(), true
	}
	for _, part := range r.Content {
		text += part.(*mcp.TextContent).Text
	}
	if n := len(text); n > answerBytes {
		t.Errorf("%s %v: the text has %d bytes", tool, args, n)
	}
	if n := len(structured(t, r)); n > answerBytes {
		t.Errorf("%s %v: the JSON has %d bytes", tool, args, n)
	}
	return text, r.IsError
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func sessionsInfo(name string) sessions.Info { return sessions.Info{Name: name, PID: 1} }
