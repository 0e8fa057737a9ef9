//go:build unix

package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestNoOrphans kills a whole session at once and checks that nothing of it stays. The session and all processes that
// it starts inherit a pipe, whose end of file means that all of them, including the guard, are gone.
func TestNoOrphans(t *testing.T) {
	const (
		exec1   = `echo ready; exec sleep 1000`
		tree    = `(sleep 1000 & sleep 1000) & sleep 1000 & echo ready; wait`
		child   = `(trap '' TERM HUP; echo ready; while :; do sleep 1; done) & wait`
		ignores = `trap '' TERM HUP; echo ready; while :; do sleep 1; done`
		orphan  = `(sleep 1000 & trap '' TERM; sleep 1000) & echo ready; wait`
	)
	for _, tt := range []struct {
		name, script string
		// mode is the state of the guard, see serveUntilKilled.
		mode string
	}{
		{name: "server", script: exec1},
		{name: "tree", script: tree},
		{name: "leader gone, child ignores SIGTERM", script: child},
		{name: "everybody ignores SIGTERM", script: ignores},
		{name: "killed before the guard knows", script: ignores, mode: "unannounced"},
		{name: "without the guard, by the kernel", script: exec1, mode: "unguarded"},
		{name: "guard killed before", script: ignores, mode: "replaced"},
		{name: "guard killed before, tree", script: tree, mode: "replaced"},
		{name: "killed with the guard", script: exec1, mode: "together"},
		{name: "killed with the guard, tree", script: tree, mode: "together"},
		{name: "killed with the guard, leader gone", script: child, mode: "together"},
		{name: "killed with the guard, everybody ignores SIGTERM", script: ignores, mode: "together"},
		{name: "killed with the guard's successor", script: orphan, mode: "replaced together"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS != "linux" && tt.mode != "" && tt.mode != "replaced" {
				t.Skip("only on Linux")
			}
			alive, held := aliveFile(t)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PROCESS_TEST_SERVE="+tt.script, "PROCESS_TEST_GUARD="+tt.mode)
			cmd.ExtraFiles = []*os.File{9 - 3: held} // a number that does not conflict with the session's own files
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			held.Close()
			guard := awaitSession(t, out)
			victims := []int{cmd.Process.Pid}
			if strings.Contains(tt.mode, "together") {
				victims = append(victims, guard)
			}
			for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} { // stopped, neither notices the death of the other
				for _, pid := range victims {
					if err := syscall.Kill(pid, signal); err != nil {
						t.Error(err)
					}
				}
			}
			_ = cmd.Wait() // it was killed
			alive.wantGone(t)
		})
	}
}

// awaitSession reads until the script is ready and the guard is in the expected state, and returns the guard's process
// number.
func awaitSession(t *testing.T, out io.Reader) (guard int) {
	t.Helper()
	ready, found := false, false
	for sc := bufio.NewScanner(out); !(ready && found) && sc.Scan(); {
		if sc.Text() == "ready" {
			ready = true
		} else if n, _ := fmt.Sscanf(sc.Text(), "guard %d", &guard); n == 1 {
			found = true
		}
	}
	if !ready || !found {
		t.Errorf("the session: ready %v, has said what guards it %v", ready, found)
	}
	return guard
}

// TestGuardIsReplacedByTheNextCommand kills the guard while no command runs.
func TestGuardIsReplacedByTheNextCommand(t *testing.T) {
	if err := Run(t.Context(), Command{Cmd: sh("exit 0")}); err != nil {
		t.Fatal(err)
	}
	theGuard.mu.Lock()
	first := theGuard.cmd.Process
	theGuard.mu.Unlock()
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
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
