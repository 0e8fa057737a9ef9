package e2e

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestSummary leaves a session in which a command fails: the shell shows the failure, and the path of the log, which exists.
func TestSummary(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, failing)
	term := p.terminal(200, 34)
	term.keys(binary+" up --port none", "Enter")
	term.shows(`✖ broken`)
	term.keys("C-c")
	screen := term.shows(`(?s)1 ok, 1 failed\n +broken +update failed: [^\n]*exit code 1\nLog in \S+\.log\nprompt>`)
	path := regexp.MustCompile(`Log in (\S+)`).FindStringSubmatch(screen)[1]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Loading Tiltfile at: ", "broken │ src/app.go:7:2: undefined: n"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the log lacks %q:\n%s", want, b)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// TestReadOnly attaches a screen that can change nothing to a session that has a screen of its own: both say so.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	own := p.terminal(120, 34)
	own.keys(binary+" up --port none", "Enter")
	own.shows(`✔ tool`)
	guest := p.terminal(120, 34)
	guest.keys(binary+" attach --read-only", "Enter")
	guest.shows(`\A hone  \S+  read-only  \+1 screen `)
	own.shows(`\A hone  \S+  \+1 screen `)
	own.shows(`t trigger`)
	if screen := guest.shows(`✔ tool`); strings.Contains(screen, "t trigger") {
		t.Errorf("the footer has a key that acts:\n%s", screen)
	}
	guest.keys("Home", "j", "j", "t", "d", "m")
	guest.keys("?")
	if screen := guest.shows(`(?m)^ *HERE`); strings.Contains(screen, "trigger an update") {
		t.Errorf("the help has a key that acts:\n%s", screen)
	}
	guest.keys("q")
	guest.shows(`NAME +UPDATE`)
	if out, _ := p.run("logs", "tool"); strings.Count(out, "│ tool has run") != 1 {
		t.Errorf("the guest has triggered an update:\n%s", out)
	}
	guest.keys("q")
	guest.shows(`Detached from session`)
	guest.whole()
	own.shows(`\A hone  \S+ {3,}`)
	own.keys("C-c")
	own.shows(`3 ok\nLog in `)
}
