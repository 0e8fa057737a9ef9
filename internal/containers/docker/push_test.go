package docker

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
)

// TestEngineGoes breaks the connection while the engine pushes or builds: if the engine is gone, the error says so;
// otherwise it is a passing one.
func TestEngineGoes(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		for name, work := range map[string]func(e *Engine) error{
			"push": func(e *Engine) error { return e.Push(t.Context(), "localhost:5000/a:1", nil, nil) },
			"build": func(e *Engine) error {
				_, err := e.Build(t.Context(), BuildRequest{Contents: "FROM scratch"})
				return err
			},
		} {
			t.Run(fmt.Sprint(name, " gone=", gone), func(t *testing.T) {
				socket := filepath.Join(t.TempDir(), "engine.sock")
				l, err := net.Listen("unix", socket)
				if err != nil {
					t.Fatal(err)
				}
				srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Api-Version", "1.41")
					if !strings.HasSuffix(r.URL.Path, "/push") && !strings.HasSuffix(r.URL.Path, "/build") {
						return
					}
					_, _ = fmt.Fprint(w, `{"status":"Prepa`)
					_ = http.NewResponseController(w).Flush()
					if gone {
						_ = l.Close()
					}
					panic(http.ErrAbortHandler)
				})}}
				srv.Start()
				defer srv.Close()
				e, err := New(Endpoint{Host: "unix://" + socket})
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				err = work(e)
				if IsUnreachable(err) != gone || IsPassing(err) == gone {
					t.Errorf("unreachable %v, passing %v: %v", IsUnreachable(err), IsPassing(err), err)
				}
			})
		}
	}
}

// TestPushAgain makes an engine report errors of its registry: internal failures of the registry are retried, others
// are not.
func TestPushAgain(t *testing.T) {
	t.Parallel()
	const (
		old    = "received unexpected HTTP status: 500 Internal Server Error"
		recent = "failed to do request: unexpected status from HEAD request to http://localhost:5000/v2/a/blobs/sha256:1: 503 Service Unavailable"
		denied = "denied: requested access to the resource is denied"
	)
	for _, tt := range []struct {
		answers []string // "" is success
		pushes  int
		text    string
	}{
		{[]string{""}, 1, ""},
		{[]string{old, ""}, 2, ""},
		{[]string{recent, old, ""}, 3, ""},
		{[]string{old, old, old, ""}, 3, "500 Internal Server Error"},
		{[]string{old, denied, ""}, 2, "docker login"},
		{[]string{"unexpected status from HEAD request to http://localhost:5000/v2/a: 404 Not Found"}, 1, "404"},
	} {
		t.Run(fmt.Sprint(tt.answers), func(t *testing.T) {
			t.Parallel()
			socket := filepath.Join(t.TempDir(), "engine.sock")
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			pushes := 0
			srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/push") {
					w.Header().Set("Api-Version", "1.41")
					return
				}
				if answer := tt.answers[pushes]; answer != "" {
					_, _ = fmt.Fprintf(w, `{"errorDetail":{"message":%q},"error":%q}`, answer, answer)
				}
				pushes++
			})}}
			srv.Start()
			defer srv.Close()
			e, err := New(Endpoint{Host: "unix://" + socket})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			err = e.Push(t.Context(), "localhost:5000/a:1", nil, nil)
			if (err != nil) != (tt.text != "") || err != nil && !strings.Contains(problem.Text(err), tt.text) || pushes != tt.pushes {
				t.Errorf("%d pushes, %v; want %d, %q", pushes, err, tt.pushes, tt.text)
			}
			if IsPassing(err) != (err != nil) || IsUnreachable(err) {
				t.Errorf("not a failure that may pass, or that of the engine: %v", err)
			}
		})
	}
}

// TestPushBytes checks which share of an image's bytes counts as sent.
func TestPushBytes(t *testing.T) {
	at := func(id string, current, total int64) message {
		m := message{ID: id, Status: "Pushing"}
		m.Progress = &struct {
			Current int64 `json:"current"`
			Total   int64 `json:"total"`
		}{current, total}
		return m
	}
	var p pushBytes
	for i, tc := range []struct {
		m       message
		percent int
		grown   bool
	}{
		{message{Status: "The push refers to repository [a]"}, 0, false},
		{message{ID: "a", Status: "Preparing"}, 0, false},
		{message{ID: "old", Status: "Layer already exists"}, 0, false},
		{message{ID: "empty", Status: "Pushed"}, 0, false},
		{at("a", 0, 100), 0, false},
		{at("a", 40, 100), 40, true},
		{at("b", 0, 300), 40, false}, // now 10 %
		{at("b", 30, 300), 40, false},
		{at("b", 200, 300), 60, true},
		{at("b", 900, 300), 85, true}, // more than all
		{message{ID: "a", Status: "Pushed"}, 100, true},
		{at("c", 5, 0), 100, false},
		{message{ID: "b", Status: "Pushed"}, 100, false},
	} {
		if percent, grown := p.take(tc.m); percent != tc.percent || grown != tc.grown {
			t.Errorf("message %d: %d, %v, want %d, %v", i, percent, grown, tc.percent, tc.grown)
		}
	}
}
