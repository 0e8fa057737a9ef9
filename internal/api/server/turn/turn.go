// Package turn bounds how many requests work at the same time, so that the session's loop never has to queue for a
// processor behind clients, however many there are.
package turn

import (
	"context"
	"runtime"
)

// Turns are what requests take while they make what they send, and do not hold while they wait for the network or for
// news. Safe for concurrent use.
type Turns chan struct{}

// New returns as many turns as half of the processors, at least one.
func New() Turns { return make(Turns, max(1, runtime.GOMAXPROCS(0)/2)) }

// Take waits for a turn, and reports false when ctx was done before.
func (t Turns) Take(ctx context.Context) bool {
	select {
	case t <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Retake waits for a turn as long as it takes, for a caller who has to give one back.
func (t Turns) Retake() { t <- struct{}{} }

// Leave gives a turn back.
func (t Turns) Leave() { <-t }

// Do works when it is its turn, and reports false when ctx was done before.
func (t Turns) Do(ctx context.Context, work func()) bool {
	if !t.Take(ctx) {
		return false
	}
	defer t.Leave()
	work()
	return true
}
