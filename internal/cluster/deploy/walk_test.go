package deploy

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWalkIsDeterministicOneAtATime(t *testing.T) {
	var got []string
	add := func(name string, after ...int) node {
		return node{name: name, after: after, run: func(context.Context) error { got = append(got, name); return nil }}
	}
	walk(t.Context(), []node{add("a", 2), add("b"), add("c"), add("d", 1)}, 1)
	if diff := cmp.Diff([]string{"b", "c", "a", "d"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWalkStopsWhenCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		wait := func(ctx context.Context) error { <-ctx.Done(); time.Sleep(time.Second); return ctx.Err() }
		start := time.Now()
		errs := walk(ctx, []node{{name: "a", run: wait}, {name: "b", run: wait}, {name: "c", after: []int{0}, run: wait}}, 1)
		if time.Since(start) != 2*time.Second {
			t.Errorf("took %s: it must wait for what it started", time.Since(start))
		}
		var blocked *blockedError
		if !errors.Is(errs[0], context.Canceled) || !errors.Is(errs[1], context.Canceled) || !errors.As(errs[2], &blocked) {
			t.Errorf("errors %v", errs)
		}
	})
}

func TestWalkFreeNodesDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := func(context.Context) error { time.Sleep(time.Second); return nil }
		nodes := []node{{run: pause, free: true}, {run: pause, free: true}, {run: pause}, {run: pause}}
		start := time.Now()
		walk(t.Context(), nodes, 1)
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, n := time.Now(), 0
		err := poll(t.Context(), time.Minute, func(context.Context) (bool, error) { n++; return n == 5, nil })
		if err != nil || time.Since(start) > 100*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		start = time.Now()
		err = poll(t.Context(), time.Minute, func(context.Context) (bool, error) { return false, nil })
		if !errors.Is(err, errNotYet) || time.Since(start) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		boom := errors.New("boom")
		if err = poll(t.Context(), time.Second, func(context.Context) (bool, error) { return false, boom }); !errors.Is(err, boom) {
			t.Errorf("got %v", err)
		}
	})
}

func TestBoundedSaysHowToRaiseTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := bounded(t.Context(), 30*time.Second, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		want := "no answer from the API server within 30s: context deadline exceeded"
		if err.Error() != want {
			t.Errorf("got %v", err)
		}
		if got := mendOf(err); got != "if the API server is merely slow, give it more time in the Tiltfile:\nupdate_settings(k8s_upsert_timeout_secs=60)" {
			t.Errorf("mend %q", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := bounded(ctx, time.Second, func(ctx context.Context) error { return ctx.Err() }); !errors.Is(err, context.Canceled) || mendOf(err) != "" {
			t.Errorf("got %v", err)
		}
	})
}

// TestWalkGoesOnWhileNodesWait starts other nodes when running ones only wait.
func TestWalkGoesOnWhileNodesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began []time.Duration
		start := time.Now()
		run := func(ctx context.Context) error {
			began = append(began, time.Since(start))
			time.Sleep(time.Second)
			idle(ctx)
			idle(ctx)
			time.Sleep(time.Hour)
			return nil
		}
		walk(t.Context(), []node{{run: run}, {run: run}, {run: run}}, 1)
		if diff := cmp.Diff([]time.Duration{0, time.Second, 2 * time.Second}, began); diff != "" || time.Since(start) != time.Hour+3*time.Second {
			t.Errorf("%s; it took %s", diff, time.Since(start))
		}
	})
}
