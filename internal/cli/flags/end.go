package flags

import (
	"context"
	"fmt"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client"
)

// End ends a session that the registry knows, in the same way as leaving its screen, and waits until it has ended. ending is called
// once the session has accepted the request.
func End(ctx context.Context, c *client.Client, timeout time.Duration, ending func()) error {
	if err := c.Stop(ctx); err != nil {
		return err
	}
	ending()
	s := c.Session
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := Registry().Wait(waiting, s)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case waiting.Err() != nil:
		return problem.New(fmt.Sprintf("session %s has not ended within %s", s.Name, timeout),
			fmt.Sprintf("wait longer with hone stop --timeout, or end it at once: kill -9 %d; the next hone cleans up after it", s.PID))
	}
	return err
}
