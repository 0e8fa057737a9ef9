package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

func sh(script string) model.Cmd { return model.Cmd{Argv: []string{"sh", "-c", script}} }

// TestProberTiming plays answers, o for success and x for failure, and checks the times of the reports.
func TestProberTiming(t *testing.T) {
	for _, tt := range []struct {
		name    string
		probe   model.Probe
		answers string
		want    []string
	}{
		{"defaults", model.Probe{}, "xo", []string{"0s false failure: no", "10s true success"}},
		{"initial delay and period", model.Probe{InitialDelay: 3 * time.Second, Period: 2 * time.Second}, "xxo", []string{"3s false failure: no", "7s true success"}},
		{"success threshold", model.Probe{Period: time.Second, SuccessThreshold: 3}, "ooxooo", []string{"0s false success 1 of 3", "2s false failure: no", "3s false success 1 of 3", "5s true success"}},
		{"failure threshold", model.Probe{Period: time.Second, FailureThreshold: 2}, "oxoxx", []string{"0s true success", "1s true failure 1 of 2: no", "2s true success", "3s true failure 1 of 2: no", "4s false failure: no"}},
		{"failures are counted in a row", model.Probe{Period: time.Second}, "oxxoxxx", []string{"0s true success", "1s true failure 1 of 3: no", "3s true success", "4s true failure 1 of 3: no", "6s false failure: no"}},
		{"timeout", model.Probe{Period: time.Second, Timeout: 300 * time.Millisecond}, "-", []string{"300ms false failure: no answer within 300ms"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				begin, n := time.Now(), 0
				p := Prober{Probe: tt.probe, check: func(ctx context.Context) (string, error) {
					if n == len(tt.answers) {
						cancel()
						return "", ctx.Err()
					}
					n++
					switch tt.answers[n-1] {
					case 'o':
						return "", nil
					case '-':
						<-ctx.Done()
						return "", ctx.Err()
					}
					return "", errors.New("no")
				}}
				var got []string
				err := p.Run(ctx, func(a Answer) {
					got = append(got, fmt.Sprintf("%s %v %s", time.Since(begin), a.Ready, a))
				})
				if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("reports (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// first returns the first report of a probe.
func first(t *testing.T, probe model.Probe) (ready bool, detail string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	probe.Timeout = 5 * time.Second
	p := Prober{Probe: probe}
	if err := p.Run(ctx, func(a Answer) { ready, detail = a.Ready, a.Detail; cancel() }); err != nil {
		t.Fatal(err)
	}
	return ready, detail
}

func TestProberHTTP(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		w.Header().Set("Location", "/500")
		w.WriteHeader(code)
	})
	for scheme, srv := range map[string]*httptest.Server{"http": httptest.NewServer(handler), "HTTPS": httptest.NewTLSServer(handler)} {
		defer srv.Close()
		port := srv.Listener.Addr().(*net.TCPAddr).Port
		for code, want := range map[int]bool{200: true, 204: true, 302: true, 399: true, 404: false, 500: false} {
			ready, detail := first(t, model.Probe{HTTP: &model.HTTPProbe{Host: "127.0.0.1", Port: port, Scheme: scheme, Path: strconv.Itoa(code)}})
			if ready != want || want != (detail == "") {
				t.Errorf("%s %d: got %v %q", scheme, code, ready, detail)
			}
		}
	}
}

func TestProberHTTPHeaders(t *testing.T) {
	var got http.Header
	var host string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got, host = r.Header, r.Host }))
	probe := &model.HTTPProbe{Host: "127.0.0.1", Port: srv.Listener.Addr().(*net.TCPAddr).Port}
	if ready, detail := first(t, model.Probe{HTTP: probe}); !ready || got.Get("User-Agent") != "hone-probe" {
		t.Errorf("%s: %v", detail, got)
	}
	probe.Headers = []model.HTTPHeader{{Name: "X-A", Value: "1"}, {Name: "x-a", Value: "2"}, {Name: "host", Value: "shop.local"}, {Name: "User-Agent", Value: "me"}}
	if ready, detail := first(t, model.Probe{HTTP: probe}); !ready {
		t.Error(detail)
	}
	srv.Close()
	if diff := cmp.Diff([]string{"1", "2", "me", "shop.local"}, append(got["X-A"], got.Get("User-Agent"), host)); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestProberTCP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	probe := model.Probe{TCP: &model.TCPProbe{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port}}
	if ready, detail := first(t, probe); !ready {
		t.Errorf("open port: %q", detail)
	}
	l.Close()
	if ready, detail := first(t, probe); ready || !strings.Contains(detail, "refused") {
		t.Errorf("closed port: %v %q", ready, detail)
	}
}

// TestProberWithoutNames asks servers on either loopback address where nothing knows the name of this machine.
func TestProberWithoutNames(t *testing.T) {
	for _, tc := range []struct{ address, listens, want string }{
		{"localhost:80", "127.0.0.1:80", "127.0.0.1:80"},
		{"localhost:80", "[::1]:80", "[::1]:80"},
		{"localhost:80", "", "refused"},
		{"shop.local:80", "127.0.0.1:80", "lookup shop.local"},
	} {
		var found string
		_, err := dialLoopback(t.Context(), func(_ context.Context, _, address string) (net.Conn, error) {
			switch host, _, _ := net.SplitHostPort(address); {
			case net.ParseIP(host) == nil:
				return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Name: host, Err: "no such host", IsNotFound: true}}
			case address != tc.listens:
				return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
			}
			found = address
			return nil, nil
		}, "tcp", tc.address)
		if err != nil {
			found = err.Error()
		}
		if !strings.Contains(found, tc.want) {
			t.Errorf("%+v: %s", tc, found)
		}
	}
}

func TestProberExec(t *testing.T) {
	good, bad := sh("exit 0"), sh("echo starting; echo not yet >&2; exit 1")
	if ready, detail := first(t, model.Probe{Exec: &good}); !ready {
		t.Errorf("good: %q", detail)
	}
	if ready, detail := first(t, model.Probe{Exec: &bad}); ready || detail != "exit code 1: not yet" {
		t.Errorf("bad: %v %q", ready, detail)
	}
}

func TestProberNothingToAsk(t *testing.T) {
	if err := new(Prober).Run(t.Context(), nil); err == nil {
		t.Error("no error")
	}
}

func TestProbeAddress(t *testing.T) {
	for host, want := range map[string]string{"localhost": "localhost:80", "::1": "[::1]:80", "[::1]": "[::1]:80", "10.0.0.1": "10.0.0.1:80"} {
		if got := address(host, 80); got != want {
			t.Errorf("%s: got %s, want %s", host, got, want)
		}
	}
}
