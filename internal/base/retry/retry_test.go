package retry

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestSleep(t *testing.T) {
	for name, tc := range map[string]struct {
		sleep func(ctx context.Context) bool
		want  bool
		after time.Duration
	}{
		"to its end":                   {func(ctx context.Context) bool { return Sleep(ctx, time.Minute) }, true, time.Minute},
		"to the end of the context":    {func(ctx context.Context) bool { return Sleep(ctx, time.Hour) }, false, 10 * time.Minute},
		"no longer than it is woken":   {func(ctx context.Context) bool { return SleepOr(ctx, time.Hour, after(time.Second)) }, true, time.Second},
		"while nobody wakes it":        {func(ctx context.Context) bool { return SleepOr(ctx, time.Minute, make(chan struct{})) }, true, time.Minute},
		"not at all for a past moment": {func(ctx context.Context) bool { return Sleep(ctx, -time.Second) }, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				start := time.Now()
				if got := tc.sleep(ctx); got != tc.want || time.Since(start) != tc.after {
					t.Errorf("slept %s and returned %v, want %s and %v", time.Since(start), got, tc.after, tc.want)
				}
			})
		})
	}
}

// after returns a channel that is closed after a time.
func after(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(d, func() { close(c) })
	return c
}

func TestBackoffDoublesUpToItsBoundAndBeginsAgain(t *testing.T) {
	b := Backoff{First: 100 * time.Millisecond, Most: 500 * time.Millisecond}
	for range 2 {
		var got []time.Duration
		for range 5 {
			got = append(got, b.Next()/time.Millisecond)
		}
		if want := []time.Duration{100, 200, 400, 500, 500}; !slices.Equal(got, want) {
			t.Errorf("the pauses in milliseconds are %d, want %d", got, want)
		}
		b.Reset()
	}
}

func TestBackoffSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Backoff{First: time.Second, Most: time.Minute}
		start := time.Now()
		for range 3 {
			if !b.Sleep(t.Context()) {
				t.Fatal("the context has not ended")
			}
		}
		if got := time.Since(start); got != 7*time.Second {
			t.Errorf("three pauses took %s, want 1 s + 2 s + 4 s", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if b.Sleep(ctx) {
			t.Error("it slept although the context has ended")
		}
	})
}

func TestJitterOnlyAddsItsPart(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		b := Backoff{First: time.Second, Most: time.Second, Jitter: 0.25}
		d := b.Next()
		if d < time.Second || d > 1250*time.Millisecond {
			t.Fatalf("a pause of %s, want 1 s and up to a quarter more", d)
		}
		seen[d] = true
	}
	if len(seen) < 2 {
		t.Error("all pauses are equal")
	}
}
