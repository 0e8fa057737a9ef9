package tiltfile

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// Evaluated is an evaluation that a command has made before its session begins. It becomes the session's first one: the session
// carries out the evaluation that the user has seen, and the commands of the Tiltfile run once.
type Evaluated struct {
	Result Result
	said   recorder
	taken  atomic.Bool
}

// Evaluate evaluates a Tiltfile, and records the output. Warnings are part of the result, and are not logged.
func Evaluate(ctx context.Context, o Options) *Evaluated {
	e := &Evaluated{}
	o.Logger, o.WarnLater = &e.said, true
	e.Result = Load(ctx, o)
	return e
}

// Load passes the evaluation on to the first caller, with its secrets and its output. For every other caller it evaluates, as
// the function Load does, and so it does for nil.
func (e *Evaluated) Load(ctx context.Context, o Options) Result {
	if e == nil || e.taken.Swap(true) {
		return Load(ctx, o)
	}
	if o.OnSecrets != nil {
		o.OnSecrets(e.Result.Secrets)
	}
	e.said.replay(o.Logger)
	return e.Result
}

// recorder is a logger that keeps all that it is given.
type recorder struct {
	mu  sync.Mutex
	all []func(logstore.Logger) // guarded by mu
}

var _ logstore.Logger = (*recorder)(nil)

// Write implements logstore.Logger.
func (r *recorder) Write(level logstore.Level, text string) {
	r.keep(func(to logstore.Logger) { to.Write(level, text) })
}

// Progress implements logstore.Logger.
func (r *recorder) Progress(id, text string, done bool) {
	r.keep(func(to logstore.Logger) { to.Progress(id, text, done) })
}

func (r *recorder) keep(call func(logstore.Logger)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, call)
}

func (r *recorder) replay(to logstore.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, call := range r.all {
		call(to)
	}
}
