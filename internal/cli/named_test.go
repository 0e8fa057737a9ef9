package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// contexts is a kubeconfig whose current context is home.
const contexts = `{"apiVersion": "v1", "kind": "Config", "current-context": "home", "users": [{"name": "me", "user": {}}],
"clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
"contexts": [{"name": "home", "context": {"cluster": "c", "user": "me"}}, {"name": "stage", "context": {"cluster": "c", "user": "me"}}]}`

// TestSessionNamesCluster runs every command that takes a Tiltfile and --session, with the names of sessions that worked in another
// cluster than kubectl uses now: the context and the namespace are those of the session, unless the command line chooses others. In its
// own folder, up and ci only give the name to a new session.
func TestSessionNamesCluster(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"config": contexts, "shop/Tiltfile": "", "empty/README": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"XDG_STATE_HOME": dir, "XDG_RUNTIME_DIR": dir, "KUBECONFIG": filepath.Join(dir, "config"), "HONE_SESSION": ""} {
		t.Setenv(name, value)
	}
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	tiltfile := filepath.Join(dir, "shop", "Tiltfile")
	for name, kubeContext := range map[string]string{"ended": "stage", "lost": "gone", "bare": ""} {
		if err := flags.Remembered().Keep(sessions.Project{Tiltfile: tiltfile, Session: name, UsedAt: time.Now(), Context: kubeContext, Namespace: "shop"}); err != nil {
			t.Fatal(err)
		}
	}
	living, err := flags.Registry().Claim(t.Context(), sessions.Info{Name: "running", Command: "up", PID: os.Getpid(), Tiltfile: tiltfile, Context: "stage", Namespace: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { living.Release(t.Context()) })

	for _, row := range []struct {
		at, args string
		want     string // context/namespace
		begins   string // what up and ci take instead
		err      string
	}{
		{at: "empty", args: "--session ended", want: "stage/shop"},
		{at: "empty", args: "--session running", want: "stage/shop"},
		{at: "shop", args: "--session ended", want: "stage/shop", begins: "/"},
		{at: "shop", args: "--session running", want: "stage/shop", begins: "/"},
		{at: "shop", args: "", want: "/"},
		{at: "empty", args: "--session ended --context home", want: "home/"},
		{at: "empty", args: "--session ended --namespace mine", want: "stage/mine"},
		{at: "empty", args: "--session bare", want: "/"},
		{at: "empty", args: "-f ../shop/Tiltfile --session running", want: "stage/shop", begins: "/"},
		{at: "empty", args: "-f ../other/Tiltfile --session running", want: "/"},
		{at: "empty", args: "--session lost", err: "session lost works in context gone, which cannot be used"},
		{at: "shop", args: "--session lost", err: "session lost works in context gone, which cannot be used", begins: "/"},
		{at: "empty", args: "--session lost --context home", want: "home/"},
	} {
		t.Run(row.at+" "+row.args, func(t *testing.T) {
			t.Chdir(filepath.Join(dir, row.at))
			seen := 0
			for _, c := range allCommands(newRoot(&command.Global{Stdout: io.Discard, Stderr: io.Discard})) {
				if c.Flags().Lookup("session") == nil || c.Flags().Lookup("context") == nil {
					continue
				}
				seen++
				if err := c.ParseFlags(strings.Fields(row.args)); err != nil {
					t.Fatal(err)
				}
				err := c.PreRunE(c, nil)
				got := c.Flag("context").Value.String() + "/" + c.Flag("namespace").Value.String()
				want, wrong := row.want, row.err
				if begins := c.Name() == "up" || c.Name() == "ci"; begins && row.begins != "" {
					want, wrong = row.begins, ""
				}
				switch {
				case wrong == "" && (err != nil || got != want):
					t.Errorf("%s: %s instead of %s, error %v", c.CommandPath(), got, want, err)
				case wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)):
					t.Errorf("%s: %v instead of: %s", c.CommandPath(), err, wrong)
				}
			}
			if seen < 8 {
				t.Errorf("only %d commands take a session's project", seen)
			}
		})
	}
}

// allCommands returns a command and all commands below it.
func allCommands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		all = append(all, allCommands(sub)...)
	}
	return all
}
