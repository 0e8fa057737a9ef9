//go:build linux

package agent

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// supervised is a supervisor in a PID and a mount namespace of its own, as in a container: it is process 1, and its socket
// has a name of its own.
type supervised struct {
	t    *testing.T
	dir  string // of the test; scripts know it as $T
	cmd  *exec.Cmd
	out  *bufio.Scanner
	errs *os.File
}

func startSupervised(t *testing.T, script string, options ...string) *supervised {
	t.Helper()
	return startIn(t, append(append([]string{os.Args[0], "run"}, options...), "--", "sh", "-c", script)...)
}

// startIn starts a program as the first process of namespaces of its own.
func startIn(t *testing.T, argv ...string) *supervised {
	t.Helper()
	args := []string{"--pid", "--fork", "--kill-child", "--mount-proc", "--mount"}
	if out, err := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no namespaces can be made here: %v %s", err, out)
	}
	s := &supervised{t: t, dir: t.TempDir()}
	check(t, syscall.Mkfifo(s.path("gate"), 0o600))
	s.cmd = exec.Command("unshare", append(args, argv...)...)
	s.cmd.Env = append(os.Environ(), "SYNCLET_TEST_MAIN=1", "T="+s.dir)
	out, err := s.cmd.StdoutPipe()
	check(t, err)
	s.errs, err = os.Create(s.path("stderr"))
	check(t, err)
	s.cmd.Stderr = s.errs
	check(t, s.cmd.Start())
	t.Cleanup(func() {
		if pid, err := s.child(); err == nil && s.cmd.ProcessState == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // a process that has changed its user does not end with unshare
		}
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	s.out = bufio.NewScanner(out)
	return s
}

func (s *supervised) path(name string) string { return filepath.Join(s.dir, name) }

// open lets a script continue that reads a line from $T/gate.
func (s *supervised) open() {
	s.t.Helper()
	check(s.t, os.WriteFile(s.path("gate"), []byte("go\n"), 0o600))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// says waits for a line of the supervised process.
func (s *supervised) says(want string) string {
	s.t.Helper()
	if !s.out.Scan() || !strings.HasPrefix(s.out.Text(), want) {
		s.t.Fatalf("it says %q, want %q (%v)", s.out.Text(), want, s.out.Err())
	}
	return strings.TrimPrefix(s.out.Text(), want)
}

// one returns the supervisor's process number outside the namespace: it is the child of unshare.
func (s *supervised) one() int {
	s.t.Helper()
	pid, err := s.child()
	check(s.t, err)
	return pid
}

func (s *supervised) child() (pid int, err error) { return childOf(s.cmd.Process.Pid) }

// childOf returns the only child of a process.
func childOf(parent int) (pid int, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	if err == nil {
		_, err = fmt.Sscan(string(b), &pid)
	}
	return pid, err
}

// ends waits for the end and returns the exit code.
func (s *supervised) ends() int {
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// talk is a synclet that serves next to the supervisor, in the same namespaces.
type talk struct {
	t   *testing.T
	in  io.WriteCloser
	w   *protocol.Writer
	r   *protocol.Reader
	cmd *exec.Cmd
}

// enter returns a command in the namespaces, like one of kubectl exec.
func (s *supervised) enter(argv ...string) *exec.Cmd {
	s.t.Helper()
	c := exec.Command("nsenter", append([]string{"--target", fmt.Sprint(s.one()), "--pid", "--mount"}, argv...)...)
	c.Env = append(os.Environ(), "SYNCLET_TEST_MAIN=1")
	return c
}

// talk begins a conversation, which finds the supervisor at once.
func (s *supervised) talk() *talk {
	s.t.Helper()
	k, hello := s.begin()
	if !hello.Supervised {
		s.t.Fatal("the synclet does not find the supervisor")
	}
	return k
}

func (s *supervised) begin() (*talk, *protocol.Hello) {
	s.t.Helper()
	c := s.enter(os.Args[0], "serve")
	in, err := c.StdinPipe()
	check(s.t, err)
	out, err := c.StdoutPipe()
	check(s.t, err)
	c.Stderr = os.Stderr
	check(s.t, c.Start())
	k := &talk{s.t, in, protocol.NewWriter(in), protocol.NewReader(out), c}
	s.t.Cleanup(k.close)
	preamble := make([]byte, len(protocol.Preamble))
	_, err = io.ReadFull(out, preamble)
	check(s.t, err)
	k.send(&protocol.Hello{})
	m, err := k.r.Next()
	check(s.t, err)
	hello, ok := m.(*protocol.Hello)
	if !ok {
		s.t.Fatalf("it begins with %T", m)
	}
	return k, hello
}

func (k *talk) close() {
	_ = k.in.Close()
	_ = k.cmd.Wait()
}

func (k *talk) send(m protocol.Message) {
	k.t.Helper()
	k.w.Append(m)
	check(k.t, k.w.Flush())
}

// expect reads messages until one of a type comes.
func expect[M protocol.Message](k *talk) M {
	k.t.Helper()
	for {
		m, err := k.r.Next()
		check(k.t, err)
		if m, ok := m.(M); ok {
			return m
		}
	}
}

func TestSupervisePassesOn(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		signal       syscall.Signal
		code         int
	}{
		{"exit code 0", "echo up", 0, 0},
		{"signal", `trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done`, syscall.SIGTERM, 0},
		{"another signal", `trap 'exit 0' USR1; echo up; while :; do sleep 0.01; done`, syscall.SIGUSR1, 0},
		{"to the process alone", `(trap 'echo no' TERM; while :; do sleep 0.01; done) & trap 'exit 5' TERM; echo up; while :; do sleep 0.01; done`, syscall.SIGTERM, 5},
		{"signal that kills", `echo up; while :; do sleep 0.01; done`, syscall.SIGTERM, 143},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := startSupervised(t, tt.script)
			s.says("up")
			if tt.signal != 0 {
				check(t, syscall.Kill(s.one(), tt.signal))
			}
			if code := s.ends(); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if s.out.Scan() {
				t.Errorf("it says %q", s.out.Text())
			}
		})
	}
	s := startSupervised(t, "true")
	check(t, s.cmd.Process.Kill())
	if code := Supervise([]string{"no-such-program"}, ""); code != codeNotFound {
		t.Errorf("a program that is not there: exit code %d", code)
	}
}

// TestSuperviseReaps leaves orphans to the supervisor: none stays a zombie.
func TestSuperviseReaps(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, `for i in 1 2 3; do (sleep 0.01 & exit 0); done; sleep 0.3
		grep -l '^State:.Z' /proc/[0-9]*/status; echo done; exit 0`)
	s.says("done")
}

// TestRestart restarts the process, with its children, even if it ignores SIGTERM.
func TestRestart(t *testing.T) {
	for name, script := range map[string]string{
		"ends at SIGTERM":  `echo pid $$; while :; do sleep 0.01; done`,
		"ignores SIGTERM":  `trap '' TERM; echo pid $$; while :; do sleep 0.01; done`,
		"stopped":          `echo pid $$; kill -STOP $$`,
		"ended on its own": `echo pid $$; exit 3`,
		"children go, too": `sleep 1000 & echo pid $$; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startSupervised(t, script)
			first := s.says("pid ")
			k := s.talk()
			if name == "ended on its own" {
				for p := expect[*protocol.Process](k); p.Running; p = expect[*protocol.Process](k) {
				}
			}
			k.send(&protocol.Restart{ID: 7, GraceNanos: uint64(50 * time.Millisecond)})
			r := expect[*protocol.Restarted](k)
			second := s.says("pid ")
			if r.Text != "" || r.ID != 7 || fmt.Sprint(r.PID) != second || first == second {
				t.Errorf("restarted %+v; %s, then %s", r, first, second)
			}
			out, err := s.enter("sh", "-c",
				`for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline; echo; done | grep -c '^sleep 1000'`).Output()
			if name == "children go, too" && (err != nil || strings.TrimSpace(string(out)) != "1") {
				t.Errorf("%s children, %v", out, err)
			}
		})
	}
}

func TestInstall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "synclet")
	for range 2 {
		c := exec.Command(os.Args[0], "install", path)
		c.Env = append(os.Environ(), "SYNCLET_TEST_MAIN=1")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	info, err := os.Stat(path)
	check(t, err)
	self, err := os.Stat(os.Args[0])
	check(t, err)
	if info.Mode() != 0o755 || info.Size() != self.Size() {
		t.Errorf("mode %s, %d bytes of %d", info.Mode(), info.Size(), self.Size())
	}
	if err := Install("/proc/none/synclet"); err == nil {
		t.Error("it was installed at a path that cannot be written")
	}
}
