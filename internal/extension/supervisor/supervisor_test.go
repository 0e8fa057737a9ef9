//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asProgram makes the test binary be the supervisor, with the patience that it names.
const asProgram = "HONE_TEST_SUPERVISOR"

func TestMain(m *testing.M) {
	if text := os.Getenv(asProgram); text != "" {
		var err error
		if grace, err = time.ParseDuration(text); err != nil {
			panic(err)
		}
		main()
	}
	os.Exit(m.Run())
}

// supervised is a running supervisor.
type supervised struct {
	t     *testing.T
	cmd   *exec.Cmd
	file  string
	lines *bufio.Scanner
}

// command is killed when the test takes too long; what it started dies with it.
func command(t *testing.T, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1h")
	return cmd
}

// supervise runs a shell script under the supervisor.
func supervise(t *testing.T, script string, args ...string) *supervised {
	t.Helper()
	return superviseFor(t, "1h", script, args...)
}

// superviseFor also says how long a process gets to end.
func superviseFor(t *testing.T, patience, script string, args ...string) *supervised {
	t.Helper()
	s := &supervised{t: t, file: filepath.Join(t.TempDir(), "restart")}
	s.cmd = command(t, append([]string{"run", s.file, "--", "sh", "-c", script, "sh"}, args...)...)
	s.cmd.Env = append(s.cmd.Env, asProgram+"="+patience)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = os.Stderr
	s.lines = bufio.NewScanner(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// says returns the next line, which must begin with prefix.
func (s *supervised) says(prefix string) string {
	s.t.Helper()
	if !s.lines.Scan() || !strings.HasPrefix(s.lines.Text(), prefix) {
		s.t.Fatalf("it says %q (%v), want %q", s.lines.Text(), s.lines.Err(), prefix)
	}
	return strings.TrimPrefix(s.lines.Text(), prefix)
}

func (s *supervised) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func (s *supervised) restart() {
	s.t.Helper()
	if out, err := command(s.t, "restart", s.file).CombinedOutput(); err != nil {
		s.t.Fatalf("restart: %v\n%s", err, out)
	}
}

func (s *supervised) endsWith(code int) {
	s.t.Helper()
	_ = s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("it ended with %v, want exit code %d", s.cmd.ProcessState, code)
	}
}

func TestExitCodes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "restart")
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		want int
	}{
		{[]string{"run", file, "--", "true"}, 0},
		{[]string{"run", file, "--", "sh", "-c", "exit 7"}, 7},
		{[]string{"run", file, "--", "sh", "-c", "kill -KILL $$"}, 137},
		{[]string{"run", file, "--", "no-such-program"}, 127},
		{[]string{"run", file, "--", "/no/such/program"}, 126},
		{[]string{"run", file, "--", text}, 126},
		{[]string{"run", "/no/such/folder/restart", "--", "sh", "-c", "exit 3"}, 3},
		{[]string{"restart", "/no/such/folder/restart"}, 1},
		{[]string{"run", file, "--"}, 2},
		{nil, 2},
	} {
		out, err := command(t, tc.args...).CombinedOutput()
		code := 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		if code != tc.want {
			t.Errorf("%q: %v (%s), want exit code %d", tc.args, err, out, tc.want)
		}
	}
}

func TestSignalsArePassedOn(t *testing.T) {
	s := supervise(t, `trap 'echo usr1' USR1; trap 'echo hup' HUP; trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done`)
	s.says("ready")
	s.signal(syscall.SIGUSR1)
	s.says("usr1")
	s.signal(syscall.SIGHUP)
	s.says("hup")
	s.signal(syscall.SIGTERM)
	s.endsWith(5)
}

// TestInterruptIsPassedOn: shells start background jobs with SIGINT ignored, the supervisor does not.
func TestInterruptIsPassedOn(t *testing.T) {
	s := supervise(t, `echo ready; exec sleep 1000`)
	s.says("ready")
	s.signal(syscall.SIGINT)
	s.endsWith(130)
}

func TestRestart(t *testing.T) {
	s := supervise(t, `trap 'exit 0' TERM; echo "started $$ $1 $0"; while :; do sleep 0.01; done`, "an argument")
	first := s.says("started ")
	if !strings.HasSuffix(first, " an argument sh") {
		t.Errorf("arguments: %q", first)
	}
	s.restart()
	if second := s.says("started "); second == first {
		t.Errorf("the same process twice: %q", first)
	}
	if err := os.Chtimes(s.file, time.Now(), time.Now()); err != nil { // as touch does
		t.Fatal(err)
	}
	s.says("started ")
	if err := os.WriteFile(s.file+"~", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.file+"~", s.file); err != nil { // as a sync of the file would
		t.Fatal(err)
	}
	s.says("started ")
	s.signal(syscall.SIGTERM)
	s.endsWith(0)
}

// TestRestartEndsTheGroup: what the old process has started holds a pipe open, whose end tells that it is gone.
func TestRestartEndsTheGroup(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	s := supervise(t, `if mkdir "$1.first" 2> /dev/null; then (trap '' TERM; exec 3>"$1"; echo child; while :; do sleep 0.01; done) & fi; echo started; wait`, fifo)
	f, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.says("")
	s.says("")
	s.restart()
	if _, err := io.ReadAll(f); err != nil {
		t.Error(err)
	}
	s.says("started")
}

func TestStubbornProcessIsKilled(t *testing.T) {
	s := superviseFor(t, "100ms", `trap '' TERM; echo "started $$"; while :; do sleep 0.01; done`)
	first := s.says("started ")
	s.restart()
	if second := s.says("started "); second == first {
		t.Errorf("the same process twice: %q", first)
	}
	s.signal(syscall.SIGTERM) // ignored by the process, so it lives
	s.signal(syscall.SIGKILL)
	s.endsWith(-1)
}

// TestTermEndsARestart: a container that is being stopped must not start its process again.
func TestTermEndsARestart(t *testing.T) {
	allowed := filepath.Join(t.TempDir(), "allowed")
	s := supervise(t, `trap 'echo asked' TERM; echo started; until [ -e "$1" ]; do sleep 0.01; done; exit 9`, allowed)
	s.says("started")
	s.restart()
	s.says("asked")
	s.signal(syscall.SIGTERM)
	s.says("asked")
	if err := os.WriteFile(allowed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s.lines.Scan() {
		t.Errorf("it goes on: %q", s.lines.Text())
	}
	s.endsWith(9)
}

func TestConcerns(t *testing.T) {
	event := func(mask uint32, name string) []byte {
		padded := name + strings.Repeat("\x00", 16-len(name)%16)
		b := make([]byte, syscall.SizeofInotifyEvent, syscall.SizeofInotifyEvent+len(padded))
		b[4], b[5], b[6], b[7] = byte(mask), byte(mask>>8), byte(mask>>16), byte(mask>>24)
		b[12] = byte(len(padded))
		return append(b, padded...)
	}
	for name, tc := range map[string]struct {
		events []byte
		want   bool
	}{
		"the file":      {event(syscall.IN_ATTRIB, ".restart"), true},
		"another":       {event(syscall.IN_ATTRIB, ".restart2"), false},
		"the second":    {append(event(syscall.IN_ATTRIB, "x"), event(syscall.IN_ATTRIB, ".restart")...), true},
		"lost events":   {event(syscall.IN_Q_OVERFLOW, ""), true},
		"nothing":       {nil, false},
		"cut off":       {event(syscall.IN_ATTRIB, ".restart")[:20], false},
		"half a header": {event(syscall.IN_ATTRIB, ".restart")[:7], false},
	} {
		if got := concerns(tc.events, ".restart"); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
