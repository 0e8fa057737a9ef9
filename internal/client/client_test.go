package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/pkg/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answering returns a client for a session at a socket whose requests handler handles.
func answering(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	info := sessions.Info{Name: "shop", PID: 4711, Socket: filepath.Join(t.TempDir(), "s.sock")}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "unix", info.Socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead { // a knock
			handler(w, r)
		}
	}))
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	return Over(info)
}

// mends checks the whole text of an error, as users see it.
func mends(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	for _, w := range want {
		if text := problem.Text(err); !strings.Contains(text, w) {
			t.Errorf("%q does not contain %q", text, w)
		}
	}
}

// TestRequests checks the request of each method, and its result for the response.
func TestRequests(t *testing.T) {
	var asked, body string
	reply := "{}"
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		asked, body = r.Method+" "+r.URL.String(), string(b)
		if len(b) > 0 && r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: a body of type %q", asked, r.Header.Get("Content-Type"))
		}
		_, _ = io.WriteString(w, reply)
	})
	for _, tc := range []struct {
		do                 func() (any, error)
		asked, body, reply string
		want               any
	}{
		{func() (any, error) { v, err := c.View(t.Context()); return v.Version, err }, "GET /api/view", "", `{"version":"1"}`, "1"},
		{func() (any, error) { return nil, c.Trigger(t.Context(), []string{"a"}) }, "POST /api/trigger", `{"manifest_names":["a"]}`, "{}", nil},
		{func() (any, error) { return nil, c.Click(t.Context(), api.ClickRequest{Button: "b"}) }, "POST /api/click", `{"button":"b"}`, "{}", nil},
		{func() (any, error) { return nil, c.Stop(t.Context()) }, "POST /api/stop", "{}", "{}", nil},
		{func() (any, error) {
			return c.Switch(t.Context(), api.SwitchRequest{State: api.StateEnabled, Labels: []string{"l"}, Only: true})
		}, "POST /api/switch", `{"state":"enabled","labels":["l"],"only":true}`, `{"enabled":["a"]}`, api.SwitchResult{Enabled: []string{"a"}}},
		{func() (any, error) { return c.Args(t.Context()) }, "GET /apis/tilt.dev/v1alpha1/tiltfiles/%28Tiltfile%29", "",
			`{"spec":{"args":["a","b c"]}}`, []string{"a", "b c"}},
		{func() (any, error) { return nil, c.SetArgs(t.Context(), []string{"a"}) }, "POST /api/set_tiltfile_args", `["a"]`, "{}", nil},
		{func() (any, error) { return nil, c.SetArgs(t.Context(), nil) }, "POST /api/set_tiltfile_args", `[]`, "{}", nil},
	} {
		reply = tc.reply
		got, err := tc.do()
		if err != nil || asked != tc.asked || body != tc.body {
			t.Errorf("%s: %v, asked %s with %s, want %s", tc.asked, err, asked, body, tc.body)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.asked, diff)
		}
	}
	reply = "no JSON"
	_, err := c.View(t.Context())
	mends(t, err, "read the answer of session shop")
}

// TestStreams reads a stream of a session as it arrives, until the client closes it.
func TestStreams(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, r.URL)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	for path, open := range map[string]func(context.Context, url.Values) (io.ReadCloser, error){"/api/logs": c.Logs, "/api/events": c.Events} {
		in, err := open(t.Context(), url.Values{"resource": {"a", "b"}})
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(in).ReadString('\n'); line != path+"?resource=a&resource=b\n" {
			t.Errorf("%q %v", line, err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRefusals has a session refuse requests in all possible ways.
func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		name string
		code int
		body string
		want []string
	}{
		{"with a reason", 409, `{"error":"not now"}`, []string{"session shop: not now"}},
		{"with a mend", 404, `{"error":"no resource is called \"x\"","mend":"did you mean y?"}`, []string{`session shop: no resource is called "x"`, "\n  did you mean y?"}},
		{"without a reason", 500, "", []string{"session shop: 500 Internal Server Error"}},
		{"in text", 502, "a proxy has failed\n", []string{"502 Bad Gateway: a proxy has failed"}},
		{"of another version", 404, `{"error":"unknown path /api/x"}`, []string{"session shop runs another version of hone, which has no /api/", "hone stop"}},
		{"without the token", 401, `{"error":"show the token"}`, []string{"session shop requires a token", "--session NAME", "set HONE_TOKEN"}},
	} {
		c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tc.code)
			_, _ = io.WriteString(w, tc.body)
		})
		_, err := c.View(t.Context())
		mends(t, err, tc.want...)
		_, err = c.Logs(t.Context(), nil)
		mends(t, err, tc.want...)
		_, err = c.Dump(t.Context(), DumpFollowed)
		mends(t, err, tc.want...)
	}
}

// TestToken connects to a session by its address, with and without its token.
func TestToken(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer right" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(api.View{Version: "1"})
	}))
	defer srv.Close()
	at := srv.Listener.Addr().(*net.TCPAddr)
	info := sessions.Info{Host: at.IP.String(), Port: at.Port}
	if v, err := At(info, "right").View(t.Context()); err != nil || v.Version != "1" {
		t.Errorf("%+v %v", v, err)
	}
	for token, want := range map[string]string{"": "requires a token", "wrong": "does not know the token"} {
		_, err := At(info, token).View(t.Context())
		mends(t, err, "the session at "+at.String()+" "+want, "HONE_TOKEN")
	}
	if v, err := At(info, "").As("right").View(t.Context()); err != nil || v.Version != "1" {
		t.Errorf("%+v %v", v, err)
	}
	config := At(info, "right").RESTConfig()
	if config.Host != "http://"+at.String() || config.BearerToken != "right" {
		t.Errorf("%+v", config)
	}
	for token, want := range map[string]string{"right": "", "wrong": "does not know the token"} {
		config := At(info, token).RESTConfig()
		r, _ := http.NewRequest(http.MethodGet, config.Host, nil)
		r.Header.Set("Authorization", "Bearer "+config.BearerToken)
		resp, err := config.WrapTransport(&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if want != "" {
			mends(t, err, want)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
}

// TestGone sends requests to sessions that no longer respond.
func TestGone(t *testing.T) {
	var l net.ListenConfig
	free, err := l.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	gone := Over(sessions.Info{Name: "shop", PID: 4711, Socket: filepath.Join(t.TempDir(), "none.sock")})
	for c, want := range map[*Client][]string{
		gone: {"session shop does not answer: ", "kill 4711", "the next hone cleans up"},
		At(sessions.Info{Host: "127.0.0.1", Port: port}, ""): {fmt.Sprintf("no session answers at 127.0.0.1:%d: ", port), "hone sessions lists the running ones"},
	} {
		_, err := c.View(t.Context())
		mends(t, err, want...)
		_, err = c.Dump(t.Context(), DumpFollowed)
		mends(t, err, want...)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.View(ctx); !errors.Is(err, context.Canceled) || strings.Contains(problem.Text(err), "answer") {
			t.Errorf("a cancelled request returns %v", err)
		}
	}
}
