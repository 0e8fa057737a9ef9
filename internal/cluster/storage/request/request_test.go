package request

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestRepeated repeats reads after failures that may pass, and writes only if the server is too busy.
func TestRepeated(t *testing.T) {
	for _, c := range []struct {
		method   string
		status   int
		attempts int
		repeated bool
	}{
		{http.MethodGet, http.StatusBadGateway, 2, false},
		{http.MethodPut, http.StatusBadGateway, 1, false},
		{http.MethodGet, http.StatusForbidden, 1, false},
		{http.MethodPut, http.StatusTooManyRequests, 2, false},
		{http.MethodPut, http.StatusServiceUnavailable, 2, true},
	} {
		got := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			got++
			if got == 1 {
				w.WriteHeader(c.status)
			}
		}))
		client := New()
		answer, err := client.Do(t.Context(), Request{Method: c.method, URL: server.URL})
		client.Close()
		server.Close()
		if err != nil || got != c.attempts || answer.Repeated != c.repeated {
			t.Errorf("%s, %d: %d attempts, repeated %v, %v", c.method, c.status, got, answer.Repeated, err)
		}
	}
}

// TestNoConnection repeats a write that never left.
func TestNoConnection(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	tried := 0
	_, err := New().Do(t.Context(), Request{Method: http.MethodPut, URL: server.URL, Prepare: func(*http.Request) error {
		tried++
		return nil
	}})
	if err == nil || tried != attempts {
		t.Errorf("%d attempts, %v", tried, err)
	}
}
