package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newPair returns a gateway in front of a server, and a client that goes through it.
func newPair(t *testing.T, h http.Handler) (*Gateway, *http.Client) {
	t.Helper()
	up := httptest.NewUnstartedServer(h)
	up.EnableHTTP2 = true
	up.StartTLS()
	u, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(up.Certificate())
	g, err := NewGateway(Upstream{URL: u, TLS: &tls.Config{RootCAs: pool}, Token: "key"}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(g.CA)
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}, ForceAttemptHTTP2: true}}
	t.Cleanup(func() {
		c.CloseIdleConnections()
		g.Close()
		up.Close()
	})
	return g, c
}

func TestFaults(t *testing.T) {
	var served atomic.Int64
	g, c := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		fmt.Fprint(w, r.Method, " ", r.URL.Path, " ", r.Header.Get("Authorization"))
	}))
	for name, tt := range map[string]struct {
		faults Faults
		method string
		code   int // zero: no answer
		served int64
	}{
		"nothing":              {Faults{}, http.MethodPatch, 200, 1},
		"too many":             {Faults{TooMany: 1}, http.MethodGet, 429, 0},
		"broken":               {Faults{Broken: 1}, http.MethodPatch, 500, 0},
		"lost":                 {Faults{Lost: 1}, http.MethodPatch, 500, 1},
		"torn":                 {Faults{Torn: 1}, http.MethodPatch, 0, 0},
		"a read is spared":     {Faults{Broken: 1, OnlyChanges: true}, http.MethodGet, 200, 1},
		"a change is not":      {Faults{Broken: 1, OnlyChanges: true}, http.MethodDelete, 500, 0},
		"delayed nevertheless": {Faults{MaxDelay: time.Millisecond}, http.MethodGet, 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			served.Store(0)
			g.Set(tt.faults)
			req, _ := http.NewRequestWithContext(t.Context(), tt.method, "https://"+g.Wire.Address()+"/api", nil)
			resp, err := c.Do(req)
			if (err == nil) != (tt.code != 0) {
				t.Fatalf("%v", err)
			}
			if err == nil {
				defer resp.Body.Close()
				body, _ := io.ReadAll(resp.Body)
				if resp.StatusCode != tt.code || tt.code == 200 && string(body) != tt.method+" /api Bearer key" {
					t.Errorf("%d %s", resp.StatusCode, body)
				}
				if tt.code == 429 && resp.Header.Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
			}
			if served.Load() != tt.served {
				t.Errorf("the server got %d requests, want %d", served.Load(), tt.served)
			}
		})
	}
	if n := g.Counts(); n != (Counts{Passed: 3, TooMany: 1, Broken: 2, Lost: 1, Torn: 1}) {
		t.Errorf("counts: %+v", n)
	}
}

// TestShares sends many requests: about the given share is affected, and the same requests for the same seed.
func TestShares(t *testing.T) {
	var before Counts
	for i := range 2 {
		g := &Gateway{random: rand.New(rand.NewPCG(7, 7)), faults: Faults{TooMany: 0.1, Broken: 0.2, Lost: 0.1, Torn: 0.1}}
		for range 10_000 {
			g.decide(true, false)
		}
		n := g.Counts()
		for what, share := range map[string]float64{"429": float64(n.TooMany), "500": float64(n.Broken) / 2, "lost": float64(n.Lost), "torn": float64(n.Torn), "passed": float64(n.Passed) / 5} {
			if share < 850 || share > 1150 {
				t.Errorf("%s: %v of 1000", what, share)
			}
		}
		if i > 0 && n != before {
			t.Errorf("%+v, then %+v", before, n)
		}
		before = n
	}
}

// TestWatchesEnd ends a watch, and only a watch, in an orderly way.
func TestWatchesEnd(t *testing.T) {
	g, c := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "first")
		w.(http.Flusher).Flush()
		if r.URL.Query().Get("watch") != "" {
			<-r.Context().Done()
		}
	}))
	g.Set(Faults{MaxWatch: 20 * time.Millisecond})
	for _, query := range []string{"", "?watch=true", "?watch=1"} {
		resp, err := c.Get("https://" + g.Wire.Address() + "/api" + query)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != "first\n" || err != nil {
			t.Errorf("%s: %q, %v", query, body, err)
		}
	}
	if n := g.Counts().Watches; n != 2 {
		t.Errorf("%d watches", n)
	}
}

// TestWire stalls, resets and cuts connections under a stream.
func TestWire(t *testing.T) {
	g, c := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "first")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/stream" {
			<-r.Context().Done()
		}
	}))
	get := func(ctx context.Context, path string) (*bufio.Reader, error) {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+g.Wire.Address()+path, nil)
		resp, err := c.Do(req)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		b := bufio.NewReader(resp.Body)
		_, err = b.ReadString('\n')
		return b, err
	}
	for name, end := range map[string]func(){
		"reset": g.Wire.Reset,
		"cut":   g.Wire.Cut,
		"stall": func() { g.Wire.Stall(); g.Wire.Reset() },
	} {
		b, err := get(t.Context(), "/stream")
		if err != nil {
			t.Fatal(name, err)
		}
		end()
		if _, err := b.ReadByte(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: the stream ends with %v", name, err)
		}
		if name == "cut" {
			if _, err := get(t.Context(), "/"); err == nil {
				t.Error("the wire is open after it was cut")
			}
			if err := g.Wire.Join(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := get(t.Context(), "/"); err != nil {
			t.Errorf("%s: afterwards %v", name, err)
		}
	}
	g.Wire.Stall()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := get(ctx, "/"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stalled: %v", err)
	}
	g.Wire.Flow()
	asked := make(chan string, 1)
	m, mc := newPair(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	connect := func(ctx context.Context, path string) error {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+m.Wire.Address()+path, nil)
		resp, err := mc.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	if err := connect(t.Context(), "/before"); err != nil || <-asked != "/before" {
		t.Fatal(err)
	}
	m.Wire.Mute()
	ended := make(chan error, 1)
	go func() { ended <- connect(t.Context(), "/muted") }()
	if path := <-asked; path != "/muted" {
		t.Errorf("the server got %s", path)
	}
	select {
	case err := <-ended:
		t.Errorf("muted, it answered: %v", err)
	default:
	}
	m.Wire.Flow()
	if err := <-ended; err != nil {
		t.Errorf("after it: %v", err)
	}
}
