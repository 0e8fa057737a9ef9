package session

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/flags"
)

// TestForwards asks sessions for their port forwards.
func TestForwards(t *testing.T) {
	for name, tc := range map[string]struct {
		status       int
		answer, want string
		failure      string
	}{
		"some": {200, `{"resources": [{"name": "web", "portForwards": [
			{"url": "http://localhost:8000/", "pod": "web-1", "state": "ready"},
			{"url": "http://localhost:8001/", "state": "failed", "error": "the port is taken"}]}, {"name": "db"}]}`,
			"web  http://localhost:8000/  ready   web-1\nweb  http://localhost:8001/  failed  the port is taken\n", ""},
		"none":         {200, `{"resources": [{"name": "db"}]}`, "no resource forwards a port\n", ""},
		"no such path": {404, ``, "", "404"},
		"no JSON":      {200, `<html>`, "", "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(tc.status)
				if r.URL.Path == "/api/view" {
					fmt.Fprint(w, tc.answer)
				}
			}))
			defer s.Close()
			var out strings.Builder
			err := forwards(t.Context(), flagsFor(t, s.Listener.Addr()), &out)
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (err != nil) != (tc.failure != "") || err != nil && !strings.Contains(err.Error(), tc.failure) {
				t.Errorf("got %v, want %q", err, tc.failure)
			}
		})
	}
}

func TestForwardsWithoutSession(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	err = forwards(t.Context(), flagsFor(t, l.Addr()), &strings.Builder{})
	if p, ok := problem.Of(err); !ok || p.Mend == "" {
		t.Errorf("got %v, want a problem with a mend", err)
	}
}

func flagsFor(t *testing.T, a net.Addr) flags.Session {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return flags.Session{Host: host, Port: flags.Port{Number: n, Asked: true}}
}
