package turn

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestTurns has many work at once: never more than there are turns do.
func TestTurns(t *testing.T) {
	turns := New()
	if n := max(1, runtime.GOMAXPROCS(0)/2); cap(turns) != n {
		t.Fatalf("%d turns, want %d", cap(turns), n)
	}
	var now, most atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 100 {
				turns.Do(t.Context(), func() {
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
	if got := most.Load(); got < 1 || got > int64(cap(turns)) {
		t.Errorf("%d worked at a time, want at most %d", got, cap(turns))
	}
}

// TestGoneWhileWaiting leaves the queue with its context, and a panic gives the turn back.
func TestGoneWhileWaiting(t *testing.T) {
	turns := make(Turns, 1)
	func() {
		defer func() { _ = recover() }()
		turns.Do(t.Context(), func() { panic("a bug") })
	}()
	if !turns.Take(t.Context()) {
		t.Fatal("the turn of one that has panicked is taken still")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if turns.Do(ctx, func() { t.Error("worked without a turn") }) {
		t.Error("a turn was given twice")
	}
	turns.Leave()
	if !turns.Do(t.Context(), func() {}) {
		t.Error("no turn though nobody has one")
	}
}
