package store

import (
	"context"
	"time"
)

// Await waits until ok holds for a snapshot, which may be the present one. It returns false if ctx is done first. Like a receive
// from Wake, it is only for the goroutine of Run.
func (rt *Runtime) Await(ctx context.Context, ok func(View) bool) bool {
	for !ok(rt.View()) {
		select {
		case <-rt.Wake():
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// Pause waits for d. It returns early when a declared table has changed and early holds for the new snapshot. It returns false
// if ctx is done first. Like a receive from Wake, it is only for the goroutine of Run.
func (rt *Runtime) Pause(ctx context.Context, d time.Duration, early func(View) bool) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-rt.Wake():
			if early(rt.View()) {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}
