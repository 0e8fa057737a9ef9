package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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

// TestSuspendWithoutAShell runs hone as the only program of a terminal: there is no shell to go back to.
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

// TestSignalsOfJobControl stops screens from outside: asked to stop, they restore the terminal first; stopped without being asked,
// they set it up again and draw everything when they go on. A pager that stops itself stops hone too, and fg brings both back.
func TestSignalsOfJobControl(t *testing.T) {
	t.Parallel()
	for name, attached := range map[string]bool{"own": false, "attached": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newLocalProject(t, tool)
			p.write("pager", "#!/bin/sh\necho the pager has \"$1\"\nkill -TSTP 0\necho the pager goes on\nread line\n")
			if err := os.Chmod(filepath.Join(p.dir, "pager"), 0o755); err != nil {
				t.Fatal(err)
			}
			command := binary + " up --port none"
			if attached {
				p.says(0, []string{"up", "--detach", "--port", "none"})
				t.Cleanup(func() { p.run("stop", "--all") })
				command = binary + " attach"
			}
			term := p.terminal(120, 34)
			term.keys("exec env HISTFILE= PAGER="+filepath.Join(p.dir, "pager")+" bash --norc", "Enter")
			term.keys("clear; (echo $BASHPID > hone.pid; exec "+command+")", "Enter")
			term.shows(`✔ tool`)
			signal := func(s syscall.Signal) {
				text, err := os.ReadFile(filepath.Join(p.dir, "hone.pid"))
				if err != nil {
					t.Fatal(err)
				}
				pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
				if err != nil {
					t.Fatal(err)
				}
				if err := syscall.Kill(pid, s); err != nil {
					t.Fatal(err)
				}
			}
			signal(syscall.SIGTSTP)
			term.shows(`Stopped`)
			term.whole()
			term.keys("clear; fg", "Enter")
			term.shows(`✔ tool`)
			term.keys("/")
			term.shows(`^ filter:`)
			signal(syscall.SIGTSTP) // from a prompt
			term.shows(`Stopped`)
			term.whole()
			term.keys("clear; fg", "Enter")
			term.shows(`^ filter:`)
			term.keys("Escape")
			term.shows(`Enter details`)

			signal(syscall.SIGSTOP)
			term.shows(`Stopped`)
			term.keys("stty sane; clear; echo something else; fg", "Enter")
			term.shows(`(?s)\A hone .*✔ tool `)
			term.hides(`something else`)
			term.keys("/")
			term.shows(`^ filter:`)
			term.keys("Escape")
			term.shows(`Enter details`)

			term.keys("|")
			term.shows(`(?s)the pager has .*Stopped`)
			term.keys("clear; fg", "Enter")
			term.shows(`the pager goes on`)
			term.keys("Enter")
			term.shows(`(?s)\A hone .*✔ tool `)
			p.says(0, []string{"stop"}, "has ended")
			term.shows(map[bool]string{false: `Log in `, true: `Session \S+ is over`}[attached])
			term.whole()
		})
	}
}
