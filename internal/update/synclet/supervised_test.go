//go:build linux

package synclet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// supervisedPods is a container whose process runs under the supervisor, in namespaces of its own.
type supervisedPods struct {
	program string
	pid     int // of the supervisor
	mu      sync.Mutex
	lose    int // the connection ends in place of so many answers to a restart
}

// newSupervised starts a process that notes each of its starts in a file.
func newSupervised(t *testing.T, starts, script string) *supervisedPods {
	t.Helper()
	if out, err := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no namespaces can be made here: %v %s", err, out)
	}
	bytes, err := program.For("amd64")
	check(t, err)
	f := &supervisedPods{program: filepath.Join(t.TempDir(), "synclet")}
	check(t, os.WriteFile(f.program, bytes, 0o755))
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--mount",
		f.program, "run", "--", "sh", "-c", "echo >>"+starts+"; "+script)
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	k8stest.Eventually(t, "the process", func() error {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid))
		if err == nil {
			_, err = fmt.Sscan(string(b), &f.pid)
		}
		if err == nil {
			_, err = os.Stat(starts)
		}
		return err
	})
	return f
}

func (f *supervisedPods) Exec(ctx context.Context, req k8s.ExecRequest) error {
	if req.Argv[2] == again {
		return exitStatus(94)
	}
	bytes, err := program.For("amd64")
	if err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, req.Stdin, int64(len(bytes))); err != nil {
		return err
	}
	cmd := exec.Command("nsenter", "--target", fmt.Sprint(f.pid), "--pid", "--mount", f.program, "serve")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	end := func() {
		_ = req.Stdin.(io.Closer).Close()
		_ = req.Stdout.(io.Closer).Close()
	}
	defer context.AfterFunc(ctx, end)()
	var all sync.WaitGroup
	all.Go(func() {
		_, _ = io.Copy(in, req.Stdin)
		_ = in.Close()
	})
	f.pass(out, req.Stdout)
	end()
	_, _ = io.Copy(io.Discard, out)
	all.Wait()
	return cmd.Wait()
}

// pass forwards the synclet's messages. It stops at the first answer that the test drops.
func (f *supervisedPods) pass(from io.Reader, to io.Writer) {
	if _, err := io.CopyN(to, from, int64(len(protocol.Preamble))); err != nil {
		return
	}
	r, w := protocol.NewReader(from), protocol.NewWriter(to)
	for {
		m, err := r.Next()
		if err != nil {
			return
		}
		if _, ok := m.(*protocol.Restarted); ok {
			f.mu.Lock()
			f.lose--
			lost := f.lose >= 0
			f.mu.Unlock()
			if lost {
				return
			}
		}
		w.Append(m)
		if w.Flush() != nil {
			return
		}
	}
}

// TestRestartIsCarriedOutOnce loses the answers to a restart, whatever it was requested for.
func TestRestartIsCarriedOutOnce(t *testing.T) {
	const runs = "while :; do sleep 0.01; done"
	update := func(plan liveupdate.Plan) func(*Pool, model.ContainerRef, liveupdate.Copy) error {
		return func(p *Pool, c model.ContainerRef, file liveupdate.Copy) error {
			plan.Copies = []liveupdate.Copy{file}
			_, err := p.Update(context.Background(), c, plan, logstore.Discard)
			return err
		}
	}
	for name, tt := range map[string]struct {
		script string
		do     func(*Pool, model.ContainerRef, liveupdate.Copy) error
		lose   int
	}{
		"with files":                {runs, update(liveupdate.Plan{RestartProcess: true}), 1},
		"with files, twice":         {runs, update(liveupdate.Plan{RestartProcess: true}), 2},
		"with files, to the end":    {runs, update(liveupdate.Plan{RestartProcess: true}), 4},
		"of a process that crashed": {"read line <fifo; exit 3", update(liveupdate.Plan{Revive: true}), 1},
		"by hand": {runs, func(p *Pool, c model.ContainerRef, _ liveupdate.Copy) error {
			return p.Restart(context.Background(), c, logstore.Discard)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			local, remote, dir := t.TempDir(), t.TempDir(), t.TempDir()
			starts, fifo := filepath.Join(dir, "starts"), filepath.Join(dir, "fifo")
			check(t, syscall.Mkfifo(fifo, 0o600))
			f := newSupervised(t, starts, strings.ReplaceAll(tt.script, "fifo", fifo))
			p := NewPool(f)
			t.Cleanup(p.Close)
			c := aContainer("c1", "p1", model.Sync{LocalPath: local, RemotePath: remote})
			file := liveupdate.Copy{Local: filepath.Join(local, "f"), Remote: filepath.Join(remote, "f")}
			writeFile(t, file.Local, "new", 0o644)
			s, err := p.Conversation(t.Context(), c)
			check(t, err)
			if strings.Contains(tt.script, "fifo") {
				check(t, os.WriteFile(fifo, []byte("\n"), 0o600))
			}
			k8stest.Eventually(t, "the process to be as it is to be", func() error {
				if got := s.Process(); got.Starts != 1 || got.Running == strings.Contains(tt.script, "fifo") {
					return fmt.Errorf("%+v", got)
				}
				return nil
			})
			f.mu.Lock()
			f.lose = tt.lose
			f.mu.Unlock()
			check(t, tt.do(p, c, file))
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.lose >= 0 {
				t.Errorf("%d answers too few were lost", f.lose+1)
			}
			k8stest.Eventually(t, "the new process", func() error {
				lines, err := os.ReadFile(starts)
				if n := len(lines); err == nil && n < 2 {
					err = errors.New("it has not been started")
				} else if n > 2 {
					t.Fatalf("it was started %d times", n)
				}
				return err
			})
		})
	}
}
