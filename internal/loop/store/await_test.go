package store

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestAwait notes the second at which a waiting subscriber continues: when its condition holds, or when its pause is over.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		s := New(f.schema)
		begun := time.Now()
		var seconds []int
		counted := func(n int) func(View) bool {
			return func(v View) bool { return f.counters.In(v).Value("a").N >= n }
		}
		note := func(ok bool) {
			if ok {
				seconds = append(seconds, int(time.Since(begun).Seconds()))
			} else {
				seconds = append(seconds, -1)
			}
		}
		waiter := sub{contract: Contract{Name: "waiter", Doc: "Waits.", Inputs: Reads(f.counters, f.jobs), Feedback: "test"}}
		waiter.run = func(ctx context.Context, rt *Runtime) error {
			note(rt.Await(ctx, counted(0)))               // at once
			note(rt.Await(ctx, counted(2)))               // at the second change
			note(rt.Pause(ctx, time.Minute, counted(3)))  // at the third
			note(rt.Pause(ctx, time.Minute, counted(99))) // when the time is over
			note(rt.Await(ctx, counted(99)))              // never
			note(rt.Pause(ctx, time.Hour, counted(99)))   // nor this
			return nil
		}
		stop := start(t, s, sub{contract: Contract{Name: "writer", Doc: "Writes.", Outputs: Emits(added{}, hired{}, left{})}}, waiter)
		for range 4 {
			time.Sleep(10 * time.Second)
			s.Dispatch(added{"a"})
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{0, 20, 30, 90, -1, -1}, seconds); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
