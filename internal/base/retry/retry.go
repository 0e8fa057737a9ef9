// Package retry waits between attempts: for a time that a context may cut short, and for longer after each failure.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep waits for d, or until ctx is done: then it returns false.
func Sleep(ctx context.Context, d time.Duration) bool { return SleepOr(ctx, d, nil) }

// SleepOr is Sleep that ends early, and returns true, when wake is closed or yields a value.
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

// Backoff are the pauses between attempts at one thing: each is twice as long as the one before, up to a bound. It belongs to
// one goroutine. The zero value has no pauses.
type Backoff struct {
	// First and Most are the first and the longest pause.
	First, Most time.Duration
	// Jitter is the part of a pause by which it is made longer at random, at most: it keeps those apart that failed together.
	Jitter float64

	next time.Duration
}

// Next returns the next pause.
func (b *Backoff) Next() time.Duration {
	d := max(b.next, b.First)
	b.next = min(2*d, b.Most)
	return d + rand.N(time.Duration(float64(d)*b.Jitter)+1)
}

// Reset makes the next pause the first one: after a success.
func (b *Backoff) Reset() { b.next = 0 }

// Sleep waits for the next pause, or until ctx is done: then it returns false.
func (b *Backoff) Sleep(ctx context.Context) bool { return Sleep(ctx, b.Next()) }
