package session

import (
	"context"
	"errors"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client"
)

// brokenOff is the error of a session's stream that ended prematurely.
type brokenOff struct{ error }

var _ error = brokenOff{}

// Unwrap returns the cause.
func (b brokenOff) Unwrap() error { return b.error }

// ended explains why the session's stream for a verb ended before its last line.
func ended(ctx context.Context, c *client.Client, verb string, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.As(err, new(brokenOff)):
		return err
	}
	if _, silent := c.View(ctx); silent == nil {
		return problem.Wrap(err, c.Where()+" has stopped sending, because its output was not read for a while", "write it into a file: hone "+verb+" > FILE")
	}
	return problem.Wrap(err, c.Where()+" is gone without having ended: it was killed, or it crashed", "hone sessions shows what still runs")
}
