//go:build linux

package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// crashing prints that it is up, and exits with 3 when the gate opens.
const crashing = `echo up; read line <$T/gate; exit 3`

// TestCrash checks that with a client a crashed process waits for a restart; once the last client has gone, the
// container ends with its exit code.
func TestCrash(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, crashing)
	s.says("up")
	k := s.talk()
	if p := expect[*protocol.Process](k); !p.Running || p.Starts != 1 {
		t.Errorf("at first: %+v", p)
	}
	for n := uint64(1); n <= 3; n++ {
		s.open()
		p := expect[*protocol.Process](k)
		if p.Running || p.Code != 3 || p.Starts != n || p.Crashes != n || p.AgainNanos != uint64(firstPause)<<(n-1) {
			t.Errorf("after %d crashes: %+v", n, p)
		}
		k.send(&protocol.Restart{ID: n})
		if p := expect[*protocol.Process](k); !p.Running || p.Crashes != n {
			t.Errorf("restarted: %+v", p)
		}
		s.says("up")
	}
	// A process that was running when it was restarted has not crashed.
	k.send(&protocol.Restart{ID: 9, GraceNanos: uint64(time.Minute)})
	if p := expect[*protocol.Process](k); !p.Running || p.Starts != 5 || p.Crashes != 0 {
		t.Errorf("restarted without a crash: %+v", p)
	}
	s.says("up")
	s.open()
	expect[*protocol.Process](k)
	k.send(&protocol.Leave{})
	if code := s.ends(); code != 3 {
		t.Errorf("the container ends with %d", code)
	}
}

// TestCrashAlone checks that without a client the container ends and prints why.
func TestCrashAlone(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, "exit 7")
	if code := s.ends(); code != 7 {
		t.Errorf("the container ends with %d", code)
	}
	text, err := os.ReadFile(s.errs.Name())
	if err != nil || !strings.Contains(string(text), "ended with exit code 7") {
		t.Errorf("it says %q, %v", text, err)
	}
}

// TestEndWhileAttended checks that a client keeps the container of a crashed process, but not a container that has to
// end.
func TestEndWhileAttended(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		crash  bool
		code   int
	}{
		"killed by the signal":    {`echo up; while :; do sleep 0.01; done`, false, 143},
		"an exit code of its own": {`trap 'exit 5' TERM; echo up; while :; do sleep 0.01; done`, false, 5},
		"after a crash":           {crashing, true, 143},
		"while being restarted":   {`trap 'n=$((n+1)); [ $n = 2 ] && exit 6; echo asked' TERM; echo up; while :; do sleep 0.01; done`, false, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startSupervised(t, tt.script)
			s.says("up")
			k := s.talk()
			expect[*protocol.Process](k) // it is connected, not only about to be accepted
			if tt.crash {
				s.open()
				for p := expect[*protocol.Process](k); p.Running; p = expect[*protocol.Process](k) {
				}
			}
			if name == "while being restarted" {
				k.send(&protocol.Restart{ID: 1, GraceNanos: uint64(time.Hour)})
				s.says("asked")
			}
			check(t, syscall.Kill(s.one(), syscall.SIGTERM))
			for p := expect[*protocol.Process](k); !p.Ending; p = expect[*protocol.Process](k) {
			}
			if code := s.ends(); code != tt.code {
				t.Errorf("the container ends with %d, want %d", code, tt.code)
			}
		})
	}
}

// TestRestartWaits checks that the children of the process also get time to end before a new one starts.
func TestRestartWaits(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, `(trap 'read line <$T/gate; echo left; exit' TERM; echo up; while :; do sleep 0.01; done) & wait`)
	s.says("up")
	k := s.talk()
	k.send(&protocol.Restart{ID: 1, GraceNanos: uint64(time.Hour)})
	s.open()
	s.says("left")
	s.says("up")
	if r := expect[*protocol.Restarted](k); r.Code != protocol.RestartDone {
		t.Errorf("restarted: %+v", r)
	}
}

// TestRestartIsAStep repeats the restart of a sequence in a second conversation, as a client does whose synclet has ended before the answer:
// the process is restarted once, whether the first request has been carried out by then or not.
func TestRestartIsAStep(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, `trap 'echo asked; [ -f $T/once ] || { touch $T/once; read line <$T/gate; }; exit' TERM
		echo up; while :; do sleep 0.01; done`)
	s.says("up")
	restart := func(k *talk, sequence uint64) {
		k.send(&protocol.Step{Sequence: sequence})
		k.send(&protocol.Restart{ID: sequence, GraceNanos: uint64(time.Hour)})
	}
	first, second, third := s.talk(), s.talk(), s.talk()
	restart(first, 7)
	s.says("asked")
	first.close()
	restart(second, 7)
	s.open()
	if r := expect[*protocol.Restarted](second); r.Code != protocol.RestartDone {
		t.Errorf("while the process ends: %+v", r)
	}
	s.says("up")
	restart(third, 7)
	if r := expect[*protocol.Restarted](third); r.Code != protocol.RestartDone || r.PID == 0 {
		t.Errorf("after the restart: %+v", r)
	}
	restart(third, 8)
	s.says("asked")
	s.says("up")
	for p := expect[*protocol.Process](third); p.Starts < 3; p = expect[*protocol.Process](third) {
	}
	if r := expect[*protocol.Restarted](third); r.ID != 8 {
		t.Errorf("another sequence: %+v", r)
	}
	restart(third, 8)
	expect[*protocol.Restarted](third)
	if p := expect[*protocol.Process](s.talk()); p.Starts != 3 {
		t.Errorf("two sequences: %+v", p)
	}
}

// TestCommandEndsWithItsSynclet kills a synclet while a command runs.
func TestCommandEndsWithItsSynclet(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, `echo up; while :; do sleep 0.01; done`)
	s.says("up")
	k := s.talk()
	k.send(&protocol.Run{ID: 1, Argv: []string{"sh", "-c", "echo $$; while :; do sleep 0.01; done"}})
	pid := strings.TrimSpace(string(expect[*protocol.Output](k).Data))
	if err := s.enter("kill", "-0", pid).Run(); err != nil {
		t.Fatalf("the command does not run: %v", err)
	}
	serve, err := childOf(k.cmd.Process.Pid) // nsenter waits for it
	check(t, err)
	check(t, syscall.Kill(serve, syscall.SIGKILL))
	_ = k.cmd.Wait()
	for n := 0; s.enter("kill", "-0", pid).Run() == nil; n++ {
		if n == 1000 {
			t.Fatal("the command goes on")
		}
	}
}

// TestRestartOfNothing checks that after a new process could not be started, the next restart tries again.
func TestRestartOfNothing(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "app")
	sh, err := exec.LookPath("sh")
	check(t, err)
	check(t, os.Symlink(sh, program))
	s := startIn(t, os.Args[0], "run", "--", program, "-c", "echo up; while :; do sleep 0.01; done")
	s.says("up")
	k := s.talk()
	check(t, os.Remove(program))
	k.send(&protocol.Restart{ID: 1, GraceNanos: uint64(time.Hour)})
	r := expect[*protocol.Restarted](k)
	if r.Code != protocol.RestartNotStarted || !strings.Contains(r.Text, program) {
		t.Errorf("without a program: %+v", r)
	}
	if p := expect[*protocol.Process](k); p.Running || p.Code != codeNotFound || p.Crashes != 1 {
		t.Errorf("without a program: %+v", p)
	}
	check(t, os.Symlink(sh, program))
	k.send(&protocol.Restart{ID: 2})
	if r := expect[*protocol.Restarted](k); r.Code != protocol.RestartDone || r.PID == 0 {
		t.Errorf("with one again: %+v", r)
	}
}

// TestTouch restarts without a client: the file, its folder and how it is touched vary.
func TestTouch(t *testing.T) {
	for name, touch := range map[string]string{
		"written":          `echo x >$T/file`,
		"touched":          `touch $T/file`,
		"replaced":         `echo x >$T/other; mv $T/other $T/file`,
		"removed and made": `rm $T/file; touch $T/file`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := startSupervised(t, `echo up; while :; do sleep 0.01; done`, "--watch", filepath.Join(dir, "file"))
			s.says("up")
			c := s.enter("sh", "-c", touch)
			c.Env = append(c.Env, "T="+dir)
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			s.says("up")
		})
	}
	t.Run("no folder", func(t *testing.T) {
		t.Parallel()
		s := startSupervised(t, `echo up; while :; do sleep 0.01; done`, "--watch", "/no/such/folder/file")
		s.says("up")
		check(t, s.enter(os.Args[0], "restart").Run()) // the other way works
		s.says("up")
	})
}

// TestRestartCommand requests a restart like the command that updates through exec run.
func TestRestartCommand(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, `trap '' TERM; echo pid $$; while :; do sleep 0.01; done`)
	first := s.says("pid ")
	run := func(args ...string) (int, string) {
		c := s.enter(append([]string{os.Args[0]}, args...)...)
		out, _ := c.CombinedOutput()
		return c.ProcessState.ExitCode(), string(out)
	}
	if code, out := run("restart", "--grace", "20ms"); code != protocol.RestartDone || out != "" {
		t.Errorf("restart: %d, %s", code, out)
	}
	if second := s.says("pid "); second == first {
		t.Error("it is the same process")
	}
	for _, tt := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"restart", "--grace", "soon"}, 2, "soon is no time"},
		{[]string{"restart", "--grace", "-1s"}, 2, "no time"},
		{[]string{"restart", "now"}, 2, "usage"},
		{[]string{"restart", "--grace"}, 2, "usage"},
		{[]string{"run", "--watch", "/x"}, 2, "usage"},
	} {
		if code, out := run(tt.args...); code != tt.code || !strings.Contains(out, tt.text) {
			t.Errorf("%v: %d, %s", tt.args, code, out)
		}
	}
	if code, text := Restart(0); code != protocol.RestartUnsupervised || text != noSupervisor { // there is no supervisor here
		t.Errorf("without a supervisor: %d, %s", code, text)
	}
}

// TestLateSupervisor checks that a conversation that began before the supervisor listened finds it, and can restart.
func TestLateSupervisor(t *testing.T) {
	t.Parallel()
	s := startIn(t, "sh", "-c", `echo up; read line <$T/gate; exec "$0" run -- sh -c 'echo supervised; while :; do sleep 0.01; done'`, os.Args[0])
	s.says("up")
	k, hello := s.begin()
	if hello.Supervised {
		t.Fatal("there is a supervisor already")
	}
	k.send(&protocol.Restart{ID: 1})
	if r := expect[*protocol.Restarted](k); r.Code != protocol.RestartUnsupervised {
		t.Errorf("too early: %+v", r)
	}
	s.open()
	s.says("supervised")
	if p := expect[*protocol.Process](k); !p.Running || p.Starts != 1 {
		t.Errorf("it hears %+v", p)
	}
	k.send(&protocol.Restart{ID: 2, GraceNanos: uint64(time.Hour)})
	if r := expect[*protocol.Restarted](k); r.Code != protocol.RestartDone {
		t.Errorf("restarted: %+v", r)
	}
	s.says("supervised")
}

// TestWithoutRoot checks that the process's own user and root may request a restart, and others may not.
func TestWithoutRoot(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root, to become another user")
	}
	program := reachable(t)
	as := func(user string, args ...string) []string {
		return append([]string{"setpriv", "--reuid", user, "--regid", user, "--clear-groups", program}, args...)
	}
	s := startIn(t, as("1000", "run", "--", "sh", "-c", `id -u; while :; do sleep 0.01; done`)...)
	s.says("1000")
	for _, tt := range []struct {
		argv []string
		code int
	}{
		{as("1000", "restart"), protocol.RestartDone},
		{as("0", "restart"), protocol.RestartDone},
		{as("1001", "restart"), protocol.RestartFailed},
	} {
		c := s.enter(tt.argv...)
		out, _ := c.CombinedOutput()
		if code := c.ProcessState.ExitCode(); code != tt.code {
			t.Errorf("%v: %d, %s", tt.argv, code, out)
		}
		if tt.code == protocol.RestartDone {
			s.says("1000")
		}
	}
}

// reachable is a copy of the test's program that every user may run.
func reachable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "synclet")
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	check(t, os.Chmod(dir, 0o755))
	path := filepath.Join(dir, "synclet")
	check(t, Install(path))
	return path
}

func FuzzConcerns(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 'f', 'i', 0, 0}, "fi")
	f.Fuzz(func(t *testing.T, events []byte, name string) { concerns(events, name) })
}
