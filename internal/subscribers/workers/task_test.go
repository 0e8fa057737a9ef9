package workers

import (
	"context"
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
		for k := range set.Running() {
			t.Errorf("%s still runs", k)
		}
		step("desired in another way", map[string]int{"a": 3}, "start a")
		set.Stop()
	})
}
