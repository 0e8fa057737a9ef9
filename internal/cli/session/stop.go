package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
)

func newStop(g *command.Global) *cobra.Command {
	var f flags.Session
	var all bool
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "stop",
		Short: "Stop a running session",
		Long: `Ends the session, as leaving its screen does, and waits until it has ended. The objects that it deployed stay: hone down
deletes them.`,
		Example: "  hone stop\n  hone stop --session shop\n  hone stop --all",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all {
				return stopAll(cmd.Context(), g.Stdout, timeout)
			}
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			return stopOne(cmd.Context(), g.Stdout, session, timeout)
		},
	}
	f.Add(c)
	c.Flags().BoolVar(&all, "all", false, "stop all sessions on this machine")
	c.Flags().DurationVar(&timeout, "timeout", time.Minute, "how long to wait for a session to end")
	return c
}

// stopAll ends all sessions at once.
func stopAll(ctx context.Context, w io.Writer, timeout time.Duration) error {
	living, err := flags.Registry().List(ctx)
	if err != nil {
		return err
	}
	if len(living) == 0 {
		fmt.Fprintln(w, "No session is running.")
		return nil
	}
	errs := make([]error, len(living))
	var stopping sync.WaitGroup
	out := &lockedWriter{w: w}
	for i, s := range living {
		stopping.Go(func() { errs[i] = stopOne(ctx, out, client.Over(s), timeout) })
	}
	stopping.Wait()
	return errors.Join(errs...)
}

// stopOne ends a session and waits until it is gone.
func stopOne(ctx context.Context, w io.Writer, c *client.Client, timeout time.Duration) error {
	if c.Session.Name == "" {
		if err := c.Stop(ctx); err != nil {
			return err
		}
		fmt.Fprintf(w, "The session at port %d is ending.\n", c.Session.Port)
		return nil
	}
	if err := flags.End(ctx, c, timeout, func() { fmt.Fprintf(w, "Session %s is ending…\n", c.Session.Name) }); err != nil {
		return err
	}
	fmt.Fprintf(w, "Session %s has ended.\n", c.Session.Name)
	return nil
}

// lockedWriter lets several goroutines write whole lines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
