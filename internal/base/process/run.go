package process

import (
	"context"
	"fmt"
)

// Run runs a command to its end and returns when it, its group and its output are done. When ctx ends first, the group
// is stopped and the error wraps that of ctx. A command that does not succeed yields an *ExitError, one that cannot be
// started a problem.Problem where the user can do something about it.
func Run(ctx context.Context, c Command) error {
	if c.Grace == 0 {
		c.Grace = DefaultRunGrace
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("run %q: %w", c.String(), err)
	}
	r, err := start(c)
	if err != nil {
		return err
	}
	var stopped error
	select {
	case <-r.exited:
	case <-ctx.Done():
		stopped = ctx.Err()
		if err := r.stop(c.Grace, nil); err != nil {
			return err
		}
	}
	outputErr := r.finish()
	if stopped != nil {
		return fmt.Errorf("run %q: %w", c.String(), stopped)
	}
	if exit := r.exit(); exit.Code != 0 {
		return &exit
	}
	return outputErr
}
