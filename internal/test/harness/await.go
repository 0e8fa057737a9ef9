package harness

import (
	"context"
	"fmt"
	"time"
)

// Await calls ask until it returns no error, ctx is done or the limit is reached.
func Await(ctx context.Context, limit time.Duration, what string, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, err)
		case <-tick.C:
		}
	}
}

// Sleep waits, and returns earlier, with an error, when ctx is done.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
