package portforward

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/hone-dev/hone/internal/base/retry"
)

// The pauses between attempts to reach the same pod.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Second
)

var errNoPod = errors.New("no pod")

// carry serves one accepted connection to its end.
func (f *Forward) carry(ctx context.Context, local net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	deadline := time.Now().Add(f.o.Wait)
	remote, target, err := f.reach(ctx, deadline)
	if err != nil {
		reset(local)
		return
	}
	p := &pair{f: f, ctx: ctx, cancel: cancel, deadline: deadline, local: local, remote: remote, target: target}
	if !f.add(p) {
		p.fail()
		return
	}
	defer f.remove(p)
	p.run()
}

// reach connects to the current target. It retries, and switches to a new target at once, until it succeeds or the
// deadline has passed.
func (f *Forward) reach(ctx context.Context, deadline time.Time) (net.Conn, Target, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, deadline, fmt.Errorf("no answer within %s", f.o.Wait))
	defer cancel()
	var last *Target
	pauses := retry.Backoff{First: firstRetry, Most: lastRetry}
	err := errNoPod
	for {
		target, retarget := f.current()
		if target != last {
			last = target
			pauses.Reset()
		}
		wait := forever
		if target != nil {
			var conn net.Conn
			if conn, err = f.dial(ctx, *target, retarget); err == nil {
				return conn, *target, nil
			}
			wait = pauses.Next()
		}
		if !retry.SleepOr(ctx, wait, retarget) {
			return nil, Target{}, err
		}
	}
}

// current returns the target and a channel that is closed when the target changes.
func (f *Forward) current() (*Target, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.target, f.retarget
}

// forever makes a connection without a target wait until there is one, or until its context ends.
const forever time.Duration = math.MaxInt64

// dial makes one attempt, which ends early if the target changes.
func (f *Forward) dial(outer context.Context, t Target, retarget <-chan struct{}) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(outer, f.o.DialTimeout, fmt.Errorf("no answer within %s", f.o.DialTimeout))
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		conn, err := f.d.DialPod(ctx, t.Namespace, t.Pod, t.Port)
		done <- result{conn, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-retarget:
		cancel()
		r = <-done
	}
	switch {
	case r.err == nil:
	case errors.Is(r.err, context.DeadlineExceeded) && outer.Err() != nil && f.failing(t) != nil:
		r.err = f.failing(t) // the lasting failure explains more than the end of the wait
	default:
		if errors.Is(r.err, context.DeadlineExceeded) && context.Cause(ctx) != nil {
			r.err = context.Cause(ctx)
		}
		f.setFailure(t, r.err)
	}
	return r.conn, r.err
}

// failing returns why the last attempt to reach a target failed; nil if it did not.
func (f *Forward) failing(t Target) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.target == nil || *f.target != t {
		return nil
	}
	return f.failure
}

// setFailure records the result of the last attempt, unless the target has changed or the forward is stopping. An open
// connection is no proof of success, because a tunnel notices only later that nothing listens. Success means that the
// pod has sent data or has closed the connection normally.
func (f *Forward) setFailure(t Target, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.target == nil || *f.target != t {
		return
	}
	was, is := "", ""
	if f.failure != nil {
		was = f.failure.Error()
	}
	if err != nil {
		is = err.Error()
	}
	answered := f.answered
	f.answered = err == nil
	if f.failure = err; was != is || answered != f.answered {
		f.notify()
	}
}

// reset closes a connection so that its client sees a failure, not an empty answer.
func reset(c net.Conn) {
	if t, ok := c.(interface{ SetLinger(sec int) error }); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
