package process

import (
	"context"
	"fmt"
)

// Run runs a command and returns when the command and its group have ended and all output is written. If ctx ends
// first, the group is stopped and the error wraps the error of ctx. A command that fails yields an *ExitError. A
// command that cannot be started yields a problem.Problem if the user can fix it.
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
