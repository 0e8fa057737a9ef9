package command

import (
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/term"
)

// TerminalGuard restores the terminal when the process has to end at once, without the screen's own clean-up.
type TerminalGuard struct {
	// state is the state of the terminal before anything was shown; nil if there is no terminal.
	state *term.State
	// Screen is set while the screen may have the terminal.
	Screen atomic.Bool
}

// NewTerminalGuard records the current settings of the terminal of standard input.
func NewTerminalGuard() *TerminalGuard {
	g := &TerminalGuard{}
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		g.state, _ = term.GetState(fd)
	}
	return g
}

// Restore leaves the alternate screen, shows the cursor, resets the keyboard modes that the screen set, and makes the
// terminal echo again.
func (g *TerminalGuard) Restore() {
	if g.state == nil || !g.Screen.Load() {
		return
	}
	_, _ = os.Stdout.WriteString("\x1b[0m\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?9001l\x1b[<u\x1b[>4;0m\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[?1l\x1b>")
	g.Cook()
}

// Cook makes the terminal echo and buffer lines again, after the screen is gone.
func (g *TerminalGuard) Cook() {
	if g.state != nil {
		_ = term.Restore(int(os.Stdin.Fd()), g.state)
	}
}

// Interactive reports whether both standard input and standard output are a terminal that can show a screen.
func Interactive() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("TERM") != "dumb"
}

// UTF8Locale reports whether the terminal shows UTF-8, according to the environment.
func UTF8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := os.Getenv(name); locale != "" {
			locale = strings.ToLower(locale)
			return locale != "c" && locale != "posix" && (!strings.Contains(locale, ".") || strings.Contains(locale, "utf"))
		}
	}
	return true
}
