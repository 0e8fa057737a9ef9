package k8s

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// office is a server with clerks, behind a line. Each request takes one of them for its work, after those that came before. It refuses
// every request that would be the first in a number of them, if that is set.
type office struct {
	clerks      chan struct{}
	work, trip  time.Duration
	refuseEvery int
	// lag is the time that the client's goroutines need to come to a request, and again to its answer, once they are many.
	lag time.Duration

	mu           sync.Mutex
	came, inside int
	most         int // the most requests at the server at a time
}

func (o *office) RoundTrip(req *http.Request) (*http.Response, error) {
	trace := httptrace.ContextClientTrace(req.Context())
	o.mu.Lock()
	late := o.came > 20
	o.mu.Unlock()
	if late {
		time.Sleep(o.lag)
		defer time.Sleep(o.lag)
	}
	if trace != nil { // none for a watch
		trace.WroteRequest(httptrace.WroteRequestInfo{})
		defer trace.GotFirstResponseByte()
	}
	time.Sleep(o.trip / 2)
	defer time.Sleep(o.trip / 2)
	o.mu.Lock()
	o.came++
	refused := o.refuseEvery > 0 && o.came%o.refuseEvery == 0
	o.inside++
	o.most = max(o.most, o.inside)
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		o.inside--
		o.mu.Unlock()
	}()
	if refused {
		return &http.Response{StatusCode: http.StatusTooManyRequests, Body: http.NoBody}, nil
	}
	o.clerks <- struct{}{}
	time.Sleep(o.work)
	<-o.clerks
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

// TestCrowd sends 1,000 writes at once. The time that they take is virtual; within is its ratio to the shortest possible one.
func TestCrowd(t *testing.T) {
	for _, tc := range []struct {
		name        string
		clerks      int
		work, trip  time.Duration
		refuseEvery int
		within      float64
		most        int
		lag         time.Duration
	}{
		{"near", 2, 3 * time.Millisecond, 0, 0, 1.01, 24, 0},
		{"near, and the client is busy", 2, 3 * time.Millisecond, 0, 0, 1.05, 24, 10 * time.Millisecond},
		{"near, many processors", 16, 3 * time.Millisecond, 100 * time.Microsecond, 0, 1.2, 64, 0},
		{"far", 2, 3 * time.Millisecond, 50 * time.Millisecond, 0, 1.5, 30, 0},
		{"further", 4, 3 * time.Millisecond, 200 * time.Millisecond, 0, 5, 40, 0},
		{"slow webhooks", 2, 300 * time.Millisecond, 50 * time.Millisecond, 0, 1.05, 24, 0},
		{"half is refused", 2, 3 * time.Millisecond, 0, 2, 3, 8, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &office{clerks: make(chan struct{}, tc.clerks), work: tc.work, trip: tc.trip, refuseEvery: tc.refuseEvery, lag: tc.lag}
				c := newCrowd(server)
				const n = 1000
				began := time.Now()
				var all sync.WaitGroup
				for i := range n {
					all.Go(func() {
						for {
							req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, fmt.Sprintf("http://api/%d", i), nil)
							if err != nil {
								t.Error(err)
								return
							}
							if resp, err := c.RoundTrip(req); err != nil || resp.StatusCode == http.StatusOK {
								if err != nil {
									t.Error(err)
								}
								return
							}
						}
					})
				}
				all.Wait()
				floor := tc.trip + n*tc.work/time.Duration(tc.clerks)
				if got := float64(time.Since(began)) / float64(floor); got > tc.within {
					t.Errorf("%.2f times the shortest time %s, want at most %.2f; the window is %.1f", got, floor, tc.within, c.window)
				}
				if server.most > tc.most {
					t.Errorf("%d requests at the server at a time, want at most %d", server.most, tc.most)
				}
				if c.on != 0 || len(c.queue) != 0 {
					t.Errorf("%d requests are on their way, and %d wait", c.on, len(c.queue))
				}
			})
		})
	}
}

// TestCrowdLetsGo cancels requests that wait for their turn, at every moment of it.
func TestCrowdLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &office{clerks: make(chan struct{}, 1), work: time.Millisecond}
		c := newCrowd(server)
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, http.MethodPatch, "http://api/", nil)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := c.RoundTrip(req); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if c.on != 0 || len(c.queue) != 0 {
			t.Errorf("%d requests are on their way, and %d wait", c.on, len(c.queue))
		}
	})
}

// TestCrowdLetsWatchesPass opens more streams than the window is large.
func TestCrowdLetsWatchesPass(t *testing.T) {
	c := newCrowd(&office{clerks: make(chan struct{}, 100)})
	c.window = 0
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://api/pods?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.RoundTrip(req); err != nil {
		t.Error(err)
	}
}
