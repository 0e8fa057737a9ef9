package rest

import (
	"context"
	"runtime"
)

// turns bounds how many requests work at the same time: half of the processors, so that the loop never has to queue for
// one behind clients, however many there are. Whoever waits for the network holds no turn.
type turns chan struct{}

func newTurns() turns { return make(turns, max(1, runtime.GOMAXPROCS(0)/2)) }

// take waits for a turn, and reports false when ctx was done before.
func (t turns) take(ctx context.Context) bool {
	select {
	case t <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// retake waits for a turn as long as it takes, for somebody who has to give one back.
func (t turns) retake() { t <- struct{}{} }

// leave gives a turn back.
func (t turns) leave() { <-t }
