package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// ask makes a request to one of the listeners, with the token.
func (f *live) ask(listener, method, path, body string) (int, string) {
	f.t.Helper()
	c, base := f.client(listener)
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, base+path, in)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if listener != "unix" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// TestListeners checks that the port serves both HTTP and HTTPS, and that the socket requires no token.
func TestListeners(t *testing.T) {
	f := serveLive(t)
	f.declare(1)
	for _, listener := range []string{"http", "https", "unix"} {
		if code, body := f.ask(listener, "GET", "/apis/hone.dev/v1alpha1/resources/r0000", ""); code != 200 || !strings.Contains(body, `"kind":"Resource"`) {
			t.Errorf("%s: %d %s", listener, code, body)
		}
		if code, body := f.ask(listener, "POST", "/api/trigger", `{"manifest_names":["r0000"]}`); code != 200 {
			t.Errorf("%s: %d %s", listener, code, body)
		}
	}
	c, base := f.client("unix")
	r, _ := http.NewRequest("GET", base+"/api/view", nil)
	r.Header.Set("Origin", "http://hone")
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 403 {
		t.Errorf("a page at the socket: %d", resp.StatusCode)
	}
}

// TestBrowser has the token come as a parameter once, and as a cookie from then on.
func TestBrowser(t *testing.T) {
	f := serveLive(t)
	c, base := f.client("https")
	resp, err := c.Get(base + "/?token=" + strings.ReplaceAll(token, " ", "+"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	cookies := resp.Cookies()
	if resp.StatusCode != 303 || resp.Header.Get("Location") != "/" || len(cookies) != 1 || !cookies[0].HttpOnly || !cookies[0].Secure ||
		cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	for _, tc := range []struct {
		site, origin string
		code         int
	}{{"same-origin", "", 200}, {"none", "", 200}, {"same-origin", base, 200}, {"same-site", "", 403}, {"cross-site", "", 403}, {"", "https://evil.example", 403}} {
		r, _ := http.NewRequest("GET", base+"/api/view", nil)
		r.AddCookie(cookies[0])
		r.Header.Set("Sec-Fetch-Site", tc.site)
		if tc.origin != "" {
			r.Header.Set("Origin", tc.origin)
		}
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != tc.code {
			t.Errorf("%+v: %d", tc, resp.StatusCode)
		}
	}
	if resp, err = c.Get(base + "/?token=wrong"); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 401 {
		t.Errorf("a wrong token: %d", resp.StatusCode)
	}
}

func TestStop(t *testing.T) {
	f := serveLive(t)
	if code, body := f.ask("http", "POST", "/api/stop", "{}"); code != 202 {
		t.Errorf("%d %s", code, body)
	}
	select {
	case <-f.stopped:
	case <-time.After(10 * time.Second):
		t.Error("nothing is stopped")
	}
}

// telling answers every question with a text.
type telling string

func (t telling) Status(store.View, time.Time) api.Status { return api.Status{Tiltfile: string(t)} }

func (t telling) Why(_ store.View, at time.Time, resource string) (api.Why, error) {
	return api.Why{Reasons: []api.Reason{{Text: resource + string(t) + at.Format(time.RFC3339)}}}, nil
}

// TestEveryTableIsServed gets each of them, by both formats.
func TestEveryTableIsServed(t *testing.T) {
	f := serveLive(t, func(s *Subscriber) {
		s.options.Answers = telling("hunter22")
	})
	m := statetest.K8s("web", statetest.Image("web"))
	loaded := statetest.Loaded(m)
	loaded.Result.Secrets = []model.Secret{{Name: "db", Key: "password", Value: "hunter22"}}
	f.Dispatch(statetest.Session, loaded, statetest.Pod("web", "web-1", "c1", "web:hunter22"),
		state.ForwardChanged{ID: "web/80", Forward: state.Forward{Resource: "web", State: state.ForwardReady}})
	f.Until("the pod is there", func(v store.View) bool { return state.Pods.In(v).Len() > 0 && state.Forwards.In(v).Len() > 0 })
	_, group := f.ask("unix", "GET", "/apis/hone.dev/v1alpha1", "")
	for _, table := range state.Schema.Tables() {
		code, body := f.ask("unix", "GET", "/apis/hone.dev/v1alpha1/"+table.Name, "")
		if code != 200 || !json.Valid([]byte(body)) || strings.Contains(body, "hunter22") {
			t.Errorf("%s: %d %s", table.Name, code, body)
		}
		if !strings.Contains(group, `"name":"`+table.Name+`"`) {
			t.Errorf("%s is not listed", table.Name)
		}
	}
	for path, want := range map[string]string{
		"forwards/web:80":    `"id":"web/80"`,
		"pods":               `"image":"web:[redacted secret db:password]"`,
		"controllers/Server": `"reads":`,
		"loop/session":       `"batches":`,
		"tiltfiles/session":  `"secrets":[{"key":"password","name":"db"}]`,
	} {
		if code, body := f.ask("unix", "GET", "/apis/hone.dev/v1alpha1/"+path, ""); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %s", path, code, body, want)
		}
	}
	for _, k := range projection.All() {
		path := "/apis/" + k.Group + "/" + k.Version + "/" + k.Plural
		if code, body := f.ask("unix", "GET", path, ""); code != 200 || !json.Valid([]byte(body)) || strings.Contains(body, "hunter22") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for _, path := range []string{"/openapi/v2", "/openapi/v3/apis/tilt.dev/v1alpha1", "/openapi/v3/apis/hone.dev/v1alpha1"} {
		if code, body := f.ask("unix", "GET", path, ""); code != 200 || !json.Valid([]byte(body)) {
			t.Errorf("%s: %d %.300s", path, code, body)
		}
	}
	for _, path := range []string{"/api/view", "/api/status", "/api/why?resource=web"} {
		if code, body := f.ask("unix", "GET", path, ""); code != 200 || strings.Contains(body, "hunter22") || !json.Valid([]byte(body)) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}

// withLogs writes lines and returns a server of them. Odd ones are errors of api's container, even ones builds of web.
func withLogs(t *testing.T, lines int) *live {
	f := serveLive(t)
	build, run := f.logs.Logger("web", "build:1", logstore.SourceBuild), f.logs.Logger("api", "pod:1", logstore.SourceRuntime)
	for i := range lines {
		if i%2 == 0 {
			build.Write(logstore.LevelInfo, fmt.Sprintf("line %d\n", i))
		} else {
			run.Write(logstore.LevelError, fmt.Sprintf("line %d\n", i))
		}
	}
	return f
}

func TestLogs(t *testing.T) {
	f := withLogs(t, 6)
	for query, want := range map[string]string{
		"":                           "0 1 2 3 4 5",
		"tail=2":                     "4 5",
		"tail=0":                     "",
		"tail=100":                   "0 1 2 3 4 5",
		"resource=api":               "1 3 5",
		"resource=api,web&tail=3":    "3 4 5",
		"resource=api&resource=x":    "1 3 5",
		"level=error":                "1 3 5",
		"level=warn&tail=1":          "5",
		"source=build":               "0 2 4",
		"source=runtime&after=2":     "3 5",
		"span=pod:1&tail=2":          "3 5",
		"since=1h":                   "0 1 2 3 4 5",
		"since=2199-01-01T00:00:00Z": "",
		"format=text&after=4":        "4 5",
	} {
		code, body := f.ask("unix", "GET", "/api/logs?"+query, "")
		var got []string
		for line := range strings.Lines(body) {
			got = append(got, strings.TrimSpace(line[strings.Index(line, "line ")+5:]))
		}
		if code != 200 || strings.Join(got, " ") != want {
			t.Errorf("%s: %d %q, want %s", query, code, body, want)
		}
	}
	if _, body := f.ask("unix", "GET", "/api/logs?tail=1", ""); body != "api │ line 5\n" {
		t.Errorf("%q", body)
	}
	_, body := f.ask("unix", "GET", "/api/logs?tail=1&format=json", "")
	var line api.LogLine
	if err := json.Unmarshal([]byte(body), &line); err != nil || line.Time.IsZero() {
		t.Fatalf("%s: %v", body, err)
	}
	line.Time = time.Time{}
	if diff := cmp.Diff(api.LogLine{Seq: 6, Resource: "api", Span: "pod:1", Source: "runtime", Level: "error", Text: "line 5"}, line); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, query := range []string{"tail=x", "tail=-2", "since=yesterday", "since=2999-01-01T00:00:00Z", "level=loud", "source=moon", "follow=perhaps", "format=xml", "after=x", "tial=3"} {
		if code, body := f.ask("unix", "GET", "/api/logs?"+query, ""); code != 400 || !strings.Contains(body, "error") {
			t.Errorf("%s: %d %s", query, code, body)
		}
	}
}

// TestLogsOfThePast asks for more lines than the memory holds, spilled ones among them.
func TestLogsOfThePast(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	logs, err := logstore.New(logstore.Options{Dir: dir, MemoryPerResource: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = logs.Close() })
	l := logs.Logger("web", "s", logstore.SourceBuild)
	const lines = 20000
	for i := range lines {
		l.Write(logstore.LevelInfo, fmt.Sprintf("line %d\n", i))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		t.Fatalf("nothing is spilled: %v %v", entries, err)
	}
	sub := New(Options{Logs: logs})
	st := store.New(state.Schema)
	f := fixture{st, access.Guard(access.Rules{Token: token, Refuse: refuse}, sub.handler(store.NewRuntime(st, sub)))}
	for query, first := range map[string]int{"": 0, "?tail=15000": 5000, "?after=19000": 19000} {
		code, body := f.do(request("GET", "/api/logs"+query, ""))
		if want := fmt.Sprintf("web │ line %d\n", first); code != 200 || !strings.HasPrefix(body, want) || strings.Count(body, "\n") != lines-first {
			t.Errorf("%s: %d, %d lines, %.40q", query, code, strings.Count(body, "\n"), body)
		}
	}
}

func TestLogsFollow(t *testing.T) {
	f := withLogs(t, 2)
	c, base := f.client("unix")
	resp, err := c.Get(base + "/api/logs?follow=true&tail=1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b := bufio.NewReader(resp.Body)
	expect := func(want string) {
		t.Helper()
		if got, err := b.ReadString('\n'); got != want {
			t.Fatalf("%q %v, want %q", got, err, want)
		}
	}
	expect("api │ line 1\n")
	f.logs.Logger("web", "s", logstore.SourceBuild).Write(logstore.LevelInfo, "more\n")
	expect("web │ more\n")
	f.logs.Logger("web", "s", logstore.SourceBuild).Write(logstore.LevelInfo, "the last word\n")
	f.Stop()
	expect("web │ the last word\n")
	if got, err := b.ReadString('\n'); err == nil {
		t.Errorf("%q after the end", got)
	}
}
