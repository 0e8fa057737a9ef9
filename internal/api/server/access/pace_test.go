package access

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestPace has many requests at once: those that are refused wait, those that are served do not, and nothing waits once the
// server stops.
func TestPace(t *testing.T) {
	for _, tc := range []struct {
		name     string
		code, n  int
		stopping bool
		took     time.Duration
	}{
		{"served", 200, 1000, false, 0},
		{"nothing said", 0, 1000, false, 0},
		{"not there", 404, 1000, false, 0},
		{"meanwhile changed", 409, 1000, false, 0},
		{"our own fault", 503, 1000, false, 0},
		{"a few refused", 401, refusalsAtOnce, false, 0},
		{"strangers", 401, refusalsAtOnce + 3*refusals, false, 3 * time.Second},
		{"foreign pages", 403, refusalsAtOnce + 3*refusals, false, 3 * time.Second},
		{"malformed", 400, refusalsAtOnce + 3*refusals, false, 3 * time.Second},
		{"too large", 413, refusalsAtOnce + 3*refusals, false, 3 * time.Second},
		{"strangers at the end", 401, refusalsAtOnce + 3*refusals, true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stop, cancel := context.WithCancel(t.Context())
				defer cancel()
				h := Pace(stop, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if tc.code != 0 {
						w.WriteHeader(tc.code)
					}
				}))
				if tc.stopping {
					cancel()
				}
				began := time.Now()
				var all sync.WaitGroup
				for range tc.n {
					all.Go(func() { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)) })
				}
				all.Wait()
				if took := time.Since(began); took != tc.took {
					t.Errorf("took %s, want %s", took, tc.took)
				}
			})
		})
	}
}
