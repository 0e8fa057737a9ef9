// Package retry waits between attempts: for a time that a context can cut short, and longer after each failure.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep waits for d. It returns false if ctx is done first.
func Sleep(ctx context.Context, d time.Duration) bool { return SleepOr(ctx, d, nil) }

// SleepOr is Sleep that returns true early if wake is closed or receives a value.
func SleepOr(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-timer.C:
	}
	return true
}

// Backoff computes the pauses between attempts: each is twice as long as the previous one, up to a bound. It belongs to one
// goroutine. The zero value has no pauses.
type Backoff struct {
	// First and Most are the first and the longest pause.
	First, Most time.Duration
	// Jitter is the largest fraction of a pause that is added to it at random, so that clients which failed together do not retry
	// together.
	Jitter float64

	next time.Duration
}

// Next returns the next pause.
func (b *Backoff) Next() time.Duration {
	d := max(b.next, b.First)
	b.next = min(2*d, b.Most)
	return d + rand.N(time.Duration(float64(d)*b.Jitter)+1)
}

// Reset makes the next pause the first one again. Call it after a success.
func (b *Backoff) Reset() { b.next = 0 }

// Sleep waits for the next pause. It returns false if ctx is done first.
func (b *Backoff) Sleep(ctx context.Context) bool { return Sleep(ctx, b.Next()) }
