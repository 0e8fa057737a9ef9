package process

import (
	"context"
	"fmt"
	"time"
)

// Started says that a server runs.
type Started struct{ PID int }

// Exited says that a server and everything that it started is gone.
type Exited struct {
	// Code and Signal are as in ExitError.
	Code   int
	Signal string
}

// Events are what a server reports, each from the goroutine that called Serve. Nil functions are left out.
type Events struct {
	// Started is called once, as soon as the process exists.
	Started func(Started)
	// Exited is called once after Started, however the server ended.
	Exited func(Exited)
	// Message gets a line for people while a server takes its time to stop.
	Message func(text string)
}

// Serve runs a server until ctx ends, then stops it, and returns nil. A server that ends by itself yields an
// *ExitError, also when its code is zero; one that cannot be started an error as from Run. In every case the server,
// its group and its output are done when Serve returns, so the next instance can be started at once.
func Serve(ctx context.Context, c Command, on Events) error {
	if c.Grace == 0 {
		c.Grace = DefaultServeGrace
	}
	if ctx.Err() != nil {
		return nil
	}
	r, err := start(c)
	if err != nil {
		return err
	}
	if on.Started != nil {
		on.Started(Started{PID: r.cmd.Process.Pid})
	}
	stopped := false
	select {
	case <-r.exited:
	case <-ctx.Done():
		stopped = true
		if err := r.stop(c.Grace, on.Message); err != nil {
			return err
		}
	}
	outputErr := r.finish()
	exit := r.exit()
	if on.Exited != nil {
		on.Exited(Exited(exit))
	}
	if !stopped {
		return &exit
	}
	return outputErr
}

// patience is when a server that does not stop is mentioned, counted from SIGTERM.
var patience = []time.Duration{1500 * time.Millisecond, 10 * time.Second}

func impatient(c Command, waited, grace time.Duration) string {
	return fmt.Sprintf("Waiting for %q to stop: asked %s ago, will be killed in %s", c.String(), waited, grace-waited)
}
