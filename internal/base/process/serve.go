package process

import (
	"context"
	"fmt"
	"time"
)

// Started is the event that a server has started.
type Started struct{ PID int }

// Exited is the event that a server and all processes that it started are gone.
type Exited struct {
	// Code and Signal are as in ExitError.
	Code   int
	Signal string
}

// Events are the callbacks of a server, called on the goroutine that called Serve. Nil functions are skipped.
type Events struct {
	// Started is called once, as soon as the process exists.
	Started func(Started)
	// Exited is called once after Started, however the server ended.
	Exited func(Exited)
	// Message receives a message for the user while a server takes long to stop.
	Message func(text string)
}

// Serve runs a server until ctx ends, then stops it and returns nil. A server that ends on its own yields an
// *ExitError, even if its code is zero. A server that cannot be started yields an error as from Run. When Serve
// returns, the server and all processes that it has started have ended, daemons included, and all output is written, so the
// next instance can be started immediately.
func Serve(ctx context.Context, c Command, on Events) error {
	if c.Grace == 0 {
		c.Grace = DefaultServeGrace
	}
	c.mark = theGuard.serverMark()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the end of ctx is the ordinary end
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

// patience holds the times after SIGTERM at which a server that does not stop is reported.
var patience = []time.Duration{1500 * time.Millisecond, 10 * time.Second}

func impatient(c Command, waited, grace time.Duration) string {
	return fmt.Sprintf("Waiting for %q to stop: asked %s ago, will be killed in %s", c.String(), waited, grace-waited)
}
