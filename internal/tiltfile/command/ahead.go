package command

import (
	"context"
	"runtime"
	"sync"

	"github.com/hone-dev/hone/internal/tiltfile/memo"
)

// ahead runs commands with known inputs (see Inputs) for an evaluation, each of them once. It runs the commands of the
// last evaluation ahead of their turn, several at once.
//
// That is safe: such a command only reads, and its answer is used only if all its inputs are the same when its turn
// comes, and were still the same when it had ended. The command of local() may do anything, so it never runs ahead.
type ahead struct {
	ctx     context.Context
	cancel  context.CancelFunc
	workers sync.WaitGroup

	mu sync.Mutex // guards flights
	// flights are the commands that are running or have run, by fingerprint.
	flights map[string]*flight
}

// flight is a run of a command. out, err and valid may be read once done is closed; valid means that its inputs stayed
// the same while it ran.
type flight struct {
	done  chan struct{}
	out   string
	err   error
	valid bool
}

// startAhead starts to run the commands whose answers the memo does not know.
func startAhead(ctx context.Context, m *memo.Memo, commands []Command) *ahead {
	a := &ahead{flights: map[string]*flight{}}
	a.ctx, a.cancel = context.WithCancel(ctx)
	queue := make(chan Command, len(commands))
	for _, c := range commands {
		queue <- c
	}
	close(queue)
	for range min(runtime.GOMAXPROCS(0), len(commands)) {
		a.workers.Go(func() {
			for c := range queue {
				if a.ctx.Err() != nil {
					return
				}
				key, err := c.fingerprint()
				if err != nil {
					continue
				}
				if _, known := m.Get(memo.Key{Kind: memo.Output, Content: key}); !known {
					a.run(m, c, key)
				}
			}
		})
	}
	return a
}

// stop cancels the commands that are still running and waits for them.
func (a *ahead) stop() {
	a.cancel()
	a.workers.Wait()
}

// run returns the run of a command with that fingerprint, once it has ended: an earlier run, or a new one.
func (a *ahead) run(m *memo.Memo, c Command, key string) *flight {
	a.mu.Lock()
	f := a.flights[key]
	if f != nil {
		a.mu.Unlock()
		<-f.done
		return f
	}
	f = &flight{done: make(chan struct{})}
	a.flights[key] = f
	a.mu.Unlock()
	defer close(f.done)
	f.out, f.err = c.run(a.ctx, nil)
	after, err := c.fingerprint()
	f.valid = err == nil && after == key
	if f.valid && f.err == nil {
		m.Put(memo.Key{Kind: memo.Output, Content: key}, f.out, 2*len(f.out))
	}
	return f
}
