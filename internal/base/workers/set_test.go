package workers

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReconcile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var log []string
		say := func(s string) { mu.Lock(); defer mu.Unlock(); log = append(log, s) }
		finish := make(chan struct{})
		set := NewSet(t.Context(), func(a, b int) bool { return a == b }, func(ctx context.Context, key string, spec int) {
			say("start " + key)
			select {
			case <-ctx.Done():
				say("stop " + key)
			case <-finish:
			}
		})
		step := func(what string, desired map[string]int, want ...string) {
			t.Helper()
			log = nil
			set.Reconcile(desired)
			synctest.Wait()
			slices.Sort(log)
			if diff := cmp.Diff(want, log); diff != "" {
				t.Errorf("%s:\n%s", what, diff)
			}
		}
		step("new", map[string]int{"a": 1, "b": 1}, "start a", "start b")
		step("same", map[string]int{"a": 1, "b": 1})
		step("changed and gone", map[string]int{"a": 2}, "start a", "stop a", "stop b")
		close(finish)
		synctest.Wait()
		step("ended by itself, still desired", map[string]int{"a": 2})
		if set.Runs("a") {
			t.Error("it still runs")
		}
		step("desired in another way", map[string]int{"a": 3}, "start a")
		set.Stop()
	})
}

// TestChange changes a part of the set: the others go on, and a key that ends and begins at once begins after it has ended.
func TestChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var log []string
		set := NewSet(t.Context(), func(int, int) bool { return true }, func(ctx context.Context, key string, spec int) {
			say := func(what string) { mu.Lock(); defer mu.Unlock(); log = append(log, fmt.Sprint(what, " ", key, spec)) }
			say("start")
			if key == "short" {
				return
			}
			<-ctx.Done()
			say("stop")
		})
		step := func(what string, drop []string, add map[string]int, want ...string) {
			t.Helper()
			log = nil
			set.Change(drop, add)
			synctest.Wait()
			slices.Sort(log)
			if diff := cmp.Diff(want, log); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		step("two", nil, map[string]int{"a": 1, "short": 1}, "start a1", "start short1")
		if !set.Runs("a") || set.Runs("short") || set.Runs("none") {
			t.Errorf("a runs: %t, short: %t, none: %t", set.Runs("a"), set.Runs("short"), set.Runs("none"))
		}
		step("one more", nil, map[string]int{"a": 2, "b": 1, "short": 2}, "start b1")
		step("one ends, and one begins once more", []string{"b", "short", "none"}, map[string]int{"short": 3}, "start short3", "stop b1")
		step("one is replaced", []string{"a"}, map[string]int{"a": 3}, "start a3", "stop a1")
		set.Stop()
	})
}

// TestWant changes the desired set while a goroutine takes its time to end: the next one of its key waits for it, others do
// not, and a spec that was overtaken meanwhile never runs.
func TestWant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var log []string
		say := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, fmt.Sprintf(format, args...))
		}
		let := make(chan struct{})
		set := NewSet(t.Context(), func(a, b int) bool { return a == b }, func(ctx context.Context, key string, spec int) {
			say("start %s%d", key, spec)
			if key == "short" {
				return
			}
			<-ctx.Done()
			if key == "slow" && spec == 1 {
				<-let
			}
			say("stop %s%d", key, spec)
		})
		step := func(what string, desired map[string]int, want ...string) {
			t.Helper()
			log = nil
			set.Want(desired)
			synctest.Wait()
			slices.Sort(log)
			if diff := cmp.Diff(want, log); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		step("new", map[string]int{"slow": 1, "quick": 1}, "start quick1", "start slow1")
		step("both change", map[string]int{"slow": 2, "quick": 2}, "start quick2", "stop quick1")
		step("changed while it waits", map[string]int{"slow": 3}, "stop quick2")
		step("dropped while it waits", nil)
		if !set.Has("slow") || set.Has("quick") {
			t.Errorf("slow is there: %t, quick: %t", set.Has("slow"), set.Has("quick"))
		}
		step("wanted again", map[string]int{"slow": 4})
		for len(set.Ended()) > 0 {
			<-set.Ended()
		}
		log = nil
		close(let)
		synctest.Wait()
		if diff := cmp.Diff([]string{"stop slow1", "start slow4"}, log); diff != "" {
			t.Errorf("the first has ended (-want +got):\n%s", diff)
		}
		<-set.Ended()
		step("one that returns on its own", map[string]int{"slow": 4, "short": 1}, "start short1")
		if !set.Has("short") {
			t.Error("one that has returned is not there although it is wanted")
		}
		step("dropped", nil, "stop slow4")
		if set.Has("slow") || set.Has("short") {
			t.Errorf("still there: slow %t, short %t", set.Has("slow"), set.Has("short"))
		}
		set.Stop()
	})
}
