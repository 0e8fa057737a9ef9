package screen

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Terminal is where the screen is drawn.
type Terminal = tcell.Screen

// ErrGone is the reason for the end of a screen whose terminal can no longer be read: its window was closed.
var ErrGone = errors.New("the terminal is gone")

// open takes control of a terminal: the given one, or the terminal of the process.
func open(given Terminal) (Terminal, error) {
	term := given
	if term == nil {
		var err error
		if term, err = own(); err != nil {
			return nil, unusable(err)
		}
	}
	if err := term.Init(); err != nil {
		return nil, unusable(err)
	}
	return term, nil
}

// tcellGlobals guards the terminal descriptions that tcell keeps for all screens of a process.
var tcellGlobals sync.Mutex

// own returns the terminal that the process runs in.
func own() (Terminal, error) {
	tcellGlobals.Lock()
	defer tcellGlobals.Unlock()
	tcell.SetEncodingFallback(tcell.EncodingFallbackASCII)
	return tcell.NewScreen()
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
}

// Init does nothing: open has already initialized the terminal and checked the error.
func (*guarded) Init() error { return nil }

// PollEvent withholds the errors of the terminal from tview, which would otherwise stop permanently.
func (g *guarded) PollEvent() tcell.Event {
	for {
		event := g.Terminal.PollEvent()
		fault, failed := event.(*tcell.EventError)
		if !failed {
			return event
		}
		g.gone(fmt.Errorf("%w: %w", ErrGone, fault))
	}
}

// Suspend gives up the terminal. What was typed before and has not been handled yet is dropped: tcell cannot suspend while its
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
	close(suspended)
	drain.Wait()
	return err
}

// Resume takes the terminal back. tview ignores errors.
func (g *guarded) Resume() error {
	err := g.Terminal.Resume()
	if err != nil {
		g.gone(fmt.Errorf("%w: %w", ErrGone, err))
	}
	return err
}
