package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
)

// TestRun is the part of a request that only a test has.
type TestRun struct {
	// Holds reports whether a verdict that the test gives now is about the newest saved files, as far as they are known.
	Holds func() bool
}

// errVoid ends a run whose verdict would be about older files.
var errVoid = errors.New("what the test depends on has changed meanwhile")

// test runs the command of a test. It begins and ends with all earlier changes of files known, so that no run is wasted on older files, and
// its verdict is dropped if a file was saved before it ended. A change that becomes known later makes the verdict old.
func (l Local) test(ctx context.Context, req Request) (Result, error) {
	settled(ctx, req)
	if req.Test != nil && !req.Test.Holds() {
		return Result{}, errVoid
	}
	limited := ctx
	if limit := req.Manifest.Local.Test.Timeout; limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("it has not ended after %s, the timeout_secs of the test", limit))
		defer cancel()
	}
	result, err := l.run(limited, req)
	if cause := context.Cause(limited); err != nil && cause != nil && ctx.Err() == nil {
		err = fmt.Errorf("command %s was ended: %w", req.Manifest.Local.Update.Quoted(), cause)
	}
	settled(ctx, req)
	return result, err
}
