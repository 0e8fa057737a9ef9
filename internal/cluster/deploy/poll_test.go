package deploy

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

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
