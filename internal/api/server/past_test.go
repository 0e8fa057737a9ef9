package server

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/api"
)

// TestServePast looks at a snapshot as a browser does: everything can be read, nothing changed, and nothing ages.
func TestServePast(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	logs := statetest.Logs(t)
	logs.Append(logstore.Entry{Resource: "gen", Level: logstore.LevelInfo, Text: "one\ntwo"})
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	past := Past{View: statetest.New(statetest.Session, statetest.Loaded(statetest.Local("gen"))).View(), At: at, By: "1.0.0",
		Events: []api.Event{{V: 1, Seq: 1, Time: at, Type: "session-started"}, {V: 1, Seq: 2, Time: at, Type: "update-started", Resource: "gen"}}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- ServePast(ctx, Options{Version: "2.0.0", TCP: l, Token: token, Logs: logs, Answers: telling("said"), Page: fstest.MapFS{"index.html": {Data: []byte("page")}}, PageLogin: NewPageLogin(l)}, past)
	}()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ask := func(method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+l.Addr().String()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		if method == http.MethodGet {
			r.Body, r.ContentLength = http.NoBody, 0
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if strings.HasPrefix(path, "/api/page") { // it stays open
			b := make([]byte, 8<<10)
			n, _ := resp.Body.Read(b)
			return resp.StatusCode, string(b[:n])
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	for _, tc := range []struct {
		method, path, body string
		code               int
		want               string
	}{
		{"GET", "/", "", 200, "page"},
		{"GET", "/api/page?detail=gen", "", 200, `"now":"2026-11-20T12:00:00Z"`},
		{"GET", "/api/page", "", 200, `"past":{"at":"2026-11-20T12:00:00Z","by":"1.0.0"}`},
		{"GET", "/api/view", "", 200, `"gen"`},
		{"GET", "/api/logs/window?resource=gen", "", 200, `"text":"two"`},
		{"GET", "/api/waits", "", 200, `"saves":0`},
		{"GET", "/api/status", "", 200, `"tiltfile":"said"`},
		{"GET", "/api/why?resource=gen", "", 200, `"text":"gensaid2026-11-20T12:00:00Z"`},
		{"GET", "/api/waterfall", "", 200, `"rows":[`},
		{"GET", "/api/events?type=update&follow=true", "", 200, `"seq":2`},
		{"GET", "/api/snapshot", "", 200, `"version": "1.0.0"`},
		{"GET", "/api/plan", "", 409, "snapshot"},
		{"GET", "/api/revision?number=1", "", 409, "snapshot"},
		{"GET", "/api/shell?resource=gen", "", 409, "snapshot"},
		{"POST", "/api/trigger", `{"manifest_names":["gen"]}`, 409, "snapshot"},
		{"POST", "/api/stop", "{}", 409, "snapshot"},
		{"GET", "/api/snapshot/follow", "", 409, "snapshot"},
		{"GET", "/apis", "", 404, "unknown path"},
	} {
		if code, text := ask(tc.method, tc.path, tc.body); code != tc.code || !strings.Contains(text, tc.want) {
			t.Errorf("%s %s: %d %.300s, want %d with %s", tc.method, tc.path, code, text, tc.code, tc.want)
		}
	}
	if _, text := ask("GET", "/api/events?since=1", ""); strings.Contains(text, "session-started") {
		t.Errorf("since=1 sends the first event: %s", text)
	}
	_, text := ask("GET", "/api/snapshot", "")
	var again api.Snapshot
	if err := json.Unmarshal([]byte(text), &again); err != nil || len(again.Events) != 2 {
		t.Errorf("the snapshot of a snapshot has %d events: %v", len(again.Events), err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
