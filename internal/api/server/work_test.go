package server

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestWorkIsBounded has many requests work at once: never more than half the number of processors do.
func TestWorkIsBounded(t *testing.T) {
	s := New(Options{})
	var now, most atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 100 {
				s.work(t.Context(), func() {
					n := now.Add(1)
					for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
					}
					runtime.Gosched()
					now.Add(-1)
				})
			}
		})
	}
	all.Wait()
	if got, want := most.Load(), int64(max(1, runtime.GOMAXPROCS(0)/2)); got < 1 || got > want {
		t.Errorf("%d worked at a time, want at most %d", got, want)
	}
}

// TestWorkIsGivenUp checks that waiting ends with the context, and that a panic releases the limit.
func TestWorkIsGivenUp(t *testing.T) {
	s := New(Options{})
	for range 2 * runtime.GOMAXPROCS(0) {
		func() {
			defer func() { _ = recover() }()
			s.work(t.Context(), func() { panic("a bug") })
		}()
	}
	n := int64(max(1, runtime.GOMAXPROCS(0)/2))
	if !s.working.TryAcquire(n) {
		t.Fatal("the limit is still held after a panic")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s.work(ctx, func() { t.Error("worked beyond the limit") }) {
		t.Error("work was done beyond the limit")
	}
	s.working.Release(n)
	if !s.work(t.Context(), func() {}) {
		t.Error("no work although the limit is free")
	}
}
