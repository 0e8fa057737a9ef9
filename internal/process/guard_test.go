//go:build unix

package process

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestNoOrphans kills a whole session at once and checks that nothing of it stays. The session and everything that it
// starts inherit a pipe, whose end of file says that all of them, the guard included, are gone.
func TestNoOrphans(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		unguarded    bool
		unannounced  bool
	}{
		{name: "server", script: `echo ready; exec sleep 1000`},
		{name: "tree", script: `(sleep 1000 & sleep 1000) & sleep 1000 & echo ready; wait`},
		{name: "leader gone, child ignores SIGTERM", script: `(trap '' TERM; echo ready; while :; do sleep 1; done) & wait`},
		{name: "everybody ignores SIGTERM", script: `trap '' TERM; echo ready; while :; do sleep 1; done`},
		{name: "killed before the guard knows", script: `trap '' TERM; echo ready; while :; do sleep 1; done`, unannounced: true},
		{name: "without the guard, by the kernel", script: `echo ready; exec sleep 1000`, unguarded: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if (tt.unguarded || tt.unannounced) && runtime.GOOS != "linux" {
				t.Skip("only on Linux")
			}
			alive, held := aliveFile(t)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PROCESS_TEST_SERVE="+tt.script)
			if tt.unguarded {
				cmd.Env = append(cmd.Env, "PROCESS_TEST_UNGUARDED=1")
			}
			if tt.unannounced {
				cmd.Env = append(cmd.Env, "PROCESS_TEST_UNANNOUNCED=1")
			}
			cmd.ExtraFiles = []*os.File{held}
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			held.Close()
			want := map[string]bool{"ready": true}
			if tt.unguarded || tt.unannounced {
				want["changed"] = true
			}
			for sc := bufio.NewScanner(out); len(want) > 0 && sc.Scan(); {
				delete(want, sc.Text())
			}
			if len(want) > 0 {
				t.Errorf("the session did not say %v", want)
			}
			cmd.Process.Signal(syscall.SIGKILL)
			cmd.Wait()
			alive.wantGone(t)
		})
	}
}

func TestGuardIsReplaced(t *testing.T) {
	if err := Run(t.Context(), Command{Cmd: sh("exit 0")}); err != nil {
		t.Fatal(err)
	}
	theGuard.mu.Lock()
	first := theGuard.cmd.Process
	theGuard.mu.Unlock()
	first.Kill()
	awaitReaderGone(t)
	if err := Run(t.Context(), Command{Cmd: sh("exit 0")}); err != nil {
		t.Fatal(err)
	}
	theGuard.mu.Lock()
	defer theGuard.mu.Unlock()
	if theGuard.cmd == nil || theGuard.cmd.Process.Pid == first.Pid {
		t.Error("the guard was not replaced")
	}
	if len(theGuard.groups) != 0 {
		t.Errorf("groups left: %v", theGuard.groups)
	}
}

// awaitReaderGone writes empty lines, which the guard skips, until the pipe breaks.
func awaitReaderGone(t *testing.T) {
	theGuard.mu.Lock()
	defer theGuard.mu.Unlock()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		if _, err := theGuard.pipe.WriteString("\n"); err != nil {
			return
		}
	}
	t.Error("the guard lives on")
}

func TestReadWards(t *testing.T) {
	got := readWards(strings.NewReader("=77 MARK\n+10 1500\n+20 0\nnonsense\n+0 5\n+1 5\n-10\n-99\n+30 250\n\n+40 1"))
	want := wards{session: 77, mark: "MARK", groups: map[int]time.Duration{20: 0, 30: 250 * time.Millisecond}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(wards{})); diff != "" {
		t.Errorf("wards (-want +got):\n%s", diff)
	}
}

func FuzzReadWards(f *testing.F) {
	f.Add("=1 A\n+10 1500\n-10\n")
	f.Fuzz(func(t *testing.T, text string) {
		for pgid := range readWards(strings.NewReader(text)).groups {
			if pgid <= 1 {
				t.Errorf("would stop group %d", pgid)
			}
		}
	})
}
