package processcontroller

import (
	"context"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// keeper runs the server of one resource, one instance after the other: the next begins when all of the one before is
// gone, since they use the same port. Its methods are for Subscriber.Run; what it does, it does on its own goroutine.
type keeper struct {
	cancel context.CancelFunc
	wishes chan wish     // the newest wish, until the keeper takes it
	done   chan struct{} // closed when the keeper has left and its server is gone
	left   bool
}

// hire starts a keeper. Ended is poked when it has left.
func (s *Subscriber) hire(ctx context.Context, rt *store.Runtime, resource model.ManifestName, ended chan<- struct{}) *keeper {
	ctx, cancel := context.WithCancel(ctx)
	k := &keeper{cancel: cancel, wishes: make(chan wish, 1), done: make(chan struct{})}
	tell := func(p state.Process) { rt.Dispatch(state.ProcessChanged{Process: p}) }
	go func() {
		defer func() {
			close(k.done)
			select {
			case ended <- struct{}{}:
			default: // the end of another one wakes Run too
			}
		}()
		defer cancel()
		k.keep(ctx, func(w wish) *instance { return s.start(resource, w, tell) })
	}()
	return k
}

// wish says which server should run. It does not block; a keeper that has been sent away does not listen.
func (k *keeper) wish(w wish) {
	if k.left {
		return
	}
	select {
	case <-k.wishes: // nobody has taken the one before
	default:
	}
	k.wishes <- w
}

// leave sends the keeper away: it stops its server, then closes done.
func (k *keeper) leave() {
	k.left = true
	k.cancel()
}

// keep makes the instance that runs the one that is wished, until ctx is done.
func (k *keeper) keep(ctx context.Context, start func(wish) *instance) {
	var current *instance
	for {
		select {
		case <-ctx.Done():
			if current != nil {
				current.stop()
			}
			return
		case w := <-k.wishes:
			if current != nil && current.wish.build == w.build {
				current.probing.change(w.probe)
				continue
			}
			if current != nil {
				current.stop()
				w = k.newest(w) // stopping may have taken half a minute
			}
			if ctx.Err() != nil {
				return
			}
			current = start(w)
		}
	}
}

func (k *keeper) newest(w wish) wish {
	select {
	case newer := <-k.wishes:
		return newer
	default:
		return w
	}
}
