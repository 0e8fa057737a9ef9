package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// terminal is a real terminal: a tmux server of its own with one window.
type terminal struct {
	t      *testing.T
	socket string
}

// terminal starts a shell in a terminal of the given size, in the project's folder.
func (p *project) terminal(width, height int) *terminal {
	p.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		p.t.Skip("needs tmux, which scripts/cluster installs where it sets up the cluster")
	}
	term := &terminal{p.t, "hone-test-" + uuid.NewString()[:8]}
	c := exec.Command("tmux", "-L", term.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height),
		"env", "PS1=prompt> ", "LC_ALL=C.UTF-8", "sh")
	c.Dir = p.dir
	c.Env = append(slices.Clip(p.command().Env), "LC_ALL=C.UTF-8")
	if out, err := c.CombinedOutput(); err != nil {
		p.t.Fatalf("tmux: %v\n%s", err, out)
	}
	socket := strings.TrimSpace(term.tmux("display-message", "-p", "#{socket_path}"))
	p.t.Cleanup(func() {
		screen, _ := exec.Command("tmux", "-L", term.socket, "capture-pane", "-p", "-S", "-").Output()
		p.withholds("the terminal", screen)
		p.leavesNothing()
		_ = exec.Command("tmux", "-L", term.socket, "kill-server").Run()
		_ = os.Remove(socket)  // which tmux leaves behind
		if len(p.left()) > 0 { // sessions outlive their terminals
			_, _ = p.run("stop", "--all")
		}
	})
	term.shows(`prompt>`)
	return term
}

func (term *terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", term.socket}, args...)...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (term *terminal) screen() string { return term.tmux("capture-pane", "-p") }

func (term *terminal) keys(keys ...string) { term.tmux(append([]string{"send-keys"}, keys...)...) }

func (term *terminal) resize(width, height int) {
	term.tmux("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}

// shows waits until the screen matches a regular expression and returns the screen.
func (term *terminal) shows(pattern string) string {
	term.t.Helper()
	re := regexp.MustCompile(`(?m)` + pattern)
	var screen string
	k8stest.Closely(term.t, fmt.Sprintf("the screen to show %q", pattern), func() error {
		if screen = term.screen(); !re.MatchString(screen) {
			return fmt.Errorf("it shows\n%s", screen)
		}
		return nil
	})
	return screen
}

// hides waits until the screen no longer shows a text, and returns the screen.
func (term *terminal) hides(text string) string {
	term.t.Helper()
	var screen string
	k8stest.Closely(term.t, fmt.Sprintf("the screen to show no %q", text), func() error {
		if screen = term.screen(); strings.Contains(screen, text) {
			return fmt.Errorf("it shows\n%s", screen)
		}
		return nil
	})
	return screen
}

// quits ends hone and waits for its end.
func (term *terminal) quits() {
	term.t.Helper()
	term.keys("C-c")
	term.shows(`^prompt>\s*$`)
}

func (p *project) hud(term *terminal) {
	term.keys(fmt.Sprintf("%s up --namespace %s --port %d", binary, p.namespace, p.ports[3]), "Enter")
}

// TestHUD checks the screen: the table, the log pane, keys, sizes, and the terminal after the end.
func TestHUD(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "k8s_resource('web'", "local_resource('tool', 'echo tool has run')\nk8s_resource('web'")
	term := p.terminal(120, 34)
	p.hud(term)
	term.shows(`✔ web +ok  image .*running 1/1 +\d+ ✔`)
	term.shows(`✔ tool +ok  local`)
	term.shows(`\d\d:\d\d:\d\d +tool │ tool has run`)
	term.shows(`Ready to update web in place`) // an update that waits for that has stages to show, and the first build no room

	p.write("site/index.html", "two")
	term.shows(`✔ web +in place .*index.html`)

	term.keys("Home")
	term.shows(`▌ ✔ \(Tiltfile\)`)
	term.keys("j")
	term.shows(`▌ ✔ web`) // Kubernetes resources come before local ones
	term.keys("Enter")
	screen := term.shows(`─ web  \[1 updates\]`)
	for _, want := range []string{"in place", "web-", "http://localhost:", "initial build"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the details lack %q:\n%s", want, screen)
		}
	}
	term.keys("Escape")
	term.shows(`NAME +UPDATE`)
	term.keys("a") // the log of the selected resource only
	screen = term.shows(`─ web ─`)
	if strings.Contains(screen, "tool has run") {
		t.Errorf("the log of one resource shows another's:\n%s", screen)
	}
	term.keys("3")
	term.shows(`\[3 runtime\]`)
	term.keys("2")
	term.shows(`\[2 build\]`)
	term.shows(`File Changed: .* → web of `)
	term.keys("t")
	term.shows(`✔ web +ok  image`)
	term.keys("?")
	term.shows(`trigger an update`)
	term.keys("q")
	term.shows(`NAME +UPDATE`)

	for _, size := range [][2]int{{100, 30}, {80, 24}, {60, 20}, {120, 34}} {
		term.resize(size[0], size[1])
		// The whole screen in its new shape: header, rule, table, the resources, the log's title, the last line.
		term.shows(fmt.Sprintf(`(?s)\A hone [^\n]*\n─{%d}\n +NAME [^\n]*\n.*✔ web [^\n]*\n.*─ web ─[^\n]*─\n.* Enter details [^\n]*\n*\z`, size[0]))
	}
	term.resize(50, 10)
	term.shows(`\S`)
	term.resize(120, 34)
	term.shows(`✔ web`)

	term.keys("C-c")
	term.shows(`^prompt>\s*$`)
	term.keys("stty -a | grep -c ' echo '; echo cur$((1+1))sor", "Enter")
	screen = term.shows(`cur2sor`)
	if !regexp.MustCompile(`(?m)^1$`).MatchString(screen) {
		t.Errorf("the terminal does not echo:\n%s", screen)
	}
}

// TestHUDShowsFailures checks that failures and reasons for waiting are shown, and that the terminal is intact after
// SIGTERM.
func TestHUDShowsFailures(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
local_resource('broken', 'echo compiling; echo main.c:3: no such thing; exit 2')
local_resource('waits', 'true', resource_deps=['broken'])
local_resource('later', 'true', trigger_mode=TRIGGER_MODE_MANUAL, auto_init=False)
`)
	term := p.terminal(120, 34)
	p.hud(term)
	term.shows(`✖ broken +.*(exit|fail)`)
	term.shows(`◌ waits +waits for broken, which has failed`)
	term.shows(`○ later`)
	term.shows(`✖ 1 failing`)
	term.keys("e")
	term.shows(`▌ ✖ broken`)
	p.write("Tiltfile", "this is wrong")
	term.shows(`✖ \(Tiltfile\)`)
	if out, err := exec.Command("pkill", "-TERM", "-f", "--", fmt.Sprintf("--port %d$", p.ports[3])).CombinedOutput(); err != nil {
		t.Fatalf("pkill: %v %s", err, out)
	}
	term.shows(`^prompt>\s*$`)
}

// TestHUDEndsWithAnError starts hone where it cannot work: the message is printed in an ordinary terminal.
func TestHUDEndsWithAnError(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	term := p.terminal(100, 24)
	term.keys(fmt.Sprintf("%s up --namespace %s --port 0 wbe; echo code=$?", binary, p.namespace), "Enter")
	screen := term.shows(`code=\d+`)
	if !strings.Contains(screen, "code=1") || !strings.Contains(screen, "wbe") {
		t.Errorf("screen:\n%s", screen)
	}
}

// TestTerminalAfterASecondSignal stops hone while a server is slow to end, and then sends another signal: hone ends at
// once, and the terminal is intact.
func TestTerminalAfterASecondSignal(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
local_resource('stubborn', serve_cmd='trap "" TERM; while true; do sleep 1; done')
`)
	term := p.terminal(100, 24)
	p.hud(term)
	term.shows(`✔ stubborn .*pid \d+`)
	// Signals within half a second count as one, so the second signal has to come later.
	k8stest.Eventually(t, "hone to end", func() error {
		if exec.Command("pkill", "-TERM", "-f", "--", fmt.Sprintf("^%s up .*--port %d$", binary, p.ports[3])).Run() == nil {
			return fmt.Errorf("it still runs")
		}
		return nil
	})
	term.shows(`^prompt>\s*$`)
	term.keys("stty -a | grep -c ' echo '; echo cur$((1+1))sor", "Enter")
	if screen := term.shows(`cur2sor`); !regexp.MustCompile(`(?m)^1$`).MatchString(screen) {
		t.Errorf("the terminal does not echo:\n%s", screen)
	}
}
