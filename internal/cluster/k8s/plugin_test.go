package k8s

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
)

// pluginClient returns a client whose credentials come from a script.
func pluginClient(t *testing.T, script string) *Client {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the messages of a plugin are heard on Linux only")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "log in") // the kubeconfig may have any name
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := newAPIServer(t, "good", "", "one")
	config := filepath.Join(dir, "config")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
"clusters": [{"name": "c", "cluster": {"server": %q, "insecure-skip-tls-verify": true}}], "users": [{"name": "u", "user": {"exec":
{"apiVersion": "client.authentication.k8s.io/v1", "command": %q, "args": ["to", "a b"], "interactiveMode": "IfAvailable"}}}]}`, s.URL, path)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := Load(Config{Kubeconfig: config})
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestPluginIsHeard runs credential plugins that say something: it is told, and not written to this process's standard error.
func TestPluginIsHeard(t *testing.T) {
	c := pluginClient(t, `echo "log in at https://id.example, $1 $2" >&2
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "good"}}'`)
	told := make(chan string, 9)
	c.HearPlugin(func(text string) { told <- text })
	if _, err := c.Detect(t.Context()); err != nil {
		t.Error(err)
	}
	if got := <-told; got != "credential plugin: log in at https://id.example, to a b" {
		t.Errorf("told %q", got)
	}

	c = pluginClient(t, "echo your session has expired >&2; exit 3")
	_, err := c.Detect(t.Context())
	p, ok := problem.Of(err)
	if !ok || !strings.Contains(p.Summary, "credential plugin") {
		t.Fatalf("%v", err)
	}
	c.HearPlugin(func(text string) { told <- text })
	if got := <-told; got != "credential plugin: your session has expired" {
		t.Errorf("told %q", got)
	}
	if p, _ := problem.Of(c.Explain(errors.New("getting credentials: it failed"))); p.Detail != "your session has expired" {
		t.Errorf("the detail is %q", p.Detail)
	}
}

// TestHangingPlugin: a request does not outlast its context, though its credential plugin hangs.
func TestHangingPlugin(t *testing.T) {
	c := pluginClient(t, `echo waiting >&2; while [ -e "$0" ]; do sleep 0.02; done`) // until the test has ended
	ctx, cancel := context.WithCancel(t.Context())
	c.HearPlugin(func(string) { cancel() })
	if _, err := c.Detect(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
