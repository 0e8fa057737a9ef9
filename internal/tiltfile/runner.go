package tiltfile

import (
	"context"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// runner runs the commands of one evaluation. A command with known inputs does not run where the memo has its answer.
// run and keep are for the evaluation's goroutine.
type runner struct {
	ctx     context.Context
	log     logstore.Logger
	memo    *Memo
	profile *profiler
	// tiltfile is the path of the root Tiltfile, by which the next evaluation finds the commands.
	tiltfile string
	ahead    *ahead
	// known are the commands with known inputs that were asked for.
	known []command
}

// startRunner returns a runner, and begins to run the known commands of the last evaluation whose answers the memo does not
// know. ctx ends all commands. The caller stops the runner.
func startRunner(ctx context.Context, log logstore.Logger, m *Memo, p *profiler, tiltfile string) *runner {
	last, _ := m.note(tiltfile).([]command)
	return &runner{ctx: ctx, log: log, memo: m, profile: p, tiltfile: tiltfile, ahead: startAhead(ctx, m, last)}
}

// stop ends what still runs and waits for it.
func (r *runner) stop() { r.ahead.stop() }

// keep notes the known commands for the next evaluation. Of an evaluation that failed those are kept as well that it did not
// come to.
func (r *runner) keep(failed bool) {
	r.memo.setNote(r.tiltfile, func(note any) any {
		if last, _ := note.([]command); failed && len(last) > len(r.known) {
			return append(slices.Clip(r.known), last[len(r.known):]...)
		}
		return r.known
	})
}

// run runs a command to its end and returns what it wrote to standard output. It is killed with its process group when the
// evaluation is cancelled.
func (r *runner) run(c command) (string, error) {
	if key, err := c.fingerprint(); err == nil {
		return r.runKnown(c, key)
	}
	r.profile.answered(false)
	return c.run(r.ctx, r.log)
}

// runKnown returns the answer of a command whose inputs are known.
func (r *runner) runKnown(c command, key string) (string, error) {
	r.known = append(r.known, c)
	if out, ok := r.memo.get(memoKey{kind: memoOutput, content: key}); ok {
		r.profile.answered(true)
		return out.(string), nil
	}
	r.profile.answered(false)
	f := r.ahead.run(r.memo, c, key)
	switch {
	case r.ctx.Err() != nil:
		return "", context.Cause(r.ctx)
	case f.valid:
		return f.out, f.err
	}
	return c.run(r.ctx, r.log)
}
