package screen

import (
	"context"
	"time"

	"github.com/rivo/tview"

	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/view"
)

const (
	// frameTime is the minimum time between two drawings that no key has caused.
	frameTime = time.Second / 30
	// spinnerStep is the time between two steps of the spinner.
	spinnerStep = 100 * time.Millisecond
)

// How the screen is drawn. Two goroutines take part. The pump's own (run) waits for a reason to draw, and builds the frame; tview's, which
// owns the widgets, applies it. One round:
//
//	a reason arrives: the state, log lines, a tick, the end of a job, …
//	→ pause: until a frame's time has passed, and the terminal has shown the frame before (pace.go)
//	→ draw: build the frame (Options.Frame), or keep the last one; queue ui.apply and then on tview's goroutine; wait until it is drawn
//	→ mark: ask the terminal to say when it has shown the frame
//	→ next: set the tick to the time at which this frame becomes wrong by itself
//
// Each reason says two things. rebuild: whether the state may have changed, or only what the screen does with it, such as a finding in a
// log. last: the time from which the pause counts; it is zero for anything that the user waits for. Keys are no reason: tview handles and draws
// them itself, on its goroutine.
//
// Log lines come by the thousand, so they do not ask for a frame each: after a pause, the pump looks whether the log on screen has changed
// (log.stale), and the amount of the programs' output is looked at in glances, at most once in glanceTime.
//
// The goroutine of tview never waits for the pump. The pump waits for tview in draw: it must have ended before tview is stopped.

// pump passes frames to tview's goroutine.
type pump struct {
	ui      *ui
	app     *tview.Application
	options Options
	lists   *loglist.Lister
	dress   dress
	// backgrounds delivers the terminal's messages about its background; nil if it sends none.
	backgrounds <-chan background
	ttyWrapper  *ttyWrapper // nil if the terminal has none

	errors                uint64 // that the lists had learned when they were drawn last
	lastDrawn, lastLooked time.Time
	// glances fires at glanceAt, to look at the amount of the programs' output; zero for never.
	glances              *time.Timer
	glanceAt, lastGlance time.Time
	frame                Frame
	built                time.Time
	// due is the time after which there may be something to announce; zero for never.
	due time.Duration
	// expires is the time at which the message in the footer ends; zero if there is none.
	expires time.Time
}

// begin takes in the first frame before tview runs: a key that is typed early must find the resources that it moves among.
func (p *pump) begin() {
	defer p.ui.guard()
	now := p.options.Now()
	p.frame, p.built = p.options.Frame(now), now
	p.ui.apply(p.frame, now)
}

// run draws whenever there is a reason to, until ctx is done.
func (p *pump) run(ctx context.Context) {
	logs, cancel := p.options.Logs.Subscribe()
	defer cancel()
	tick := time.NewTimer(0)
	defer tick.Stop()
	p.glances = time.NewTimer(0)
	defer p.glances.Stop()
	for {
		rebuild, then, last := true, func() {}, p.lastDrawn
		select {
		case <-ctx.Done():
			return
		case <-p.options.Changed:
		case <-tick.C:
		case <-logs:
			// Lines of resources that are not shown change nothing. They may come thousands of times a second.
			if !p.pause(ctx, p.lastLooked) {
				return
			}
			p.lastLooked = time.Now()
			p.glanceBy(p.lastGlance.Add(glanceTime))
			if rebuild = p.stale(); !rebuild && !p.ui.log.stale() {
				continue
			}
		case <-p.glances.C:
			if !p.glance() {
				continue
			}
			rebuild = false
		case <-p.ui.spoke: // its end is a reason to draw; if nothing else happens, there may be no other for long
			rebuild = false
		case <-p.lists.News():
			// The findings of a hidden log change nothing, but for the error that a save brought.
			errors := p.lists.Errors()
			if p.ui.log.hidden.Load() && errors == p.errors {
				continue
			}
			rebuild, p.errors = false, errors
		case b := <-p.backgrounds:
			rebuild, then = false, func() { p.ui.wear(p.dress.on(b)) }
		case <-p.ui.pulled:
			rebuild, then = false, p.ui.pullOn
		case c := <-p.options.Job:
			rebuild, last, then = false, time.Time{}, func() { p.ui.obey(c) }
		case then = <-p.ui.jobs.results:
			rebuild, last = false, time.Time{} // the user waits for it
		}
		if !p.pause(ctx, last) {
			return
		}
		p.draw(rebuild || p.stale(), then)
		tick.Reset(p.next())
	}
}

// pause waits until a frame's time has passed since the last time and the terminal has shown the last frame, and reports
// whether there will be another one.
func (p *pump) pause(ctx context.Context, last time.Time) bool {
	if wait := frameTime - time.Since(last); wait > 0 && !retry.Sleep(ctx, wait) {
		return false
	}
	if p.ttyWrapper != nil {
		p.ttyWrapper.shown(ctx)
	}
	return ctx.Err() == nil
}

// glanceBy schedules a glance for the given time at the latest.
func (p *pump) glanceBy(at time.Time) {
	if p.options.Past || earliest(at, p.glanceAt).Equal(p.glanceAt) {
		return
	}
	p.glanceAt = at
	p.glances.Reset(at.Sub(p.options.Now()))
}

// earliest returns the earlier of two times; a zero time is none.
func earliest(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

// glance reads the size of the programs' output, and reports whether this changes the screen.
func (p *pump) glance() (changed bool) {
	p.lastGlance, p.glanceAt = p.options.Now(), time.Time{}
	changed, next := p.ui.activity.look(p.lastGlance)
	p.glanceBy(next)
	return changed && !p.options.Past
}

// draw passes the newest frame to tview and waits until it is drawn.
func (p *pump) draw(rebuild bool, then func()) {
	now := p.options.Now()
	if rebuild {
		p.frame, p.built = p.options.Frame(now), now
	}
	frame := p.frame
	p.app.QueueUpdateDraw(func() {
		defer p.ui.guard()
		p.ui.apply(frame, now)
		then()
		p.due, _ = p.ui.watch.Due(now)
		p.expires = time.Time{}
		if p.ui.message != "" {
			p.expires = p.ui.expires
		}
	})
	p.lastDrawn = time.Now()
	if p.ttyWrapper != nil {
		p.ttyWrapper.mark()
	}
}

// stale reports whether the frame has expired without a notification. Under a flood of log lines, the timer alone would never
// fire.
func (p *pump) stale() bool { return p.options.Now().Sub(p.built) >= p.frame.View.Refresh }

// next returns the time for which the drawn frame stays valid without a change of state.
func (p *pump) next() time.Duration {
	for _, r := range p.frame.View.Rows {
		if r.Status == view.Updating && !p.options.Past { // a past session has no running updates
			return spinnerStep
		}
	}
	next := max(spinnerStep, p.frame.View.Refresh-p.options.Now().Sub(p.built))
	if p.due > 0 {
		next = min(next, max(p.due, spinnerStep))
	}
	if !p.expires.IsZero() { // a moment later: it stays until after its end
		next = min(next, max(p.expires.Sub(p.options.Now()), 0)+spinnerStep)
	}
	return next
}
