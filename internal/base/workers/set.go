// Package workers keeps one goroutine running for each key of a set that may change at any time.
//
// # Concurrency
//
// A Set owns the goroutines that it starts; Stop cancels all of them and waits. Its methods may be called from any goroutine, but
// not from those that it runs. The functions that run must return soon after their context is done.
package workers

import (
	"context"
	"sync"
)

// Set keeps one goroutine running per key. When the spec of a key changes, its next goroutine starts after the last one has
// ended.
type Set[K comparable, S any] struct {
	ctx   context.Context
	run   func(ctx context.Context, key K, spec S)
	same  func(a, b S) bool
	ended chan struct{}
	all   sync.WaitGroup

	mu      sync.Mutex
	running map[K]*worker[S] // by the key that is wanted
	ending  map[K]*worker[S] // the newest worker of a key that is wanted no longer, until it has ended
}

type worker[S any] struct {
	spec   S
	cancel context.CancelFunc
	done   chan struct{}
}

// NewSet returns an empty set whose goroutines execute run. Same reports whether a goroutine that runs for spec a also serves
// spec b. A function that returns on its own is started again only after its key was dropped or its spec changed.
func NewSet[K comparable, S any](ctx context.Context, same func(a, b S) bool, run func(ctx context.Context, key K, spec S)) *Set[K, S] {
	return &Set[K, S]{ctx: ctx, run: run, same: same, ended: make(chan struct{}, 1), running: map[K]*worker[S]{}, ending: map[K]*worker[S]{}}
}

// Want makes the set run the desired items. It cancels items that are not desired, or are desired with another spec, and returns at
// once.
func (s *Set[K, S]) Want(desired map[K]S) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel(desired)
	s.start(desired)
}

// Reconcile is Want for goroutines that hold something which others of the set may need, such as a port: it waits until all
// cancelled goroutines have ended, and only then starts the missing ones.
func (s *Set[K, S]) Reconcile(desired map[K]S) {
	s.mu.Lock()
	s.cancel(desired)
	var ending []*worker[S]
	for _, w := range s.ending {
		ending = append(ending, w)
	}
	s.mu.Unlock()
	for _, w := range ending {
		<-w.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start(desired)
}

// Change is Reconcile for a part of a large set: it drops some keys, waits until their goroutines have ended, and only then starts those
// of add that are missing.
func (s *Set[K, S]) Change(drop []K, add map[K]S) {
	s.mu.Lock()
	var ending []*worker[S]
	for _, key := range drop {
		if w := s.running[key]; w != nil {
			s.end(key, w)
			ending = append(ending, w)
		}
	}
	s.mu.Unlock()
	for _, w := range ending {
		<-w.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start(add)
}

// cancel ends the workers that are not desired. mu is held.
func (s *Set[K, S]) cancel(desired map[K]S) {
	for key, w := range s.running {
		if want, ok := desired[key]; !ok || !s.same(w.spec, want) {
			s.end(key, w)
		}
	}
}

// end ends a worker. mu is held.
func (s *Set[K, S]) end(key K, w *worker[S]) {
	w.cancel()
	delete(s.running, key)
	select {
	case <-w.done: // it had ended on its own
	default:
		s.ending[key] = w
	}
}

// start starts the workers that are missing, each after the last one of its key. mu is held.
func (s *Set[K, S]) start(desired map[K]S) {
	for key, spec := range desired {
		if s.running[key] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(s.ctx)
		w := &worker[S]{spec: spec, cancel: cancel, done: make(chan struct{})}
		before := s.ending[key]
		s.running[key] = w
		s.all.Go(func() {
			defer s.leave(key, w)
			defer cancel()
			if before != nil {
				<-before.done
			}
			if ctx.Err() == nil {
				s.run(ctx, key, spec)
			}
		})
	}
}

// leave notes that a worker has ended.
func (s *Set[K, S]) leave(key K, w *worker[S]) {
	s.mu.Lock()
	close(w.done)
	if s.ending[key] == w {
		delete(s.ending, key)
	}
	s.mu.Unlock()
	select {
	case s.ended <- struct{}{}:
	default: // the end of another one has not been received yet
	}
}

// Ended receives a value after goroutines have ended, at least one for all that ended since the last one was received.
func (s *Set[K, S]) Ended() <-chan struct{} { return s.ended }

// Has reports whether a key is desired, or its goroutine is still ending.
func (s *Set[K, S]) Has(key K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[key] != nil || s.ending[key] != nil
}

// Runs reports whether a key is desired, and its goroutine has not ended.
func (s *Set[K, S]) Runs(key K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.running[key]
	if w == nil {
		return false
	}
	select {
	case <-w.done:
		return false
	default:
		return true
	}
}

// Await waits until the goroutines of all desired keys that match have ended, or ctx is done.
func (s *Set[K, S]) Await(ctx context.Context, match func(K, S) bool) {
	var waiting []*worker[S]
	s.mu.Lock()
	for key, w := range s.running {
		if match(key, w.spec) {
			waiting = append(waiting, w)
		}
	}
	s.mu.Unlock()
	for _, w := range waiting {
		select {
		case <-w.done:
		case <-ctx.Done():
			return
		}
	}
}

// Stop cancels all goroutines and waits until they have ended.
func (s *Set[K, S]) Stop() {
	s.mu.Lock()
	s.cancel(nil)
	s.mu.Unlock()
	s.all.Wait()
}
