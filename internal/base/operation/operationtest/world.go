package operationtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/pkg/api"
)

// World is a place in memory, and the runtime of the items in it. The zero value is empty.
type World struct {
	mu    sync.Mutex
	made  int         // guarded by mu
	items map[int]int // guarded by mu; the number under which each was made
}

var (
	_ operation.Runtime = (*World)(nil)
	_ Subject           = (*World)(nil)
)

// Runtime implements Subject: a process holds nothing that the world does not.
func (w *World) Runtime(*testing.T) operation.Runtime { return w }

// Identity implements Subject.
func (w *World) Identity(_ *testing.T, item int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, ok := w.items[item]; ok {
		return fmt.Sprint("made as ", n)
	}
	return ""
}

// Plan implements operation.Runtime.
func (w *World) Plan(_ context.Context, item int) (*api.PlanStep, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.items[item]; ok {
		return &api.PlanStep{Action: api.ActionUnchanged}, nil
	}
	return &api.PlanStep{Action: api.ActionCreate}, nil
}

// Record implements operation.Runtime.
func (w *World) Record(ctx context.Context, _ []int) error { return context.Cause(ctx) }

// Apply implements operation.Runtime.
func (w *World) Apply(ctx context.Context, item int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.items == nil {
		w.items = map[int]int{}
	}
	if _, ok := w.items[item]; !ok {
		w.made++
		w.items[item] = w.made
	}
	return nil
}

// Delete implements operation.Runtime.
func (w *World) Delete(ctx context.Context, item int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.items, item)
	return context.Cause(ctx)
}

// Await implements operation.Runtime.
func (w *World) Await(ctx context.Context, _ int, _ operation.State) error { return context.Cause(ctx) }
