// Package operationtest is the conformance suite of operation.Runtime, and a runtime in memory that passes it.
//
// # Concurrency
//
// The suite calls a runtime for all items at the same time, from goroutines that end before the call returns. A World may be used by
// any number of them.
package operationtest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/pkg/api"
)

// Subject is a runtime with the place where its items are.
type Subject interface {
	// Runtime returns the runtime as a process that starts now would make it, for the same declared items.
	Runtime(t *testing.T) operation.Runtime
	// Identity returns a text that differs between an item and the same item made again; empty if the item is not there.
	Identity(t *testing.T, item int) string
}

// Traits are the permitted differences between runtimes.
type Traits struct {
	// Items is the number of items, none of which needs another.
	Items int
	// Repeats is set if a second Apply repeats the work: a command runs again.
	Repeats bool
	// Stays is set if Delete leaves the item where it is: others may use it.
	Stays bool
	// Silent is set if a plan never has a line for an item.
	Silent bool
}

// Run checks the contract of operation.Runtime. start returns a subject that has none of its items yet.
func Run(t *testing.T, traits Traits, start func(t *testing.T) Subject) {
	t.Run("a plan changes nothing", func(t *testing.T) {
		s := start(t)
		for i, step := range plan(t, s, traits) {
			switch {
			case traits.Silent != (step == nil):
				t.Errorf("item %d, which is not there: %+v", i, step)
			case step != nil && step.Action != api.ActionCreate && step.Action != api.ActionRun:
				t.Errorf("item %d, which is not there, is neither made nor run: %+v", i, step)
			}
		}
		absent(t, s, traits)
	})
	t.Run("what is applied is there, and stays as it is when it is applied again", func(t *testing.T) {
		s := start(t)
		apply(t, s, traits)
		before := present(t, s, traits)
		for i, step := range plan(t, s, traits) {
			if step != nil && step.Action != api.ActionUnchanged && step.Action != api.ActionRun {
				t.Errorf("item %d, which is as it is declared: %+v", i, step)
			}
		}
		apply(t, s, traits)
		for i, is := range present(t, s, traits) {
			if is != before[i] && !traits.Repeats {
				t.Errorf("item %d was %s, and is %s", i, before[i], is)
			}
		}
	})
	t.Run("a later process deletes it", func(t *testing.T) {
		s := start(t)
		apply(t, s, traits)
		remove(t, s, traits)
		if traits.Stays {
			present(t, s, traits)
		} else {
			absent(t, s, traits)
		}
	})
	t.Run("what is not there is deleted", func(t *testing.T) {
		s := start(t)
		remove(t, s, traits)
		absent(t, s, traits)
	})
	t.Run("what was recorded and never applied is deleted", func(t *testing.T) {
		s := start(t)
		if err := s.Runtime(t).Record(t.Context(), all(traits)); err != nil {
			t.Fatal(err)
		}
		remove(t, s, traits)
		absent(t, s, traits)
	})
	t.Run("it comes back", func(t *testing.T) {
		s := start(t)
		apply(t, s, traits)
		before := present(t, s, traits)
		remove(t, s, traits)
		apply(t, s, traits)
		for i, is := range present(t, s, traits) {
			if is == before[i] && !traits.Stays {
				t.Errorf("item %d is still %s", i, is)
			}
		}
	})
	t.Run("nothing is applied once the operation is over", func(t *testing.T) {
		s := start(t)
		r := s.Runtime(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errOver)
		for i := range traits.Items {
			if err := r.Apply(ctx, i); err == nil {
				t.Errorf("item %d was applied", i)
			}
		}
		absent(t, s, traits)
	})
}

var errOver = errors.New("the operation is over")

// all returns the numbers of all items.
func all(traits Traits) []int {
	out := make([]int, traits.Items)
	for i := range out {
		out[i] = i
	}
	return out
}

// each calls do for all items at the same time, and returns when all calls have.
func each(t *testing.T, traits Traits, do func(item int) error) {
	t.Helper()
	errs := make([]error, traits.Items)
	var calls sync.WaitGroup
	for i := range traits.Items {
		calls.Go(func() { errs[i] = do(i) })
	}
	calls.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("item %d: %v", i, err)
		}
	}
}

func plan(t *testing.T, s Subject, traits Traits) []*api.PlanStep {
	t.Helper()
	r, steps := s.Runtime(t), make([]*api.PlanStep, traits.Items)
	each(t, traits, func(i int) (err error) {
		steps[i], err = r.Plan(t.Context(), i)
		return err
	})
	return steps
}

// apply does the same as Operation.Apply.
func apply(t *testing.T, s Subject, traits Traits) {
	t.Helper()
	r := s.Runtime(t)
	if err := r.Record(t.Context(), all(traits)); err != nil {
		t.Fatal(err)
	}
	each(t, traits, func(i int) error { return r.Apply(t.Context(), i) })
	each(t, traits, func(i int) error { return r.Await(t.Context(), i, operation.Ready) })
}

// remove does the same as Operation.Delete.
func remove(t *testing.T, s Subject, traits Traits) {
	t.Helper()
	r := s.Runtime(t)
	each(t, traits, func(i int) error { return r.Delete(t.Context(), i) })
	each(t, traits, func(i int) error { return r.Await(t.Context(), i, operation.Released) })
	each(t, traits, func(i int) error { return r.Await(t.Context(), i, operation.Gone) })
}

func present(t *testing.T, s Subject, traits Traits) []string {
	t.Helper()
	out := make([]string, traits.Items)
	for i := range out {
		if out[i] = s.Identity(t, i); out[i] == "" {
			t.Errorf("item %d is not there", i)
		}
	}
	return out
}

func absent(t *testing.T, s Subject, traits Traits) {
	t.Helper()
	for i := range traits.Items {
		if is := s.Identity(t, i); is != "" {
			t.Errorf("item %d is there: %s", i, is)
		}
	}
}
