package k8s

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// script answers requests one after the other; the last answer repeats. An answer is a status, with "/N" for a Retry-After
// of N seconds and a text after a space, or the name of an error.
type script struct {
	mu      sync.Mutex
	answers []string
	bodies  []string
	at      []time.Time
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body := ""
	if req.Body != nil {
		b, _ := io.ReadAll(req.Body)
		body = string(b)
	}
	s.bodies, s.at = append(s.bodies, body), append(s.at, time.Now())
	answer := s.answers[min(len(s.at), len(s.answers))-1]
	switch answer {
	case "refused":
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case "eof":
		return nil, io.EOF
	case "stream":
		return nil, http2.StreamError{StreamID: 1, Code: http2.ErrCodeInternal}
	case "torn", "torn by the stream":
		var cut error = io.ErrUnexpectedEOF
		if answer != "torn" {
			cut = http2.StreamError{StreamID: 1, Code: http2.ErrCodeInternal}
		}
		body := io.MultiReader(strings.NewReader(`{"apiVersion":"v1","ki`), iotest.ErrReader(cut))
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: req, Body: io.NopCloser(body)}, nil
	case "other":
		return nil, errors.New("getting credentials: no")
	}
	status, text, _ := strings.Cut(answer, " ")
	status, after, _ := strings.Cut(status, "/")
	resp := &http.Response{Header: http.Header{"Content-Type": {"application/json"}}, Request: req}
	if _, err := fmt.Sscan(status, &resp.StatusCode); err != nil {
		return nil, err
	}
	if after != "" {
		resp.Header.Set("Retry-After", after)
	}
	if resp.StatusCode == 200 {
		text = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`
	}
	resp.Body = io.NopCloser(strings.NewReader(text))
	return resp, nil
}

// waits are the pauses between the requests, in seconds.
func (s *script) waits() string {
	var out []string
	for i := range s.at[1:] {
		out = append(out, fmt.Sprintf("%g", s.at[i+1].Sub(s.at[i]).Seconds()))
	}
	return strings.Join(out, " ")
}

// TestPatience sends a patch through client-go, which has its own retries.
func TestPatience(t *testing.T) {
	patiently := func(tell func(Wait)) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context { return Patiently(ctx, tell) }
	}
	for _, tc := range []struct {
		name    string
		answers string
		within  time.Duration
		once    bool
		waits   string
		told    string
		err     string
	}{
		{name: "served", answers: "200"},
		{name: "served after a while", answers: "503;429;500 boom;200", waits: "0.5 0.5 2",
			told: "503 Service Unavailable: 0.5s 2/6; 429 Too Many Requests: 0.5s 3/60; 500 Internal Server Error (boom): 2s 4/6"},
		{name: "as long as the server asks", answers: "429/7;503/1;200", waits: "7 1",
			told: "429 Too Many Requests: 7s 2/60; 503 Service Unavailable: 1s 3/6"},
		{name: "refused more often than others are tried", answers: "429/1;429/1;429/1;429/1;429/1;429/1;429/1;200", waits: "1 1 1 1 1 1 1",
			told: "429 Too Many Requests: 1s 2/60; 429 Too Many Requests: 1s 3/60; 429 Too Many Requests: 1s 4/60; 429 Too Many Requests: 1s 5/60; " +
				"429 Too Many Requests: 1s 6/60; 429 Too Many Requests: 1s 7/60; 429 Too Many Requests: 1s 8/60"},
		{name: "never", answers: `500 {"kind":"Status","message":"failed calling webhook"}`, waits: "0.5 1 2 4 8",
			told: "500 Internal Server Error (failed calling webhook): 0.5s 2/6; 500 Internal Server Error (failed calling webhook): 1s 3/6; " +
				"500 Internal Server Error (failed calling webhook): 2s 4/6; 500 Internal Server Error (failed calling webhook): 4s 5/6; " +
				"500 Internal Server Error (failed calling webhook): 8s 6/6",
			err: "the API server answers 500 Internal Server Error (failed calling webhook)"},
		{name: "too long to wait for", answers: "429/60", err: "the API server answers 429 Too Many Requests"},
		{name: "longer than the request may take", answers: "503", within: 5 * time.Second, waits: "0.5 1 2",
			told: "503 Service Unavailable: 0.5s 2/6; 503 Service Unavailable: 1s 3/6; 503 Service Unavailable: 2s 4/6",
			err:  "the API server answers 503 Service Unavailable"},
		{name: "the connection", answers: "refused;eof;200", waits: "0.5 1", told: "connect: connection refused: 0.5s 2/6; EOF: 1s 3/6"},
		{name: "the stream", answers: "stream;200", waits: "0.5", told: "stream error: stream ID 1; INTERNAL_ERROR: 0.5s 2/6"},
		{name: "in the middle of an answer", answers: "torn;torn by the stream;200", waits: "0.5 1",
			told: "unexpected EOF: 0.5s 2/6; stream error: stream ID 1; INTERNAL_ERROR: 1s 3/6"},
		{name: "in the middle of each answer", answers: "torn", within: time.Second, waits: "0.5", told: "unexpected EOF: 0.5s 2/6", err: "unexpected EOF"},
		{name: "what stays wrong", answers: "other", err: "getting credentials: no"},
		{name: "an object that cannot be read", err: "failed to create typed patch object (x/a): .spec.a: field not declared in schema",
			answers: `500 {"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"message":"failed to create typed patch object (x/a): .spec.a: field not declared in schema"}`},
		{name: "refused for good", answers: "422", err: "rejected our request"},
		{name: "at once", answers: "429/3", once: true, err: "the API server answers 429 Too Many Requests"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []string
				over := true
				with := patiently(func(w Wait) {
					if w.Why == "" {
						over = true
						return
					}
					if !over {
						t.Error("a wait began before the last one was over")
					}
					over = false
					told = append(told, fmt.Sprintf("%s: %gs %d/%d", strings.TrimPrefix(w.Why, "the API server answers "), w.For.Seconds(), w.Try, w.Of))
				})
				if tc.once {
					with = AtOnce
				}
				s := &script{answers: strings.Split(tc.answers, ";")}
				c, err := dynamic.NewForConfigAndClient(&rest.Config{Host: "http://api", QPS: -1}, &http.Client{Transport: patient{s}})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(tc.within, time.Hour))
				defer cancel()
				_, err = c.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("x").
					Patch(with(ctx), "a", types.ApplyPatchType, []byte("{}"), metav1.PatchOptions{FieldManager: "hone"})
				text := ""
				var busy *Busy
				switch {
				case errors.As(err, &busy):
					text = busy.Error()
				case err != nil:
					text = err.Error()
				}
				if !strings.Contains(text, tc.err) || (tc.err == "") != (err == nil) {
					t.Errorf("error %q, want %q", text, tc.err)
				}
				if diff := gocmp.Diff(tc.waits, s.waits()); diff != "" {
					t.Errorf("waits (-want +got):\n%s", diff)
				}
				if diff := gocmp.Diff(tc.told, strings.ReplaceAll(strings.Join(told, "; "), "dial: ", "")); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				if !over || slices.ContainsFunc(s.bodies, func(b string) bool { return b != "{}" }) {
					t.Errorf("over %v, bodies %q", over, s.bodies)
				}
			})
		})
	}
}

// TestStreamsPass checks that streams and the answers to a POST are not read ahead.
func TestStreamsPass(t *testing.T) {
	for _, tc := range []struct{ method, url string }{{"GET", "http://api/pods?watch=true"}, {"GET", "http://api/log?follow=true"}, {"POST", "http://api/pods"}} {
		req, err := http.NewRequestWithContext(Patiently(t.Context(), nil), tc.method, tc.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &script{answers: []string{"torn"}}
		resp, err := patient{s}.RoundTrip(req)
		if err != nil {
			t.Fatalf("%s %s: %v", tc.method, tc.url, err)
		}
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) || len(s.at) != 1 {
			t.Errorf("%s %s: %v after %d requests", tc.method, tc.url, err, len(s.at))
		}
		_ = resp.Body.Close()
	}
}

// TestPatienceIsShared checks that requests that wait together are reported once, and that all fail once one has failed
// finally.
func TestPatienceIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		var mu sync.Mutex
		ctx := Patiently(t.Context(), func(w Wait) {
			mu.Lock()
			defer mu.Unlock()
			if w.Why != "" {
				told = append(told, w.String())
			}
		})
		s := &script{answers: []string{"503"}}
		get := func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://api/x", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := patient{s}.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			return err
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if AsBusy(get(ctx)) == nil {
					t.Error("no error")
				}
			})
		}
		all.Wait()
		if len(told) != 5 || told[4] != "the API server answers 503 Service Unavailable: trying again in 8s (6 of 6)" {
			t.Errorf("told %q", told)
		}
		n := len(s.at)
		if err := get(ctx); AsBusy(err) == nil || len(s.at) != n+1 {
			t.Errorf("%v after %d more requests, want one", err, len(s.at)-n)
		}
		ended, cancel := context.WithCancel(Patiently(t.Context(), func(w Wait) {}))
		time.AfterFunc(100*time.Millisecond, cancel)
		if began := time.Now(); get(ended) == nil || time.Since(began) != 100*time.Millisecond {
			t.Errorf("a canceled request took %s", time.Since(began))
		}
	})
}

// TestPersist checks the retries of calls that take no context.
func TestPersist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		answer := func(errs ...error) func() error {
			calls = 0
			return func() error {
				calls++
				return errs[min(calls, len(errs))-1]
			}
		}
		busy := apierrors.NewGenericServerResponse(503, "get", schema.GroupResource{}, "", "starting", 2, true)
		for _, tc := range []struct {
			name  string
			ctx   context.Context
			f     func() error
			calls int
			took  time.Duration
			err   error
		}{
			{"patiently", Patiently(t.Context(), nil), answer(busy, io.EOF, nil), 3, 3 * time.Second, nil},
			{"another error", Patiently(t.Context(), nil), answer(os.ErrNotExist), 1, 0, os.ErrNotExist},
			{"without patience", t.Context(), answer(busy), 1, 0, busy},
		} {
			calls = 0
			began := time.Now()
			if err := Persist(tc.ctx, tc.f); !errors.Is(err, tc.err) || calls != tc.calls || time.Since(began) != tc.took {
				t.Errorf("%s: %v after %d calls in %s", tc.name, err, calls, time.Since(began))
			}
		}
	})
}
