package buildcontroller

import (
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
)

// paceInterval is the time between two reports of a build that differ only in their numbers. Each becomes a snapshot.
const paceInterval = 100 * time.Millisecond

// pace passes on the reports of one build: at once where the mode, the step or the awaited event is new, otherwise at most one
// in each interval. The newest is always passed on, at the latest at the end of the build. It is safe for concurrent use.
type pace struct {
	// send receives the reports, one at a time. It does not block.
	send func(state.BuildProgressed)

	mu      sync.Mutex
	last    state.BuildProgressed
	next    time.Time              // when the next report may pass
	waiting *state.BuildProgressed // is sent when timer fires
	timer   *time.Timer
	timers  sync.WaitGroup // the timer, while it is set or its function runs
	ended   bool
}

// report passes on a report now or later, unless a newer one replaces it before that.
func (p *pace) report(r state.BuildProgressed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	now := time.Now()
	if r.Mode != p.last.Mode || r.Stage != p.last.Stage || !now.Before(p.next) {
		p.pass(r, now)
		return
	}
	if p.waiting == nil {
		p.timers.Add(1)
		p.timer = time.AfterFunc(p.next.Sub(now), p.due)
	}
	p.waiting = &r
}

// due passes on the report that waits.
func (p *pace) due() {
	defer p.timers.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting != nil {
		p.pass(*p.waiting, time.Now())
	}
}

// pass sends a report, which makes a waiting one obsolete. The caller holds mu.
func (p *pace) pass(r state.BuildProgressed, now time.Time) {
	p.last, p.next = r, now.Add(paceInterval)
	p.drop()
	p.send(r)
}

// drop forgets the report that waits. The caller holds mu.
func (p *pace) drop() {
	if p.waiting == nil {
		return
	}
	p.waiting = nil
	if p.timer.Stop() {
		p.timers.Done()
	}
}

// end passes on the report that waits and ignores later ones. Nothing runs when it has returned.
func (p *pace) end() {
	p.mu.Lock()
	if p.waiting != nil {
		p.pass(*p.waiting, time.Now())
	}
	p.ended = true
	p.mu.Unlock()
	p.timers.Wait()
}
