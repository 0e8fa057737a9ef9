package commandcontroller

import (
	"context"
	"sync"

	"github.com/hone-dev/hone/internal/subscribers/workers"
)

// crew keeps a worker per command. Its methods are for one goroutine; none of them waits, but stop.
type crew struct {
	ctx     context.Context
	cancel  context.CancelFunc
	execute func(ctx context.Context, r run)
	workers map[string]*worker
	all     sync.WaitGroup
}

// worker runs one command, one run at a time.
type worker struct {
	// mail holds the newest wish, nil for none; it is closed when the worker is dismissed.
	mail chan *run
	// left is called after the last run; set before mail is closed.
	left func()
}

func newCrew(ctx context.Context, execute func(context.Context, run)) *crew {
	c := &crew{execute: execute, workers: map[string]*worker{}}
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

// want tells the worker of a command which run it should be in, nil for none. A worker that was dismissed has left before
// a command of its name is wanted again.
func (c *crew) want(command string, r *run) {
	w := c.workers[command]
	if w == nil || w.left != nil {
		if r == nil {
			return
		}
		w = &worker{mail: make(chan *run, 1)}
		c.workers[command] = w
		c.all.Go(func() { w.work(c.ctx, c.execute) })
	}
	w.put(r)
}

// put replaces the wish in the mail. Only the crew's goroutine puts, so that the slot is free once it was emptied.
func (w *worker) put(r *run) {
	w.drop()
	w.mail <- r
}

// drop takes the wish out of the mail.
func (w *worker) drop() {
	select {
	case <-w.mail:
	default:
	}
}

// dismiss ends the run of a command and calls left once, from any goroutine, when it is over. It may be called again
// meanwhile.
func (c *crew) dismiss(command string, left func()) {
	w := c.workers[command]
	switch {
	case w == nil:
		left()
	case w.left == nil:
		w.left = left
		w.drop()
		close(w.mail)
	}
}

// forget drops the workers of commands that do not exist any more.
func (c *crew) forget(exists func(command string) bool) {
	for command, w := range c.workers {
		if w.left != nil && !exists(command) {
			delete(c.workers, command)
		}
	}
}

// stop ends all runs and waits.
func (c *crew) stop() {
	c.cancel()
	c.all.Wait()
}

// work makes the running process follow the mail until ctx is done or the mail is closed.
func (w *worker) work(ctx context.Context, execute func(context.Context, run)) {
	runs := workers.NewSet(ctx, same, func(ctx context.Context, _ struct{}, r run) { execute(ctx, r) })
	defer runs.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case wish, ok := <-w.mail:
			if !ok {
				runs.Stop()
				w.left()
				return
			}
			desired := map[struct{}]run{}
			if wish != nil {
				desired[struct{}{}] = *wish
			}
			runs.Reconcile(desired)
		}
	}
}
