package deploy

import (
	"context"
	"sync"
	"time"
)

// sharedReads lets those who want to read the same at the same time share one request. It is safe for use by several goroutines.
type sharedReads[K comparable, T any] struct {
	mu sync.Mutex
	// last are the requests that were sent last, next the ones that will be sent once these are answered. Guarded by mu.
	last, next map[K]*sharedRead[T]
}

// sharedRead is one request.
type sharedRead[T any] struct {
	began time.Time     // guarded by the mutex of sharedReads
	over  chan struct{} // closed when the fields below are set
	got   T
	err   error
	// given is set if the one who sent it has given up: the error concerns nobody else.
	given bool
}

// read returns the answer to a request that was sent after the call, or less than the given age before. It sends one if there is none.
func (s *sharedReads[K, T]) read(ctx context.Context, key K, age time.Duration, send func(context.Context) (T, error)) (T, error) {
	for {
		f, before, mine := s.join(key, age)
		if mine {
			s.lead(ctx, key, f, before, send)
		}
		select {
		case <-f.over:
		case <-ctx.Done():
			return *new(T), context.Cause(ctx)
		}
		if !f.given || ctx.Err() != nil {
			return f.got, f.err
		}
	}
}

// join returns the request to wait for. If mine is set, the caller sends it, after the one before is over.
func (s *sharedReads[K, T]) join(key K, age time.Duration) (f, before *sharedRead[T], mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.last[key]
	if before != nil && time.Since(before.began) < age {
		return before, nil, false
	}
	if f = s.next[key]; f != nil {
		return f, nil, false
	}
	if s.next == nil {
		s.last, s.next = map[K]*sharedRead[T]{}, map[K]*sharedRead[T]{}
	}
	f = &sharedRead[T]{over: make(chan struct{})}
	s.next[key] = f
	return f, before, true
}

func (s *sharedReads[K, T]) lead(ctx context.Context, key K, f, before *sharedRead[T], send func(context.Context) (T, error)) {
	defer close(f.over)
	if before != nil {
		select {
		case <-before.over:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	delete(s.next, key)
	f.began = time.Now()
	if ctx.Err() == nil {
		s.last[key] = f
	}
	s.mu.Unlock()
	if f.err = context.Cause(ctx); f.err == nil {
		f.got, f.err = send(ctx)
	}
	f.given = ctx.Err() != nil
}
