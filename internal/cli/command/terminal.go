package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
)

// TerminalGuard restores the terminal when the process has to end at once, without the screen's own clean-up. While a screen has
// the terminal, a record of it is kept, so that the next hone in this terminal can restore it after a kill.
type TerminalGuard struct {
	// state is the state of the terminal before anything was shown; nil if there is no terminal.
	state *term.State
	// Repaired is the killed process that had left a screen in the terminal, which was restored; empty for none.
	Repaired string

	mu     sync.Mutex
	screen bool    // the screen may have the terminal
	kept   *record // of the terminal; nil while there is none
	// outlives is described at OnHangup.
	outlives atomic.Pointer[func() bool]
}

// OnHangup sets the function that is called when the system reports the loss of the terminal. The function, which may take a
// moment, returns whether the command continues; otherwise it ends as by an interrupt.
func (g *TerminalGuard) OnHangup(outlives func() bool) { g.outlives.Store(&outlives) }

// OutlivesHangup reports whether the command continues after the loss of the terminal.
func (g *TerminalGuard) OutlivesHangup() bool {
	outlives := g.outlives.Load()
	return outlives != nil && (*outlives)()
}

// NewTerminalGuard restores the terminal of standard input if a killed process has left it to the screen, and remembers its
// settings.
func NewTerminalGuard() *TerminalGuard {
	g := &TerminalGuard{}
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		if term.IsTerminal(int(os.Stdout.Fd())) {
			g.Repaired = repair(recordsDir())
		}
		g.state, _ = term.GetState(fd)
	}
	return g
}

// Said tells the user that the terminal was restored.
func (g *TerminalGuard) Said() string {
	return "This terminal is restored: " + g.Repaired + " had its screen here when it was killed."
}

// Begin must be called before a screen takes the terminal, and End when it has given the terminal back.
func (g *TerminalGuard) Begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.screen = true
	if g.kept == nil && g.state != nil {
		g.kept = keepRecord(recordsDir())
	}
}

// End must be called when a screen has given the terminal back; see Begin.
func (g *TerminalGuard) End() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.screen = false
	g.kept.drop()
	g.kept = nil
}

// recordsDir returns the folder for the records of terminals.
func recordsDir() string { return filepath.Join(StateDir(), "terminals") }

// normal resets a terminal to show text: no colours, no synchronized output, no reports of the mouse, of the focus or of the theme,
// no bracketed paste, ordinary keys, wrapped lines, the main screen, a visible cursor, the previous title. The cursor is saved
// first, because leaving the alternate screen restores it, even if the main screen is already shown.
const normal = "\x1b7\x1b[0m\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2031l\x1b[?2004l\x1b[?9001l\x1b[<u\x1b[>4;0m\x1b[?7h\x1b[23;2t\x1b[?1049l\x1b[?25h\x1b[?1l\x1b>"

// Reset makes the terminal of this process usable, in whatever state a program has left it.
func (g *TerminalGuard) Reset() error {
	if g.state == nil || !term.IsTerminal(int(os.Stdout.Fd())) {
		return problem.New("this is not a terminal", "run it in the terminal that needs it, without redirections")
	}
	if _, err := os.Stdout.WriteString(normal); err != nil {
		return fmt.Errorf("reset the terminal: %w", err)
	}
	return sane(int(os.Stdin.Fd()))
}

// Restore leaves the alternate screen, shows the cursor, resets the keyboard modes that the screen set, and makes the
// terminal echo again.
func (g *TerminalGuard) Restore() { g.restore(normal) }

// RestoreBelow works like Restore, but for a program that may or may not have shown a screen: it goes to the lowest row. Leaving an
// alternate screen that was not shown would move the cursor up, in tmux, into text that is then overwritten.
func (g *TerminalGuard) RestoreBelow() {
	g.restore(strings.Replace(normal, "\x1b[?1049l", "\x1b[?1047l\x1b[999B", 1))
}

func (g *TerminalGuard) restore(sequences string) {
	g.mu.Lock()
	screen := g.screen
	g.mu.Unlock()
	if g.state == nil || !screen {
		return
	}
	_, _ = os.Stdout.WriteString(sequences)
	g.Cook()
	g.End()
}

// Cook makes the terminal echo and buffer lines again, after the screen is gone.
func (g *TerminalGuard) Cook() {
	if g.state != nil {
		_ = term.Restore(int(os.Stdin.Fd()), g.state)
	}
}

// Suspender returns a function that suspends the screen of this process; nil if the platform cannot. If said is not empty, the
// process keeps running in the background, and said tells the user so.
func (g *Global) Suspender(said string) func(ctx context.Context) error {
	if !process.Suspends {
		return nil
	}
	return func(ctx context.Context) error {
		g.Terminal.End()
		if said != "" {
			fmt.Fprintln(g.Stdout, said)
		}
		err := process.Suspend(ctx, said != "")
		if ctx.Err() == nil {
			g.Terminal.Begin()
		}
		return err
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
			if _, encoding, named := strings.Cut(locale, "."); named {
				return strings.Contains(encoding, "utf")
			}
			return locale != "c" && locale != "posix"
		}
	}
	return true
}
