// Package workers turns a set of things that should be running into running goroutines, one per key.
//
// # Concurrency
//
// A Set owns the goroutines that it starts. Reconcile and Stop are called by one goroutine, the Set's owner; Stop cancels
// all and waits. The functions that run must return soon after their context is done.
package workers

import (
	"context"
	"iter"
	"sync"
)

// Set keeps one goroutine running per key.
type Set[K comparable, S any] struct {
	ctx     context.Context
	run     func(ctx context.Context, key K, spec S)
	same    func(a, b S) bool
	running map[K]*one[S]
	all     sync.WaitGroup
}

type one[S any] struct {
	spec   S
	cancel context.CancelFunc
	done   chan struct{}
}

// NewSet returns an empty set whose goroutines execute run. Same says whether a goroutine that runs for spec a will do
// for spec b; a function that returns by itself is started again only when its key went away or its spec changed.
func NewSet[K comparable, S any](ctx context.Context, same func(a, b S) bool, run func(ctx context.Context, key K, spec S)) *Set[K, S] {
	return &Set[K, S]{ctx: ctx, run: run, same: same, running: map[K]*one[S]{}}
}

// Reconcile makes the set run what is desired: it stops what is not, or is in another way, waits for that to end, and then
// starts what is missing.
func (s *Set[K, S]) Reconcile(desired map[K]S) {
	var ending []*one[S]
	for key, r := range s.running {
		if want, ok := desired[key]; !ok || !s.same(r.spec, want) {
			r.cancel()
			ending = append(ending, r)
			delete(s.running, key)
		}
	}
	for _, r := range ending {
		<-r.done
	}
	for key, spec := range desired {
		if s.running[key] == nil {
			s.start(key, spec)
		}
	}
}

// Keys returns the keys of m as what Reconcile takes where a key says it all.
func Keys[K comparable, V any](m map[K]V) map[K]struct{} {
	out := make(map[K]struct{}, len(m))
	for key := range m {
		out[key] = struct{}{}
	}
	return out
}

// Has reports whether a goroutine was started for the key and has not been stopped.
func (s *Set[K, S]) Has(key K) bool { return s.running[key] != nil }

// Running yields the keys and specs whose goroutines have not ended by themselves.
func (s *Set[K, S]) Running() iter.Seq2[K, S] {
	return func(yield func(K, S) bool) {
		for key, r := range s.running {
			select {
			case <-r.done:
			default:
				if !yield(key, r.spec) {
					return
				}
			}
		}
	}
}

// Await waits until the goroutines of all matching keys have ended by themselves, or ctx is done.
func (s *Set[K, S]) Await(ctx context.Context, match func(K, S) bool) {
	for key, r := range s.running {
		if !match(key, r.spec) {
			continue
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return
		}
	}
}

// Len returns the number of keys.
func (s *Set[K, S]) Len() int { return len(s.running) }

func (s *Set[K, S]) start(key K, spec S) {
	ctx, cancel := context.WithCancel(s.ctx)
	r := &one[S]{spec: spec, cancel: cancel, done: make(chan struct{})}
	s.running[key] = r
	s.all.Add(1)
	go func() {
		defer s.all.Done()
		defer close(r.done)
		defer cancel()
		s.run(ctx, key, spec)
	}()
}

// Stop cancels all goroutines and waits until they have ended.
func (s *Set[K, S]) Stop() {
	for _, r := range s.running {
		r.cancel()
	}
	clear(s.running)
	s.all.Wait()
}
