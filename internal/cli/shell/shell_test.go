package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/pkg/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// piped makes a file the standard input, and returns the standard output of do. Tests that use it do not run in parallel.
func piped(t *testing.T, input string, do func()) string {
	t.Helper()
	in, out := os.Stdin, os.Stdout
	defer func() { os.Stdin, os.Stdout = in, out }()
	dir := t.TempDir()
	err := os.WriteFile(dir+"/in", []byte(input), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if os.Stdin, err = os.Open(dir + "/in"); err != nil {
		t.Fatal(err)
	}
	defer os.Stdin.Close()
	if os.Stdout, err = os.Create(dir + "/out"); err != nil {
		t.Fatal(err)
	}
	defer os.Stdout.Close()
	do()
	got, err := os.ReadFile(dir + "/out")
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// TestInContainer runs shells and commands in containers of an engine: with and without a shell, killed, gone.
func TestInContainer(t *testing.T) {
	run := func(has string, code int) func(context.Context, []string, io.Reader, io.Writer) int {
		return func(_ context.Context, argv []string, in io.Reader, out io.Writer) int {
			switch {
			case len(argv) == 3 && strings.Contains(argv[2], "command -v bash") && has == "":
				return 127
			case len(argv) == 3 && strings.Contains(argv[2], "command -v bash"):
				fmt.Fprintln(out, has)
				return 0
			}
			b, _ := io.ReadAll(in)
			fmt.Fprintf(out, "%s got %q\n", strings.Join(argv, " "), b)
			return code
		}
	}
	for _, tc := range []struct {
		name      string
		has       string
		code      int
		argv      []string
		gone      bool
		out, says string
		exit      int
	}{
		{"bash", "/bin/bash", 0, nil, false, "/bin/bash got \"ls\\n\"\n", "", 0},
		{"sh", "/bin/sh", 3, nil, false, "/bin/sh got \"ls\\n\"\n", "exit code 3", 3},
		{"no shell", "", 0, nil, false, "", "container shop-db-1 has no shell: neither bash nor sh is in its image\n  docker debug shop-db-1", 127},
		{"killed", "/bin/sh", 137, nil, false, "/bin/sh got \"ls\\n\"\n", "the shell in container shop-db-1 was killed\n  the container has probably ended; hone shell db opens a new one", 137},
		{"a command", "", 4, []string{"psql", "-l"}, false, "psql -l got \"ls\\n\"\n", "exit code 4", 4},
		{"gone", "/bin/sh", 0, nil, true, "", "container shop-db-1 is gone", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := dockertest.New()
			if !tc.gone {
				f.AddContainer("c1", dockertest.Container{Exec: run(tc.has, tc.code)})
			}
			w := work{global: &command.Global{Terminal: command.NewTerminalGuard()}, at: api.Shell{Resource: "db"}, argv: tc.argv, here: true}
			var err error
			out := piped(t, "ls\n", func() {
				err = w.inContainer(t.Context(), f, api.ShellContainer{Pod: "shop-db-1", Container: "db", ID: "c1"})
			})
			said := ""
			if err != nil {
				said = problem.Text(err)
			}
			if out != tc.out || !strings.HasPrefix(said, tc.says) || (tc.says == "") != (err == nil) || command.ExitCode(t.Context(), err) != tc.exit {
				t.Errorf("wrote %q, said %q, exit code %d", out, said, command.ExitCode(t.Context(), err))
			}
		})
	}
}

// TestInFolder runs a user's shell and commands where a local resource runs.
func TestInFolder(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	dir := t.TempDir()
	for _, tc := range []struct {
		name      string
		argv      []string
		dir       string
		far       bool
		out, says string
		exit      int
	}{
		{"a shell", nil, dir, false, "shells in " + dir + "\n", "exit status 3", 3},
		{"a command", []string{"cat"}, dir, false, "echo $TOPIC in $(pwd); exit 3\n", "", 0},
		{"a signal", []string{"sh", "-c", "kill -9 $$"}, dir, false, "", "signal: killed", 137},
		{"a missing command", []string{"no-such-program"}, dir, false, "", `this machine has no program "no-such-program"`, 127},
		{"a missing folder", nil, dir + "/none", false, "", "the folder of docs does not exist: " + dir + "/none\n  create it", 1},
		{"another machine", nil, dir, true, "", "docs runs on the machine of the session, which is not this one", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := work{global: &command.Global{Terminal: command.NewTerminalGuard()}, at: api.Shell{Resource: "docs"}, argv: tc.argv, here: !tc.far}
			var err error
			out := piped(t, "echo $TOPIC in $(pwd); exit 3\n", func() {
				err = w.inFolder(t.Context(), api.ShellFolder{Dir: tc.dir, Env: []string{"TOPIC=shells"}})
			})
			said := ""
			if err != nil {
				said = problem.Text(err)
			}
			if out != tc.out || !strings.HasPrefix(said, tc.says) || (tc.says == "") != (err == nil) || command.ExitCode(t.Context(), err) != tc.exit {
				t.Errorf("wrote %q, said %q, exit code %d", out, said, command.ExitCode(t.Context(), err))
			}
		})
	}
}

// TestChild checks the command line of a hone shell that a screen runs, and the screen's message about its end.
func TestChild(t *testing.T) {
	want := []string{"shell", "--session=shop", "--pod=p", "--container=c", "--resource=-x"}
	if diff := cmp.Diff(want, childArgs(sessions.Info{Name: "shop"}, "-x", "p", "c")); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(childArgs(sessions.Info{Host: "10.0.0.1", Port: 7}, "web", "", ""), " "); got != "shell --host=10.0.0.1 --port=7 --pod= --container= --resource=web" {
		t.Error(got)
	}
	exit := exec.Command("sh", "-c", "exit 3").Run()
	for _, tc := range []struct {
		err        error
		said, want string
	}{
		{nil, "", ""},
		{nil, "a warning\n", ""},
		{exit, "", ""}, // how the user's shell has ended
		{exit, "Error: it has no shell\n  run one\n  beside it\n", "it has no shell\n  run one beside it"},
		{errors.New("no such file"), "", "run hone shell: no such file"},
	} {
		got := ""
		if err := failure(tc.err, tc.said); err != nil {
			got = problem.Text(err)
		}
		if got != tc.want {
			t.Errorf("%v, %q: %q, want %q", tc.err, tc.said, got, tc.want)
		}
	}
	var h head
	for range 3 {
		if n, err := h.Write(bytes.Repeat([]byte("x"), maxSaid/2+1)); n != maxSaid/2+1 || err != nil {
			t.Error(n, err)
		}
	}
	if len(h.text) != maxSaid {
		t.Errorf("%d bytes are kept", len(h.text))
	}
}
