package deploy

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestSharedReads asks at several times, and counts the requests. Each takes a second.
func TestSharedReads(t *testing.T) {
	for _, tc := range []struct {
		name string
		age  time.Duration
		asks []time.Duration
		want int
	}{
		{"one", 0, []time.Duration{0}, 1},
		{"during a request", 0, []time.Duration{0, 300 * time.Millisecond, 400 * time.Millisecond, 900 * time.Millisecond}, 2},
		{"one after the other", 0, []time.Duration{0, 2 * time.Second, 4 * time.Second}, 3},
		{"an old answer will do", time.Minute, []time.Duration{0, 500 * time.Millisecond, 10 * time.Second}, 1},
		{"a request that began is young enough", 500 * time.Millisecond, []time.Duration{0, 400 * time.Millisecond, 600 * time.Millisecond}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s sharedReads[string, time.Time]
				var mu sync.Mutex
				n := 0
				var all sync.WaitGroup
				for _, at := range tc.asks {
					all.Go(func() {
						time.Sleep(at)
						asked := time.Now()
						sent, err := s.read(t.Context(), "k", tc.age, func(context.Context) (time.Time, error) {
							sent := time.Now()
							time.Sleep(time.Second)
							mu.Lock()
							defer mu.Unlock()
							n++
							return sent, nil
						})
						if err != nil || sent.Before(asked) && asked.Sub(sent) >= tc.age {
							t.Errorf("asked %s, got the answer to a request of %s: %v", asked, sent, err)
						}
					})
				}
				all.Wait()
				if n != tc.want {
					t.Errorf("%d requests, want %d", n, tc.want)
				}
			})
		})
	}
}

// TestSharedReadsOutlastTheirSender: others go on when the one who sends gives up, before or during the request.
func TestSharedReadsOutlastTheirSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sharedReads[string, int]
		send := func(ctx context.Context) (int, error) {
			select {
			case <-time.After(time.Second):
				return 1, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if i%2 == 0 {
					time.AfterFunc(time.Duration(i)*300*time.Millisecond, cancel)
				}
				switch got, err := s.read(ctx, "k", 0, send); {
				case err == nil && got != 1:
					t.Errorf("%d got %d", i, got)
				case err != nil && (i%2 == 1 || !errors.Is(err, context.Canceled)):
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		all.Wait()
	})
}
