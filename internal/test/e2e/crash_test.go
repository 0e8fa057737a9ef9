package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/test/hostile"
)

// leakingTiltfile declares a Secret, and lets a program print it.
const leakingTiltfile = hostileTiltfile + `
local_resource('leaks', 'echo it is swordfish-9000; exit 1')
k8s_yaml('secret.yaml')
-- secret.yaml --
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {password: swordfish-9000}
`

// crashes makes the commands that p starts panic at a signal, with the text in a file.
func (p *project) crashes() (file string) {
	file = filepath.Join(p.t.TempDir(), "crash")
	p.env = append(p.env, "HONE_CRASH="+file)
	return file
}

// TestCrashesInTheBackground runs a session in the background whose programs print a Secret and hostile text. It lets commands that follow
// the session panic with hostile text on a goroutine that nothing guards, and then the session itself with both. Its log, its clients, and
// all crashes and their files have neither.
func TestCrashesInTheBackground(t *testing.T) {
	t.Parallel()
	p := newProject(t, leakingTiltfile)
	edited := p.hostileFolder()
	text := p.crashes()
	port := fmt.Sprint(p.ports[3])
	p.says(0, []string{"up", "--detach", "--port", port, "--namespace", p.namespace})
	t.Cleanup(func() { p.run("stop", "--all") })
	p.logs(`says.*exit`)
	p.write(edited, "two")
	p.logs(`1 File Changed`)
	p.logs(`leaks.*redacted secret db:password`)
	p.passesNothingOn(p.questions(port, "yaml"), "1")

	term := p.terminal(120, 34)
	term.tmux("set-option", "-s", "set-clipboard", "on")
	term.keys(binary+" attach --port "+port, "Enter")
	term.shows(`leaks`)
	if got := strings.TrimSpace(term.tmux("display-message", "-p", "#{pane_title}|#{buffer_name}")); strings.HasPrefix(got, "owned") || !strings.HasSuffix(got, "|") {
		t.Errorf("the screen lets text of others set the title and the clipboard: %s", got)
	}
	check(t, os.WriteFile(text, []byte(hostile.All()), 0o600))
	for _, args := range [][]string{{"logs", "--follow"}, {"get", "uiresource", "--watch"}, {"events"}} {
		c := p.command(append(args, "--port", port)...)
		out := &output{}
		c.Stdout, c.Stderr = out, out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		k8stest.Closely(t, fmt.Sprintf("hone %q to print", args), func() error {
			if out.String() == "" {
				return fmt.Errorf("nothing yet")
			}
			return nil
		})
		_ = c.Process.Signal(syscall.SIGUSR2)
		_ = c.Wait()
		p.crashed(fmt.Sprintf("hone %q", args), out.String())
	}

	check(t, os.WriteFile(text, []byte(hostile.All()+"swordfish-9000"), 0o600))
	session := p.sessions()[0]
	if err := syscall.Kill(session.PID, syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	term.shows(`the session is gone`)
	k8stest.Closely(t, "the log to have the crash", func() error {
		log, err := os.ReadFile(session.Log)
		if err == nil && !strings.Contains(string(log), "goroutine ") {
			err = fmt.Errorf("it is\n%s", log)
		}
		return err
	})
	log, err := os.ReadFile(session.Log)
	check(t, err)
	p.crashed("the session's log", string(log))
	p.leavesNothing()
	p.says(0, []string{"up", "--detach", "--port", port, "--namespace", p.namespace})
	p.logs(`The session \S+ crashed: panic: .*redacted secret db:password`)
	p.leavesNothing()
}

// crashed checks the text of a crash.
func (p *project) crashed(where, text string) {
	p.t.Helper()
	p.prints(where, text)
	for _, want := range []string{"panic: ", "owned", "goroutine "} {
		if !strings.Contains(text, want) {
			p.t.Errorf("%s lacks %q:\n%s", where, want, text)
		}
	}
}

// logs waits until the session's log matches a regular expression.
func (p *project) logs(pattern string) {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	k8stest.Eventually(p.t, fmt.Sprintf("the log to have %q", pattern), func() error {
		if out, _ := p.run("logs"); !re.MatchString(out) {
			return fmt.Errorf("it is\n%s", out)
		}
		return nil
	})
}
