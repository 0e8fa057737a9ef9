package command

import (
	"fmt"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// awaiting is a wait of a command.
type awaiting struct {
	what  string
	since time.Time
	// due fires when nothing has been printed for limit.
	due   *time.Timer
	limit time.Duration
	// outer is the wait that this one is a part of; nil for none.
	outer *awaiting
}

// Await notes that the command waits for something, such as "the cluster", until over is called. If nothing is printed for
// logstore.SayAfter, the wait is. A wait may contain others: then the innermost one is printed.
func (p *Printer) Await(what string) (over func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &awaiting{what: what, since: time.Now(), limit: logstore.SayAfter, outer: p.awaits}
	if a.outer != nil {
		a.outer.due.Stop()
	}
	a.due = time.AfterFunc(a.limit, func() { p.sayAwaited(a) })
	p.awaits = a
	return sync.OnceFunc(func() { p.awaited(a) })
}

// awaited ends a wait. The outer one goes on.
func (p *Printer) awaited(a *awaiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.due.Stop()
	p.awaits = a.outer
	p.printed()
}

// sayAwaited prints a wait that is not over.
func (p *Printer) sayAwaited(a *awaiting) {
	p.mu.Lock()
	said, over := "Waiting for "+a.what+"…", p.awaits != a
	if a.limit == logstore.SayAgain {
		said += fmt.Sprintf(" (for %s now)", time.Since(a.since).Round(time.Second))
	}
	a.limit = logstore.SayAgain
	p.mu.Unlock()
	if !over {
		p.Write(logstore.LevelInfo, said)
	}
}

// printed notes that something was printed. The caller holds the lock.
func (p *Printer) printed() {
	if p.awaits != nil {
		p.awaits.due.Reset(p.awaits.limit)
	}
}

// Waiting is Await with a printer of standard error.
func (g *Global) Waiting(what string) (done func()) {
	return g.Printer(g.Stderr, g.Stderr).Await(what)
}
