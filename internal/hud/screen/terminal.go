package screen

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gdamore/tcell/v2"
	"github.com/gdamore/tcell/v2/terminfo"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/settings"
)

// Terminal is the terminal that the screen is drawn on.
type Terminal = tcell.Screen

// ErrGone is the reason for the end of a screen whose terminal can no longer be read: its window was closed.
var ErrGone = errors.New("the terminal is gone")

// open takes control of a terminal: the given one, or the terminal of the process, which about describes.
func open(given Terminal, about terminal.Description, chosen settings.Settings) (Terminal, error) {
	term := given
	if term == nil {
		var err error
		if term, err = own(about); err != nil {
			return nil, unusable(err)
		}
	}
	if out := ttyWrapperOf(term); out != nil {
		out.choose(chosen)
	}
	if err := term.Init(); err != nil {
		return nil, unusable(err)
	}
	return term, nil
}

// tcellGlobals guards the terminal descriptions that tcell keeps for all screens of a process.
var tcellGlobals sync.Mutex

// own returns the terminal that the process runs in.
func own(about terminal.Description) (Terminal, error) {
	tcellGlobals.Lock()
	defer tcellGlobals.Unlock()
	tcell.SetEncodingFallback(tcell.EncodingFallbackASCII)
	return ownScreen(about)
}

// sendsCopies reports whether tcell sends copied text to a terminal: only if its type is known to take OSC 52. Without a type,
// the terminal is a console that tcell writes to in another way.
func sendsCopies(about terminal.Description) bool {
	if about.Term == "" {
		return true
	}
	tcellGlobals.Lock()
	defer tcellGlobals.Unlock()
	known, err := tcell.LookupTerminfo(about.Term)
	return err == nil && known.XTermLike
}

// unpadded returns a description without pauses after sequences. The pauses were for terminals at the end of a serial line: with
// the pauses of a vt100, drawing takes seconds.
func unpadded(known *terminfo.Terminfo) *terminfo.Terminfo {
	info := *known
	info.PadChar = "" // without it, tcell skips them
	return &info
}

func unusable(err error) error {
	return problem.Wrap(fmt.Errorf("open the terminal: %w", err), "this terminal cannot show hone's screen",
		"run with --stream for plain lines, or set TERM to the type of the terminal (xterm-256color fits most)")
}

// guarded is an open terminal that reports its end to the screen instead of to tview. It is used by pointer, since tview
// compares terminals.
type guarded struct {
	Terminal
	gone func(error)
	// focus is called, on a goroutine of tview, when the terminal gets or loses the focus.
	focus func(bool)
	// abandoned is set if the terminal must not be taken back, and away while something else has it.
	abandoned, away atomic.Bool
	// cells is held while the cells change outside the lock of tview, which draws and stops under it: tcell gives them up without a
	// lock of its own. ended is set from then on.
	cells sync.Mutex
	ended bool
}

// Show draws nothing on a terminal that is not ours: tcell has no cells then, and would look for them forever.
func (g *guarded) Show() {
	if !g.away.Load() {
		g.Terminal.Show()
	}
}

// Sync is like Show.
func (g *guarded) Sync() {
	if !g.away.Load() {
		g.change(g.Terminal.Sync)
	}
}

// Clear clears a terminal that has not ended. tview calls it when the size changes.
func (g *guarded) Clear() { g.change(g.Terminal.Clear) }

// change changes the cells of a terminal that has not ended.
func (g *guarded) change(cells func()) {
	g.cells.Lock()
	defer g.cells.Unlock()
	if !g.ended {
		cells()
	}
}

// Fini ends the terminal when its cells are not being changed.
func (g *guarded) Fini() {
	g.cells.Lock()
	defer g.cells.Unlock()
	g.ended = true
	g.Terminal.Fini()
}

// Init does nothing: open has already initialized the terminal and checked the error.
func (*guarded) Init() error { return nil }

// PollEvent withholds from tview the errors of the terminal, after which tview would stop permanently, and the events that tview
// does not know.
func (g *guarded) PollEvent() tcell.Event {
	for {
		switch event := g.Terminal.PollEvent().(type) {
		case *tcell.EventError:
			g.gone(fmt.Errorf("%w: %w", ErrGone, event))
		case *tcell.EventFocus:
			g.focus(event.Focused)
		case nil:
			return nil
		default:
			return event
		}
	}
}

// Suspend gives up the terminal. Keys that were typed before and have not been handled yet are dropped: tcell cannot suspend while its
// queue is full, and the goroutine that handles its events is the one that calls Suspend.
func (g *guarded) Suspend() error {
	events, suspended := make(chan tcell.Event), make(chan struct{})
	var drain sync.WaitGroup
	drain.Go(func() { g.Terminal.ChannelEvents(events, suspended) })
	drain.Go(func() {
		for range events {
		}
	})
	err := g.Terminal.Suspend()
	g.away.Store(err == nil)
	close(suspended)
	drain.Wait()
	return err
}

// Resume takes the terminal back. tview ignores errors.
func (g *guarded) Resume() error {
	if g.abandoned.Load() {
		return nil
	}
	err := g.Terminal.Resume()
	if err != nil {
		g.gone(fmt.Errorf("%w: %w", ErrGone, err))
		return err
	}
	g.away.Store(false)
	return nil
}
