package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// failing is a project whose one resource names a line of a file when it fails.
const failing = `
-- Tiltfile --
local_resource('broken', 'echo "src/app.go:7:2: undefined: n"; exit 1')
-- src/app.go --
package app
`

// programs puts an editor and a pager into a terminal's shell. Each writes its arguments and the input that it gets to a file,
// and waits for a line, which an interrupt does not end but the loss of the terminal does.
func (p *project) programs(term *terminal) {
	p.t.Helper()
	bin := p.t.TempDir()
	for variable, name := range map[string]string{"EDITOR": "vi", "PAGER": "more"} {
		script := fmt.Sprintf(`#!/bin/sh
trap 'again=yes; echo interrupted >>%[1]s/%[2]s' INT
echo "args: $*" >>%[1]s/%[2]s
head -c 100000 "$1" >>%[1]s/%[2]s 2>/dev/null
stty -a | grep -c ' echo ' >>%[1]s/%[2]s
echo "%[3]s HAS THE TERMINAL"
while again=no; ! read -r line; do [ $again = yes ] || exit 1; done
echo "typed: $line" >>%[1]s/%[2]s
[ "$line" != fail ]
`, p.dir, name+".txt", variable)
		path := filepath.Join(bin, name)
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			p.t.Fatal(err)
		}
		term.keys(fmt.Sprintf("export %s=%s", variable, path), "Enter")
	}
	term.keys("unset TILT_EDITOR KUBE_EDITOR VISUAL; clear", "Enter")
}

// recorded checks the input that a program has recorded, and forgets it.
func (p *project) recorded(name string, want ...string) {
	p.t.Helper()
	k8stest.Eventually(p.t, name+" to record what it got", func() error {
		got, err := os.ReadFile(filepath.Join(p.dir, name+".txt"))
		if err != nil {
			return err
		}
		for _, w := range want {
			if !regexp.MustCompile(`(?m)` + w).Match(got) {
				return fmt.Errorf("%q is not in\n%s", w, got)
			}
		}
		return nil
	})
	if err := os.Remove(filepath.Join(p.dir, name+".txt")); err != nil {
		p.t.Fatal(err)
	}
}

// whole120 matches a complete screen of 120 columns.
const whole120 = `(?s)\A hone [^\n]*\n.*─{120}\n.*✖ broken [^\n]*\n.*\n Enter details [^\n]*\? keys[^\n]*\n*\z`

// usesPrograms opens the editor and the pager from a screen that shows the project failing, and checks that they have the
// terminal to themselves, and the screen afterwards.
func (p *project) usesPrograms(term *terminal) {
	p.t.Helper()
	term.shows(whole120)
	term.keys("e") // the card, which has the line
	term.shows(`✖ broken ─`)
	term.shows(`│ src/app\.go:7:2: undefined`)
	term.keys("o")
	screen := term.shows(`EDITOR HAS THE TERMINAL`)
	if strings.Contains(screen, "NAME") {
		p.t.Errorf("the screen is still there:\n%s", screen)
	}
	term.keys("q hello", "Enter") // would close the screen, were it to get the keys
	p.recorded("vi", `^args: \+7 .*/src/app\.go$`, `^1$`, `^typed: q hello$`)
	term.shows(`(?s)\A hone [^\n]*\n.*✖ broken ─`)
	term.keys("Escape")
	term.shows(whole120)

	term.keys("|")
	term.shows(`PAGER HAS THE TERMINAL`)
	term.keys("C-c") // for the pager, not for the session
	term.resize(100, 30)
	term.keys("fail", "Enter")
	p.recorded("more", `^args: .*\.log$`, `src/app\.go:7:2: undefined`, `^1$`, `^interrupted$`, `^typed: fail$`)
	term.shows(`the pager .* has failed`)
	term.shows(`(?s)\A hone [^\n]*\n.*─{100}\n`)
	term.resize(120, 34)
	term.keys("l") // follows the newest line, as before, and removes the message
	term.shows(whole120)
	term.keys("?")
	term.shows(`(?m)^ *HERE`)
	term.keys("q")
	term.shows(whole120)
}

// TestPrograms opens a user's editor and pager from the session's own terminal, from attached ones, and from the terminal of a
// snapshot. The end of the session ends no program.
func TestPrograms(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, failing)
	own := p.terminal(120, 34)
	p.programs(own)
	own.keys(binary+" up --port none", "Enter")
	own.shows(`✖ broken`)
	p.usesPrograms(own)

	attached := p.terminal(120, 34)
	p.programs(attached)
	attached.keys(binary+" attach", "Enter")
	attached.shows(`✖ broken`)
	p.usesPrograms(attached)

	p.says(0, []string{"snapshot", "create", "now.json"})
	past := p.terminal(120, 34)
	p.programs(past)
	past.keys(binary+" snapshot view now.json", "Enter")
	past.shows(`✖ broken`)
	p.usesPrograms(past)

	attached.keys("o")
	attached.shows(`EDITOR HAS THE TERMINAL`)
	own.keys("C-c")
	own.shows(`^prompt>`)
	own.whole()
	attached.keys("saved in time", "Enter")
	attached.shows(`Session \S+ is over`)
	p.recorded("vi", `^typed: saved in time$`)
	attached.whole()
}

// TestOwnCommands runs the user's own commands from the session's own screen and from one that is attached with other settings:
// each runs the commands of its own file, in its own terminal, with the facts about the selection.
func TestOwnCommands(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, tool)
	screens := map[string]*terminal{}
	for _, name := range []string{"owner", "guest", "viewer"} {
		config := t.TempDir()
		file := filepath.Join(config, "hone", "screen.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		yaml := fmt.Sprintf(`
keys: {help: [F4, "?"]}
commands:
- {name: %[1]s-says, key: D, run: 'echo "%[1]s has $HONE_RESOURCE"; echo "in $$" '}
- {name: %[1]s-asks, key: Q, terminal: true, run: 'echo "%[1]s HAS THE TERMINAL for $HONE_RESOURCE"; read -r line; echo "%[1]s typed: $line in ${HONE_TEST_SHELL}" >>typed.txt'}
- {name: %[1]s-sleeps, key: H, run: 'echo $$ >sleeper.txt; exec sleep 100000'}
`, name)
		if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		term := p.terminal(120, 34)
		term.keys(fmt.Sprintf("export XDG_CONFIG_HOME=%s HONE_TEST_SHELL=%s; clear", config, name), "Enter")
		screens[name] = term
	}
	own, guest, viewer := screens["owner"], screens["guest"], screens["viewer"]
	own.keys(binary+" up --port none", "Enter")
	own.shows(`✔ tool`)
	guest.keys(binary+" attach", "Enter")
	viewer.keys(binary+" attach --read-only", "Enter")
	for _, name := range []string{"owner", "guest"} {
		term := screens[name]
		term.shows(`✔ tool`)
		term.keys("/", "tool", "Enter")
		term.hides("✔ srv")
		term.keys("D")
		term.shows(fmt.Sprintf(`(?s)─ %[1]s-says .*%[1]s has tool\n.*in \d+`, name))
		term.keys("Escape")
		term.shows(`^ *NAME`)
		term.keys(":", name+"-asks", "Enter")
		if screen := term.shows(name + ` HAS THE TERMINAL for tool`); strings.Contains(screen, "NAME") {
			t.Errorf("the screen is still there:\n%s", screen)
		}
		term.keys("q hello", "Enter")
		p.recorded("typed", fmt.Sprintf(`^%[1]s typed: q hello in %[1]s$`, name))
		term.shows(`(?s)\A hone .*✔ tool `)
	}

	viewer.shows(`✔ tool`)
	viewer.keys("D")
	viewer.shows(`a read-only screen runs no commands of your own: attach without --read-only`)

	// A command that runs goes with the screen.
	guest.keys("H")
	guest.shows(`guest-sleeps runs`)
	var pid int
	k8stest.Eventually(t, "the command to run", func() error {
		b, err := os.ReadFile(filepath.Join(p.dir, "sleeper.txt"))
		if err == nil {
			_, err = fmt.Sscan(string(b), &pid)
		}
		return err
	})
	guest.keys("C-c")
	guest.shows(`Detached from session`)
	guest.whole()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the command still runs: %v", err)
	}
	own.keys("C-c")
	viewer.shows(`Session \S+ is over`)
}
