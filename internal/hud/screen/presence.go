package screen

import (
	"sync/atomic"
	"time"
)

// absence is the idle time after which a user counts as away, if the terminal never reports its focus: tmux by default, GNU
// screen, consoles.
const absence = time.Minute

// presence tells whether the user is at the screen.
type presence struct {
	// focus is the terminal's last message about its focus. It is set on a goroutine of tview.
	focus atomic.Int32
	// acted is the time of the user's last action on the screen; for the goroutine that draws.
	acted time.Time
}

// The messages of a terminal about its focus.
const (
	focusUntold int32 = iota
	focusGained
	focusLost
)

// focused notes that the terminal has gained or lost the focus.
func (p *presence) focused(has bool) {
	if has {
		p.focus.Store(focusGained)
	} else {
		p.focus.Store(focusLost)
	}
}

// back notes that the user has returned from another program, which got the terminal's messages about its focus meanwhile.
func (p *presence) back(now time.Time) {
	p.focus.CompareAndSwap(focusLost, focusGained)
	p.act(now)
}

// act notes that the user has done something.
func (p *presence) act(now time.Time) { p.acted = now }

// away reports whether the user looks elsewhere. The terminal's messages take precedence over the idle time: a user may only
// look.
func (p *presence) away(now time.Time) bool {
	switch p.focus.Load() {
	case focusLost:
		return true
	case focusGained:
		return false
	}
	return now.Sub(p.acted) >= absence
}
