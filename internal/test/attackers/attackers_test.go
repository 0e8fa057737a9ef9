package attackers

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestEndKeepsWhatWasServed has a session serve the first request of an attack, and ends the attack during the second one.
func TestEndKeepsWhatWasServed(t *testing.T) {
	for _, tc := range []struct {
		attack Attack
		want   string
	}{
		{Attack{Name: "strangers", Once: Strangers}, "no token: GET /api/view: 200 instead of 401: \"the secret\""},
		{Attack{Name: "bodies of 1 GB", Once: EndlessBodies}, "POST /api/trigger, chunked false: was served: 200"},
	} {
		t.Run(tc.attack.Name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var requests atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1) > 1 {
					cancel()
					<-ctx.Done()
					panic(http.ErrAbortHandler)
				}
				both := http.NewResponseController(w)
				check(t, both.EnableFullDuplex())
				_, err := io.WriteString(w, "the secret")
				check(t, err)
				check(t, both.Flush())
				_, _ = io.Copy(io.Discard, r.Body) // until the client has seen the answer
			}))
			defer srv.Close()
			err := tc.attack.Once(ctx, Target{Address: strings.TrimPrefix(srv.URL, "http://"), Token: "a token", Secret: "the secret", Resource: "r"})
			if err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
