package e2e

import (
	"fmt"
	"testing"
)

// rows100 matches a whole screen of 100 columns.
const rows100 = `(?s)\A hone [^\n]*\n.*─{100}\n.*✔ tool [^\n]*\n.*\n Enter details [^\n]*\n*\z`

// TestSuspend leaves the session's own screen with Ctrl-Z under two shells: the terminal is as it was, the session keeps
// working, and fg shows the screen again in the size that the terminal has then.
func TestSuspend(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"sh", "bash --norc"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			p := newLocalProject(t, tool)
			term := p.terminal(120, 34)
			term.keys("exec env HISTFILE= "+shell, "Enter")
			term.keys(fmt.Sprintf("clear; %s up --port none", binary), "Enter")
			term.shows(`✔ tool`)
			term.shows(`✔ srv`)
			for range 2 {
				term.resize(120, 34)
				term.shows(`(?s)\A hone .*─{120}\n`)
				term.keys("C-z")
				term.shows(`(?s)keeps running: fg shows it again.*Stopped`)
				term.whole()
				p.says(0, []string{"trigger", "tool"}, "Successfully triggered")
				term.resize(100, 30)
				term.keys("clear; fg", "Enter")
				term.shows(rows100)
			}
			term.keys(":suspend") // the keys come here again
			term.shows(`suspend +Ctrl-Z +back to the shell; fg shows the screen again`)
			term.keys("Escape")
			term.shows(rows100)

			// The end of the session does not take the terminal away from the shell.
			term.keys("C-z")
			term.shows(`(?s)keeps running: fg shows it again.*Stopped`)
			p.says(0, []string{"stop"}, "has ended")
			term.whole()
		})
	}
}

// TestSuspendAttached leaves an attached screen with Ctrl-Z: fg shows it again, or says that the session has ended meanwhile.
func TestSuspendAttached(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	p.says(0, []string{"up", "--detach", "--port", "none"})
	t.Cleanup(func() { p.run("stop", "--all") })
	term := p.terminal(120, 34)
	term.keys(binary+" attach", "Enter")
	term.shows(`✔ tool`)
	term.keys("C-z")
	term.shows(`Stopped`)
	term.whole()
	term.resize(100, 30)
	term.keys("clear; fg", "Enter")
	term.shows(`(?s)\A hone [^\n]*\n.*─{100}\n.*✔ tool `)
	term.keys("/")
	term.shows(`^ filter:`)
	term.keys("C-z") // from a prompt
	term.shows(`Stopped`)
	term.whole()
	p.says(0, []string{"stop"}, "has ended")
	term.keys("fg", "Enter")
	term.shows(`Session \S+ is over`)
	term.whole()
}

// TestSuspendWithoutAShell runs hone as the only program of a terminal: there is nothing to go back to.
func TestSuspendWithoutAShell(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	term := p.terminal(120, 34)
	term.keys(fmt.Sprintf("exec %s up --port none", binary), "Enter")
	term.shows(`✔ tool`)
	term.keys("C-z")
	term.shows(`there is no shell to go back to`)
	term.shows(`✔ tool`)
	p.says(0, []string{"stop"}, "has ended")
}
