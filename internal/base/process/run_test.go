//go:build unix

package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name           string
		cmd            Command
		stdout, stderr string
		exit           *ExitError
	}{
		{name: "output", cmd: Command{Cmd: sh("echo out; echo err >&2")}, stdout: "out\n", stderr: "err\n"},
		{name: "exit code", cmd: Command{Cmd: sh("exit 7")}, exit: &ExitError{Code: 7}},
		{name: "signal", cmd: Command{Cmd: sh("kill -KILL $$")}, exit: &ExitError{Code: 137, Signal: "SIGKILL"}},
		{name: "stdin", cmd: Command{Cmd: sh("cat"), Stdin: strings.NewReader("hello")}, stdout: "hello"},
		{name: "stdin that nobody reads", cmd: Command{Cmd: sh("exit 0"), Stdin: strings.NewReader(strings.Repeat("x", 1<<20))}},
		{name: "no stdin is empty", cmd: Command{Cmd: sh("cat; echo done")}, stdout: "done\n"},
		{name: "dir", cmd: Command{Cmd: model.Cmd{Argv: []string{"sh", "-c", "echo $PWD"}, Dir: dir}}, stdout: dir + "\n"},
		{
			name:   "environment, the command's own last",
			cmd:    Command{Cmd: model.Cmd{Argv: []string{"sh", "-c", "echo $A $B"}, Env: []string{"A=cmd"}}, ExtraEnv: []string{"A=extra", "B=extra"}},
			stdout: "cmd extra\n",
		},
		{name: "colour", cmd: Command{Cmd: sh("echo $FORCE_COLOR$CLICOLOR_FORCE")}, stdout: "11\n"},
		{name: "plain", cmd: Command{Cmd: sh("echo $FORCE_COLOR$CLICOLOR_FORCE"), Plain: true}, stdout: "\n"},
		{name: "NO_COLOR", cmd: Command{Cmd: sh("echo $FORCE_COLOR"), ExtraEnv: []string{"NO_COLOR=1"}}, stdout: "\n"},
		{name: "colour set by the user", cmd: Command{Cmd: sh("echo $FORCE_COLOR"), ExtraEnv: []string{"FORCE_COLOR=0"}}, stdout: "0\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("NO_COLOR", "")
			var stdout, stderr bytes.Buffer
			tt.cmd.Stdout, tt.cmd.Stderr = &stdout, &stderr
			err := Run(t.Context(), tt.cmd)
			var exit *ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatalf("Run: %v", err)
			}
			if diff := cmp.Diff(tt.exit, exit); diff != "" {
				t.Errorf("exit (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{tt.stdout, tt.stderr}, []string{stdout.String(), stderr.String()}); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunKeepsOrderOfOneWriter(t *testing.T) {
	var out bytes.Buffer
	err := Run(t.Context(), Command{Cmd: sh("for i in 1 2 3; do echo o$i; echo e$i >&2; done"), Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	if want := "o1\ne1\no2\ne2\no3\ne3\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestRunProblems(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, tt := range []struct {
		name  string
		cmd   model.Cmd
		cause string
	}{
		{"not found", model.Cmd{Argv: []string{"no-such-program"}}, "executable file not found"},
		{"path not found", model.Cmd{Argv: []string{dir + "/nothing"}}, "does not exist"},
		{"no folder", model.Cmd{Argv: []string{"sh"}, Dir: dir + "/none"}, "folder " + dir + "/none does not exist"},
		{"not executable", model.Cmd{Argv: []string{write("plain", "#!/bin/sh\n", 0o644)}}, "permission denied"},
		{"no interpreter", model.Cmd{Argv: []string{write("script", "#!/no/such\n", 0o755)}}, "interpreter"},
		{"no format", model.Cmd{Argv: []string{write("text", "echo hi\n", 0o755)}}, "exec format error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Run(t.Context(), Command{Cmd: tt.cmd})
			p, ok := problem.Of(err)
			if !ok || p.Mend == "" {
				t.Fatalf("got %v, want a problem with a mend", err)
			}
			if !strings.Contains(err.Error(), tt.cause) {
				t.Errorf("got %q, want it to say %q", err, tt.cause)
			}
		})
	}
	if err := Run(t.Context(), Command{}); err == nil {
		t.Error("an empty command succeeded")
	}
}

func TestRunFindsProgramInOwnPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "only-here"), []byte("#!/bin/sh\necho found\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := Run(t.Context(), Command{
		Cmd: model.Cmd{Argv: []string{"only-here"}, Env: []string{"PATH=" + dir + ":" + os.Getenv("PATH")}}, Stdout: &out,
	})
	if err != nil || out.String() != "found\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

// lines passes the output of a command to a test line by line, as it arrives.
func lines(t *testing.T) (io.Writer, func() string) {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	sc := bufio.NewScanner(r)
	return w, func() string {
		t.Helper()
		if !sc.Scan() {
			t.Fatalf("output ended: %v", sc.Err())
		}
		return sc.Text()
	}
}

func TestRunStreams(t *testing.T) {
	stdin, feed := io.Pipe()
	w, next := lines(t)
	done := make(chan error, 1)
	go func() {
		done <- Run(t.Context(), Command{Cmd: sh("echo first; read x; echo got $x"), Stdin: stdin, Stdout: w})
	}()
	if got := next(); got != "first" {
		t.Errorf("got %q", got)
	}
	if _, err := io.WriteString(feed, "more\n"); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "got more" {
		t.Errorf("got %q", got)
	}
	feed.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRunCancel(t *testing.T) {
	for _, tt := range []struct{ name, script, last string }{
		{"term is enough", `trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done`, "bye"},
		{"term is ignored", `trap '' TERM; echo up; while :; do sleep 1; done`, ""},
		{"stopped", `echo up; kill -STOP $$`, ""},
		{"child takes its time", `(trap 'sleep 0.1; echo child done; exit' TERM; echo up; while :; do sleep 0.01; done) & wait`, "child done"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			alive, held := aliveFile(t)
			w := &until{text: "up\n", then: cancel}
			cmd := Command{Cmd: sh(tt.script), Stdout: w, Stdin: held, Grace: time.Second}
			if tt.last == "" {
				cmd.Grace = 50 * time.Millisecond
			}
			err := Run(ctx, cmd)
			held.Close()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want cancelled", err)
			}
			alive.wantGone(t)
			if !strings.Contains(w.all.String(), tt.last) {
				t.Errorf("output %q lacks %q", w.all.String(), tt.last)
			}
		})
	}
}

// until calls a function when the text has been written.
type until struct {
	all  bytes.Buffer
	text string
	then func()
}

func (u *until) Write(p []byte) (int, error) {
	u.all.Write(p)
	if strings.Contains(u.all.String(), u.text) {
		u.then()
	}
	return len(p), nil
}

// living reports whether a process exists that inherited a file.
type living struct{ r *os.File }

// aliveFile returns a file to pass to a process, and a way to check whether the process or a child of it still has it
// open.
func aliveFile(t *testing.T) (living, *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return living{r}, w
}

// wantGone checks that no process has the file open.
func (l living) wantGone(t *testing.T) {
	t.Helper()
	if err := l.r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := l.r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("a process is still there: %v", err)
	}
}

func TestRunEndsLeftovers(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"child", `sleep 1000 & exit 0`},
		{"grandchild", `(sleep 1000 & sleep 1000) & exit 0`},
		{"one that ignores SIGTERM", `(trap '' TERM; while :; do sleep 1; done) & exit 0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			alive, held := aliveFile(t)
			if err := Run(t.Context(), Command{Cmd: sh(tt.script), Stdin: held}); err != nil {
				t.Error(err)
			}
			held.Close()
			alive.wantGone(t)
		})
	}
}

func TestRunDoesNotWaitForDaemonsForEver(t *testing.T) {
	alive, held := aliveFile(t)
	var out bytes.Buffer
	begin := time.Now()
	err := Run(t.Context(), Command{Cmd: sh(`setsid sh -c 'echo $$; exec sleep 1000' & wait_for=1; sleep 0.2`), Stdin: held, Stdout: &out})
	held.Close()
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("took %s", took)
	}
	if err := Run(t.Context(), Command{Cmd: sh("kill -KILL " + strings.TrimSpace(out.String()))}); err != nil {
		t.Fatalf("the daemon is gone: %v", err)
	}
	alive.wantGone(t)
}

func TestRunReportsWriter(t *testing.T) {
	err := Run(t.Context(), Command{Cmd: sh("yes | head -c 1000000"), Stdout: failing{}})
	if err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }
