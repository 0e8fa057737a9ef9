package screen

import (
	"sync/atomic"
	"time"
)

// absence is how long a user does nothing on a screen to count as away, if the terminal never tells whether it has the focus:
// tmux as it comes, GNU screen, consoles.
const absence = time.Minute

// presence tells whether the user is at the screen.
type presence struct {
	// focus is what the terminal has said last about its focus. It is set on a goroutine of tview.
	focus atomic.Int32
	// acted is when the user last did something on the screen; for the goroutine that draws.
	acted time.Time
}

// What a terminal says about its focus.
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

// back notes that the user has returned from another program, which got what the terminal said about its focus meanwhile.
func (p *presence) back(now time.Time) {
	p.focus.CompareAndSwap(focusLost, focusGained)
	p.act(now)
}

// act notes that the user has done something.
func (p *presence) act(now time.Time) { p.acted = now }

// away reports whether the user looks elsewhere. What the terminal tells counts more than a user who only looks.
func (p *presence) away(now time.Time) bool {
	switch p.focus.Load() {
	case focusLost:
		return true
	case focusGained:
		return false
	}
	return now.Sub(p.acted) >= absence
}
