package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// closes closes a terminal with all that runs in it, as its window does.
func (term *terminal) closes() { term.tmux("kill-server") }

// TestHangup closes the terminal of a session: the session continues, says so in its log, and can be found and shown. The loss of a
// terminal that is suspended, and of an attached one, ends no session either.
func TestHangup(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	t.Cleanup(func() { p.run("stop", "--all") })
	for _, suspended := range []bool{false, true} {
		own := p.terminal(120, 34)
		own.keys(binary+" up --port none", "Enter")
		own.shows(`✔ tool`)
		own.shows(`✔ srv`)
		before := p.sessions()
		if suspended {
			own.keys("C-z")
			own.shows(`keeps running: fg shows it again`)
		}
		own.closes()
		var log string
		k8stest.Eventually(t, "the session to have a log", func() error {
			out, _ := p.run("logs")
			if !strings.Contains(out, "The terminal of this session was closed. The session keeps running in the background: hone attach --session "+before[0].Name) {
				return fmt.Errorf("its log says\n%s", out)
			}
			_, log, _ = strings.Cut(out, "Its output is in ")
			log, _, _ = strings.Cut(log, "\n")
			return nil
		})
		after := p.sessions()
		if len(after) != 1 || after[0].PID != before[0].PID || after[0].Resources == nil || after[0].Resources.OK != 2 {
			t.Fatalf("before: %+v\nafter: %+v", before, after)
		}
		p.says(1, []string{"up", "--port", "none"}, "is already running this project", "hone attach --session "+after[0].Name)
		back := p.terminal(100, 30)
		back.keys(binary+" attach", "Enter")
		back.shows(`✔ srv`)
		pid := strings.TrimSpace(back.tmux("display-message", "-p", "#{pane_pid}"))
		client := childOf(t, pid)
		back.closes()
		k8stest.Eventually(t, "hone attach to end with its terminal", func() error {
			if client.Signal(syscall.Signal(0)) == nil {
				return fmt.Errorf("it still runs")
			}
			return nil
		})
		p.says(0, []string{"trigger", "tool"}, "Successfully triggered")
		p.says(0, []string{"stop"}, "has ended")
		b, err := os.ReadFile(strings.TrimSpace(log))
		if err != nil {
			t.Fatal(err)
		}
		if s := string(b); strings.Count(s, "tool has run") < 2 || !strings.Contains(s, "3 ok") || strings.Contains(s, "\x1b") {
			t.Errorf("the log of the session:\n%s", b)
		}
		if left := p.left(); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// childOf returns the hone that a shell runs.
func childOf(t *testing.T, shell string) *os.Process {
	t.Helper()
	out, err := exec.Command("pgrep", "-P", shell, "-x", filepath.Base(binary)).Output()
	var pid int
	if _, scan := fmt.Sscan(string(out), &pid); err != nil || scan != nil {
		t.Fatalf("children of %s: %v %v", shell, err, scan)
	}
	proc, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	return proc
}

// TestHangupSignal sends the signal of a lost terminal to a session whose terminal is not lost: that ends the session.
func TestHangupSignal(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	term := p.terminal(100, 30)
	term.keys(binary+" up --port none", "Enter")
	term.shows(`✔ srv`)
	if err := syscall.Kill(p.sessions()[0].PID, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	term.shows(`^3 ok\nLog in `)
	term.whole()
	if left := p.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
