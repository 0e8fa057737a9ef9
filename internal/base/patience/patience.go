// Package patience says what a long piece of work waits for while nothing else is said.
//
// # Concurrency
//
// All methods may be called from any goroutine. Timers call say; no goroutine outlives the waits.
package patience

import (
	"fmt"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// Waits are the waits of one piece of work.
type Waits struct {
	say       func(text string)
	mu        sync.Mutex
	innermost *wait // guarded by mu; nil unless the work waits for something
	// show is described at Show; the fields are set before the first wait.
	show  func(what string, since time.Time)
	after time.Duration
}

// wait is one wait.
type wait struct {
	what  string
	since time.Time
	// due fires when nothing has been said for limit.
	due   *time.Timer
	limit time.Duration
	// outer is the wait that this one is a part of; nil for none.
	outer *wait
	// lasts fires when the wait has lasted long enough to be shown, and shown is set from then on.
	lasts *time.Timer
	shown bool
}

// New returns waits that say calls for; it must not hold a lock that a caller of Said or Await holds.
func New(say func(text string)) *Waits { return &Waits{say: say} }

// Tell is Await for a step that has no Waits of its own: a log gets the text.
func Tell(log logstore.Logger, what string) (over func()) {
	return New(func(text string) { logstore.Infof(log, "%s", text) }).Await(what)
}

// Show makes the waits call show, in order, with the innermost wait once it has lasted for the given time, and with an empty one once
// it is over. The outermost wait, which stands for the work as a whole, is not shown. show must not call the waits.
func (w *Waits) Show(after time.Duration, show func(what string, since time.Time)) {
	w.after, w.show = after, show
}

// Await notes that the work waits for something, such as "the cluster", until over is called. If nothing is said for
// logstore.SayAfter, the wait is. A wait may contain others: then the innermost one is said.
func (w *Waits) Await(what string) (over func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := &wait{what: what, since: time.Now(), limit: logstore.SayAfter, outer: w.innermost}
	if a.outer != nil {
		a.outer.due.Stop()
	}
	a.due = time.AfterFunc(a.limit, func() { w.due(a) })
	w.innermost = a
	if w.show != nil && a.outer != nil {
		a.lasts = time.AfterFunc(w.after, func() { w.lasting(a) })
	}
	return sync.OnceFunc(func() { w.over(a) })
}

// lasting shows a wait, unless it is over or contains another one.
func (w *Waits) lasting(a *wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.innermost == a {
		a.shown = true
		w.show(a.what, a.since)
	}
}

// over ends a wait. The outer one goes on.
func (w *Waits) over(a *wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.due.Stop()
	w.innermost = a.outer
	w.restart()
	if a.lasts == nil {
		return
	}
	a.lasts.Stop()
	outer := a.outer
	if outer.lasts != nil && !outer.shown {
		outer.lasts.Reset(w.after)
	}
	switch {
	case !a.shown:
	case outer.shown:
		w.show(outer.what, outer.since)
	default:
		w.show("", time.Time{})
	}
}

// due says what is awaited, unless that is over.
func (w *Waits) due(a *wait) {
	w.mu.Lock()
	said, over := "Waiting for "+a.what+"…", w.innermost != a
	if a.limit == logstore.SayAgain {
		said += fmt.Sprintf(" (for %s now)", time.Since(a.since).Round(time.Second))
	}
	a.limit = logstore.SayAgain
	if !over {
		w.restart()
	}
	w.mu.Unlock()
	if !over {
		w.say(said)
	}
}

// Said notes that something was said.
func (w *Waits) Said() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.restart()
}

// restart begins the silence again. The caller holds the lock.
func (w *Waits) restart() {
	if w.innermost != nil {
		w.innermost.due.Reset(w.innermost.limit)
	}
}

// Logger returns a logger whose messages go to log, and break the silence.
func (w *Waits) Logger(log logstore.Logger) logstore.Logger { return speaking{log, w} }

type speaking struct {
	logstore.Logger
	waits *Waits
}

// Write implements logstore.Logger.
func (s speaking) Write(level logstore.Level, text string) {
	s.Logger.Write(level, text)
	s.waits.Said()
}

// Progress implements logstore.Logger.
func (s speaking) Progress(id, text string, done bool) {
	s.Logger.Progress(id, text, done)
	s.waits.Said()
}

// Flush passes on what logstore.Flush asks for.
func (s speaking) Flush() { logstore.Flush(s.Logger) }
