package screen

import (
	"context"
	"time"
)

// A terminal answers in the order in which it reads. A frame is followed by a question, and the next frame waits for the
// answer: on a slow line there are then fewer frames, instead of ever more of them on their way. Without this, ssh takes up to
// two megabytes before it makes the writer wait, and a key is answered after all of them.
const (
	askStatus    = "\x1b[5n"
	statusAnswer = "\x1b[0n"
	// paceTime bounds the wait of a frame for the answer to the one before: a line that does not carry a frame in this time is
	// dead or stalled.
	paceTime = 2 * time.Second
	// unanswered is the number of questions without any answer after which a terminal is not asked again.
	unanswered = 2
)

// pace is the state of the questions. The ttyWrapper's lock guards it.
type pace struct {
	open     chan struct{} // closed by the answer to the newest question; nil if none is open
	asked    time.Time
	waiting  int // questions that are not answered yet
	answers  bool
	defeated int // questions that were given up before any answer arrived
}

// mark asks the terminal to say when it has shown everything that was written so far.
func (o *ttyWrapper) mark() {
	o.mu.Lock()
	defer o.mu.Unlock()
	usable := o.open && !o.leaving
	answers := o.can.Colors && o.pace.defeated < unanswered // else the question would be shown, or nothing comes back
	if !usable || !answers {
		return
	}
	if o.pace.open == nil {
		o.pace.open = make(chan struct{})
	}
	o.pace.asked = time.Now()
	o.pace.waiting++
	o.send(askStatus)
}

// shown waits until the terminal has shown the frame of the last question, or has not answered for too long.
func (o *ttyWrapper) shown(ctx context.Context) {
	o.mu.Lock()
	open, left := o.pace.open, paceTime-time.Since(o.pace.asked)
	o.mu.Unlock()
	if open == nil {
		return
	}
	late := time.NewTimer(max(left, 0))
	defer late.Stop()
	select {
	case <-open:
	case <-ctx.Done():
	case <-late.C:
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.pace.open == open {
			o.pace.open, o.pace.waiting = nil, 0
			if !o.pace.answers {
				o.pace.defeated++
			}
		}
	}
}

// answer takes an answer. The ttyWrapper's lock must be held.
func (p *pace) answer() {
	p.answers = true
	if p.waiting = max(0, p.waiting-1); p.waiting == 0 && p.open != nil {
		close(p.open)
		p.open = nil
	}
}
