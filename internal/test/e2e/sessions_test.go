package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// tool is a project without a cluster.
const tool = `
-- Tiltfile --
local_resource('tool', 'echo tool has run')
local_resource('srv', serve_cmd='exec sleep 100000')
`

// sessions returns the running sessions that hone lists.
func (p *project) sessions() (all []api.RunningSession) {
	p.t.Helper()
	out, code := p.run("sessions", "-o", "json")
	if err := json.Unmarshal([]byte(out), &all); err != nil || code != 0 {
		p.t.Fatalf("hone sessions: %d %v\n%s", code, err, out)
	}
	return all
}

// says runs hone until it ends, and checks its exit code and output.
func (p *project) says(code int, args []string, want ...string) {
	p.t.Helper()
	out, got := p.run(args...)
	if got != code {
		p.t.Errorf("hone %v: exit code %d, want %d\n%s", args, got, code, out)
	}
	for _, w := range want {
		if !regexp.MustCompile(w).MatchString(out) {
			p.t.Errorf("hone %v does not say %q:\n%s", args, w, out)
		}
	}
}

// left returns the files of sessions in the registry.
func (p *project) left() []string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.state, "hone", "*.*"))
	if err != nil {
		p.t.Fatal(err)
	}
	var out []string
	for _, f := range found {
		if filepath.Base(f) != ".hone" {
			out = append(out, filepath.Base(f))
		}
	}
	return out
}

// TestSessions runs two sessions side by side, and talks to each.
func TestSessions(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	other := newLocalProject(t, tool)
	other.state = p.state
	p.says(0, []string{"up", "--detach", "--port", "0"}, `Session \S+ runs in the background, pid \d+`, `hone attach --session`)
	t.Cleanup(func() { p.run("stop", "--all") })
	other.says(0, []string{"up", "--detach", "--port", "none"})
	all := p.sessions()
	if len(all) != 2 || all[0].Name == all[1].Name {
		t.Fatalf("sessions: %+v", all)
	}
	mine, theirs := all[0], all[1]
	if filepath.Dir(mine.Tiltfile) != p.dir {
		mine, theirs = theirs, mine
	}
	if mine.URL == "" || mine.Kubeconfig == "" || theirs.URL != "" || theirs.Kubeconfig != "" || mine.Resources.Total != 2 {
		t.Errorf("sessions: %+v", all)
	}
	port := regexp.MustCompile(`\d+`).FindString(strings.TrimPrefix(mine.URL, "http://localhost:"))
	elsewhere := newLocalProject(t, tool)
	elsewhere.state = p.state
	elsewhere.says(1, []string{"trigger", "tool"}, "several sessions are running", "--session "+mine.Name, "--session "+theirs.Name)
	elsewhere.says(0, []string{"trigger", "--session", theirs.Name, "tool"}, "Successfully triggered")
	elsewhere.says(0, []string{"trigger", "--port", port, "tool"}, "Successfully triggered")
	p.says(0, []string{"trigger", "tool"}, "Successfully triggered")
	p.says(1, []string{"trigger", "--session", "nobody", "tool"}, `no session is called "nobody"`)
	p.says(1, []string{"up", "--port", "0"}, "is already running this project", "hone attach --session "+mine.Name)
	p.says(1, []string{"up", "--detach", "--port", "0"}, "is already running this project")
	p.says(0, []string{"ci", "--port", "0"}, "SUCCESS")
	elsewhere.says(1, []string{"up", "--stream", "--port", port}, "already have another process on port "+port, "session "+mine.Name+" has it")
	p.says(0, []string{"stop"}, "Session "+mine.Name+" has ended")
	elsewhere.says(0, []string{"stop", "--all"}, "Session "+theirs.Name+" has ended")
	p.says(1, []string{"stop"}, "no session is running")
	if left := p.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestDetachFails starts a session in the background that cannot begin: the caller gets the reason, and nothing stays.
func TestDetachFails(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	p.says(1, []string{"up", "--detach", "--port", "0", "no-such-resource"}, "no-such-resource")
	if left := p.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestKilledSession kills a session: its files stay until the next search, after which its name is free.
func TestKilledSession(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	s := p.up()
	s.ready("tool")
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.done
	if left := p.left(); len(left) == 0 {
		t.Error("nothing is left, so that nothing is proved")
	}
	if all := p.sessions(); len(all) != 0 {
		t.Errorf("sessions: %+v", all)
	}
	if left := p.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	p.up().ready("tool")
}

// TestTerminatedSession ends a session by SIGTERM.
func TestTerminatedSession(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	s := p.up()
	s.ready("tool")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(patience):
		t.Fatal("hone does not end")
	}
	if left := p.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestAttachTerminals attaches terminals of two sizes to a session in the background, leaves one, ends the session under
// the other, and kills it under a third: each terminal is intact afterwards.
func TestAttachTerminals(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	p.says(0, []string{"up", "--detach", "--port", "none"})
	t.Cleanup(func() { p.run("stop", "--all") })
	wide, small := p.terminal(120, 34), p.terminal(80, 24)
	for _, term := range []*terminal{wide, small} {
		term.keys(binary+" attach", "Enter")
		term.shows(`✔ tool`)
		term.shows(`Ctrl-C detach`)
	}
	wide.keys("?")
	wide.shows(`trigger an update`)
	small.shows(`NAME +UPDATE`)
	small.resize(100, 30)
	small.shows(`(?s)\A hone [^\n]*\n─{100}\n`)
	wide.keys("q")
	wide.shows(`NAME +UPDATE`)
	wide.keys("q")
	wide.shows(`Detached from session`)
	wide.whole()
	if all := p.sessions(); len(all) != 1 {
		t.Fatalf("sessions: %+v", all)
	}
	wide.keys("clear; "+binary+" attach", "Enter")
	wide.shows(`✔ tool`)
	wide.keys("C-c")
	wide.shows(`Detached from session`)
	wide.keys("clear; "+binary+" up", "Enter") // a second up offers to attach
	wide.shows(`Attach to it\? \(y/N\)`)
	wide.keys("y", "Enter")
	wide.shows(`✔ tool`)
	p.says(0, []string{"stop"}, "has ended")
	small.shows(`Session \S+ is over`)
	wide.shows(`Session \S+ is over`)
	small.whole()
	wide.whole()

	p.says(0, []string{"up", "--detach", "--port", "none"})
	small.keys("clear; "+binary+" attach", "Enter")
	small.shows(`✔ tool`)
	pid := p.sessions()[0].PID
	if proc, err := os.FindProcess(pid); err != nil || proc.Kill() != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
	small.shows(`the session is gone without having ended`)
	small.whole()

	p.says(0, []string{"up", "--detach", "--port", "none"})
	for _, signal := range []string{"TERM", "HUP"} {
		small.keys("clear; sh -c 'echo $$ > pid; exec "+binary+" attach'", "Enter")
		small.shows(`✔ tool`)
		pid, err := os.ReadFile(filepath.Join(p.dir, "pid"))
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("kill", "-"+signal, strings.TrimSpace(string(pid))).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		small.shows(`prompt>`)
		small.whole()
	}
}

// whole checks that a terminal echoes its input.
func (term *terminal) whole() {
	term.t.Helper()
	k8stest.Closely(term.t, "the terminal to echo", func() error {
		term.keys("clear; stty -a | grep -c ' echo '; echo cur$((1+1))sor", "Enter")
		if screen := term.shows(`cur2sor`); !regexp.MustCompile(`(?m)^1$`).MatchString(screen) {
			return fmt.Errorf("it shows\n%s", screen)
		}
		return nil
	})
}
