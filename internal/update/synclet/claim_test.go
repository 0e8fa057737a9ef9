//go:build linux

package synclet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// served is a synclet in a process of its own.
type served struct {
	*Conversation
	process *os.Process
	// in takes frames behind the conversation's back.
	in io.Writer
}

type pipes struct {
	io.Reader
	io.Writer
	close func()
}

func (p pipes) Close() error { p.close(); return nil }

// serve starts the program itself and greets it.
func serve(t *testing.T, client, dir string) served {
	t.Helper()
	prog, err := program.For(runtime.GOARCH)
	check(t, err)
	path := filepath.Join(t.TempDir(), "synclet")
	check(t, os.WriteFile(path, prog, 0o700))
	cmd := exec.Command(path, "serve")
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	stream := pipes{out, in, func() { _, _ = in.Close(), out.Close() }}
	s, err := Open(t.Context(), stream, protocol.Hello{Client: client, Places: []protocol.Place{{Dir: dir}}})
	check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return served{s, cmd.Process, in}
}

func (s served) put(t *testing.T, path, text string) error {
	from := filepath.Join(t.TempDir(), "from")
	writeFile(t, from, text, 0o644)
	_, err := s.Apply(t.Context(), Batch{Puts: []Put{{Local: from, Remote: path}}})
	return err
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for late := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("not: %s", what)
		}
	}
}

// status is the kernel's letter for the state of a process, empty if there is none.
func status(p *os.Process) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:min(1, len(rest))]
}

// alive reports whether a process exists and is not a zombie.
func alive(p *os.Process) bool {
	s := status(p)
	return s != "" && s != "Z"
}

// TestClaim stops a synclet that holds a whole update in its input, and starts over: the old synclet never carries it out. The
// synclet of another client keeps running.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	f := filepath.Join(dir, "f")
	old, other := serve(t, "mine", dir), serve(t, "other", dir)
	check(t, old.put(t, f, "one"))
	started := make(chan struct{})
	running := make(chan error, 1)
	go func() {
		running <- old.Run(t.Context(), []string{"sh", "-c", "echo $$; exec sleep 1000"}, "", nil, onFirst(started))
	}()
	<-started
	check(t, old.process.Signal(syscall.SIGSTOP))
	eventually(t, "it stands still", func() bool { return status(old.process) == "T" })
	done := make(chan error, 1)
	go func() { done <- old.put(t, f, "two") }()
	eventually(t, "the update is in the pipe", func() bool {
		n, err := unread(old.in)
		return err == nil && n > 0
	})

	second := serve(t, "mine", dir)
	if alive(old.process) {
		t.Error("the old one lives")
	}
	check(t, second.put(t, f, "three"))
	if err := <-done; !errors.Is(err, ErrClosed) {
		t.Errorf("the old update: %v", err)
	}
	if err := <-running; !errors.Is(err, ErrClosed) {
		t.Errorf("the old command: %v", err)
	}
	_ = old.process.Signal(syscall.SIGCONT)
	if got, err := os.ReadFile(f); err != nil || string(got) != "three" {
		t.Errorf("the container has %q, %v", got, err)
	}
	check(t, other.put(t, f, "four"))
}

// TestCutOff kills a synclet whose command has children, one of them in a session of its own: the next synclet ends them, since the
// command is carried out again. Processes that a finished command left running, and the processes of other sequences, stay.
func TestCutOff(t *testing.T) {
	dir := t.TempDir()
	old := serve(t, "cut", dir)
	sequence := newSequence()
	other := exec.Command("sleep", "1000")
	other.Env = []string{fmt.Sprintf("HONE_STEP=%d.1", sequence+2), "PATH=" + os.Getenv("PATH")}
	check(t, other.Start())
	sh := func(script string) model.Cmd { return model.Cmd{Argv: []string{"sh", "-c", script}, Dir: dir} }
	from := filepath.Join(t.TempDir(), "from")
	writeFile(t, from, "new", 0o644)
	_, _, err := old.apply(t.Context(), Batch{Puts: []Put{{Local: from, Remote: filepath.Join(dir, "f")}}}, func(bool) Then {
		return Then{Sequence: sequence, Runs: []model.Cmd{
			sh("sleep 1000 >/dev/null 2>&1 & echo $! > daemon"),
			sh("sleep 1000 & echo $! > child; setsid sh -c 'echo $$ > stray; exec sleep 1000' & wait"),
		}}
	})
	check(t, err)
	pids := map[string]*os.Process{"other": other.Process}
	for _, name := range []string{"daemon", "child", "stray"} {
		eventually(t, name+" runs", func() bool {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			pids[name] = &os.Process{Pid: pid}
			return err == nil && alive(pids[name])
		})
	}
	t.Cleanup(func() {
		for _, p := range pids {
			_ = syscall.Kill(p.Pid, syscall.SIGKILL)
		}
		_ = other.Wait()
	})
	check(t, old.process.Kill())
	<-old.Done()
	for name, p := range pids {
		if !alive(p) {
			t.Errorf("%s ends with the synclet", name)
		}
	}
	serve(t, "cut", dir)
	for name, want := range map[string]bool{"other": true, "daemon": true, "child": false, "stray": false} {
		if alive(pids[name]) != want {
			t.Errorf("%s lives: %t", name, !want)
		}
	}
}

// unread returns how many bytes wait in a pipe.
func unread(w io.Writer) (int, error) {
	f, ok := w.(interface {
		SyscallConn() (syscall.RawConn, error)
	})
	if !ok {
		return 0, errors.New("no pipe")
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var n int
	var ioctl error
	err = raw.Control(func(fd uintptr) { n, ioctl = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return n, errors.Join(err, ioctl)
}

// onFirst closes a channel with the first output.
func onFirst(c chan struct{}) io.Writer { return &first{c: c} }

type first struct{ c chan struct{} }

func (f *first) Write(p []byte) (int, error) {
	if f.c != nil {
		close(f.c)
		f.c = nil
	}
	return len(p), nil
}

// TestSweep checks that the next synclet removes the staged files of a killed one, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{".hone-notes.tmp", "d/.hone-1-2-3-4-x.tmp", ".hone-synclet-1", "d/keep", ".hone-0-1-1-1-1.tmp"} {
		writeFile(t, filepath.Join(dir, n), n, 0o644) // the last belongs to a process that cannot be seen from here
	}
	check(t, os.MkdirAll(filepath.Join(dir, "deep/er"), 0o755))
	before := tree(t, dir)
	live, killed := serve(t, "one", dir), serve(t, "two", dir)
	begin := func(s served, path string) {
		w := protocol.NewWriter(s.in)
		w.Append(&protocol.Begin{ID: 99, Files: 1, Bytes: 100})
		w.Append(&protocol.Put{Path: path, Size: 100, Data: []byte("half of it")})
		check(t, w.Flush())
		_, err := s.Ping(t.Context())
		check(t, err)
	}
	begin(live, filepath.Join(dir, "d/live"))
	begin(killed, filepath.Join(dir, "deep/er/killed"))
	if n := len(tree(t, dir)); n != len(before)+2 {
		t.Fatalf("%d entries: %v", n, tree(t, dir))
	}
	check(t, killed.process.Kill())
	<-killed.Done()
	eventually(t, "it is dead", func() bool { return !alive(killed.process) })

	serve(t, "three", dir)
	eventually(t, "its file is gone", func() bool { return len(tree(t, dir)) == len(before)+1 })
	_ = live.Close()
	eventually(t, "the other's goes with it", func() bool { return len(tree(t, dir)) == len(before) })
	for n, want := range before {
		if got := tree(t, dir)[n]; got != want {
			t.Errorf("%s is %q now, was %q", n, got, want)
		}
	}
}
