package k8s

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
)

// pluginClient returns a client whose credentials come from a script.
func pluginClient(t *testing.T, script string) *Client {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the plugins are scripts")
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

// TestHangingPlugin: a request does not outlast its context, though its credential plugin hangs. The plugin ends with its client, and so does
// what it has started.
func TestHangingPlugin(t *testing.T) {
	alive := filepath.Join(t.TempDir(), "alive")
	if err := exec.Command("mkfifo", alive).Run(); err != nil {
		t.Skip(err)
	}
	c := pluginClient(t, `trap "" INT TERM HUP; exec 3>"`+alive+`"; echo waiting >&2; sleep 1000 & while :; do sleep 1000; done`)
	ended := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(alive) // until all that have it open have ended
		ended <- err
	}()
	ctx, cancel := context.WithCancel(t.Context())
	c.HearPlugin(func(string) { cancel() })
	if _, err := c.Detect(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if p, _ := problem.Of(c.Explain(context.DeadlineExceeded)); p == nil || !strings.Contains(p.Summary, "credential plugin log in of cluster") || p.Detail != "waiting" || p.Mend == "" {
		t.Errorf("an error meanwhile: %+v", p)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-t.Context().Done():
		t.Error("the plugin lives on")
	}
}

// TestPluginTakesItsTime: the wait for the first answer of a cluster begins when the credential plugin has ended, and a plugin that takes too
// long is given up.
func TestPluginTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plugin{runs: map[net.Conn]time.Time{}}
		begun := time.Now()
		took := func(d time.Duration) time.Duration {
			here, there := net.Pipe()
			defer there.Close()
			begun = time.Now()
			p.begin(here)
			time.AfterFunc(d, func() { p.end(here) })
			ctx, cancel := p.timeout(t.Context(), answerTimeout)
			defer cancel()
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
				t.Errorf("the cause is %v", context.Cause(ctx))
			}
			p.giveUp()
			err := here.SetDeadline(time.Time{})
			if given := errors.Is(err, io.ErrClosedPipe); given != (d > pluginPatience) {
				t.Errorf("after %s: %v", d, err)
			}
			return time.Since(begun)
		}
		for d, want := range map[time.Duration]time.Duration{0: answerTimeout, 3 * answerTimeout / 2: 3 * answerTimeout, 2 * pluginPatience: pluginPatience} {
			if got := took(d); got.Round(answerTimeout) != want {
				t.Errorf("a plugin that takes %s: waited for %s, want %s", d, got, want)
			}
			time.Sleep(2 * pluginPatience)
		}
	})
}
