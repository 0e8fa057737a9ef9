// Package command runs the programs that an evaluation starts, remembers the output of those with known inputs, and
// runs these ahead of their turn.
package command

import (
	"context"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
	"github.com/hone-dev/hone/internal/tiltfile/profile"
)

// Runner runs the commands of one evaluation. A command with known inputs does not run if the memo has its answer. Run
// and Keep are for the evaluation's goroutine.
type Runner struct {
	ctx     context.Context
	log     logstore.Logger
	memo    *memo.Memo
	profile *profile.Profiler
	// tiltfile is the path of the root Tiltfile, the key under which the next evaluation finds the commands.
	tiltfile string
	ahead    *ahead
	// known are the commands with known inputs that the evaluation requested.
	known []Command
}

// Start returns a runner, and starts to run those commands with known inputs of the last evaluation whose answers the
// memo does not know. The end of ctx ends all commands. The caller must stop the runner.
func Start(ctx context.Context, log logstore.Logger, m *memo.Memo, p *profile.Profiler, tiltfile string) *Runner {
	last, _ := m.Note(tiltfile).([]Command)
	return &Runner{ctx: ctx, log: log, memo: m, profile: p, tiltfile: tiltfile, ahead: startAhead(ctx, m, last)}
}

// Stop cancels the commands that run ahead and waits for them.
func (r *Runner) Stop() { r.ahead.stop() }

// Keep notes the commands with known inputs for the next evaluation. If this evaluation failed, the ones that it did
// not reach stay noted.
func (r *Runner) Keep(failed bool) {
	r.memo.SetNote(r.tiltfile, func(note any) any {
		if last, _ := note.([]Command); failed && len(last) > len(r.known) {
			return append(slices.Clip(r.known), last[len(r.known):]...)
		}
		return r.known
	})
}

// Run runs a command to its end and returns its standard output. The command is killed with its process group when the
// evaluation is cancelled.
func (r *Runner) Run(c Command) (string, error) {
	if key, err := c.fingerprint(); err == nil {
		return r.runKnown(c, key)
	}
	r.profile.Answered(false)
	return c.run(r.ctx, r.log)
}

// runKnown returns the output of a command whose inputs are known.
func (r *Runner) runKnown(c Command, key string) (string, error) {
	r.known = append(r.known, c)
	if out, ok := r.memo.Get(memo.Key{Kind: memo.Output, Content: key}); ok {
		r.profile.Answered(true)
		return out.(string), nil
	}
	r.profile.Answered(false)
	f := r.ahead.run(r.memo, c, key)
	switch {
	case r.ctx.Err() != nil:
		return "", context.Cause(r.ctx)
	case f.valid:
		return f.out, f.err
	}
	return c.run(r.ctx, r.log)
}
