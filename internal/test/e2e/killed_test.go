package e2e

import (
	"strings"
	"syscall"
	"testing"
)

// modes returns the modes of a terminal that a screen sets: 1 for the alternate screen, for reports of the mouse, and for keys as
// applications get them, and 0 for a hidden cursor.
func (term *terminal) modes() string {
	return strings.TrimSpace(term.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag} #{keypad_flag} #{cursor_flag}"))
}

const (
	screenModes = "1 1 1 0"
	shellModes  = "0 0 0 1"
)

// TestKilledScreen kills the process that shows a screen: the next hone in that terminal restores it, once.
func TestKilledScreen(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	for _, c := range []struct{ screen, next, says string }{
		{"up --port none", "version", `This terminal is restored: hone up \(pid \d+\) had its screen here when it was killed`},
		{"up --port none", "doctor --terminal", `This terminal is restored: hone up`},
		{"attach", "sessions", `This terminal is restored: hone attach`},
	} {
		if c.screen == "attach" {
			p.says(0, []string{"up", "--detach", "--port", "none"})
			t.Cleanup(func() { p.run("stop", "--all") })
		}
		term := p.terminal(100, 30)
		term.keys("stty -echoctl; "+binary+" "+c.screen, "Enter") // a setting of the user's own
		term.shows(`✔ srv`)
		if got := term.modes(); got != screenModes {
			t.Fatalf("%s: the modes of the screen are %s", c.screen, got)
		}
		pid := strings.TrimSpace(term.tmux("display-message", "-p", "#{pane_pid}"))
		if err := childOf(t, pid).Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		term.shows(`p\s*r\s*o\s*m\s*p\s*t\s*>`) // it begins where the screen's cursor was, and may wrap
		if got := term.modes(); got != screenModes {
			t.Errorf("%s: something else has restored the terminal: %s", c.screen, got)
		}
		term.keys("C-j") // ends the terminal's answers to the screen's last questions; the Enter key sends another code now
		term.keys(binary+" "+c.next, "C-j")
		term.shows(c.says)
		if got := term.modes(); got != shellModes {
			t.Errorf("%s: after hone %s the modes are %s", c.screen, c.next, got)
		}
		term.whole()
		term.keys("clear; stty -a | grep -c -e -echoctl; "+binary+" version; echo ver$((1+1))sion", "Enter")
		if screen := term.shows(`ver2sion`); strings.Contains(screen, "restored") || !strings.HasPrefix(screen, "1\n") {
			t.Errorf("%s: it is restored twice, or not to the user's settings:\n%s", c.screen, screen)
		}
		term.keys("clear; "+binary+" doctor --terminal", "Enter")
		term.shows(`This terminal is reset. No screen of hone was killed in it`)
		term.whole()
	}
	p.says(1, []string{"doctor", "--terminal"}, "this is not a terminal")
}

// TestKilledScreenElsewhere kills a screen and closes its terminal: a terminal that is opened later under the same number is left
// alone.
func TestKilledScreenElsewhere(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	term := p.terminal(100, 30)
	term.keys(binary+" up --port none", "Enter")
	term.shows(`✔ srv`)
	pid := strings.TrimSpace(term.tmux("display-message", "-p", "#{pane_pid}"))
	if err := childOf(t, pid).Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	term.shows(`prompt>`)
	// Another session of processes in the same terminal, with a screen of its own.
	term.keys("C-j")
	term.keys("exec setsid -c -w sh -c 'printf \"\\033[?1049h\\033[2J\"; "+binary+" version; sleep 100000'", "C-j")
	term.shows(`hone v\d`)
	if screen, modes := term.screen(), term.modes(); strings.Contains(screen, "restored") || !strings.HasPrefix(modes, "1") {
		t.Errorf("%s\n%s", modes, screen)
	}
}
