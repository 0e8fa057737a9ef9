package server

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// TestLogLines selects lines by pod and container, by text in plain logs, and after a line, and finds a line by its number.
func TestLogLines(t *testing.T) {
	f := serveLive(t)
	f.Dispatch(statetest.Session, statetest.Loaded(statetest.Local("a")))
	f.Until("the resource is declared", func(v store.View) bool { return state.Resources.In(v).Len() == 1 })
	for i := range 600 {
		f.logs.Append(logstore.Entry{Resource: "a", Level: logstore.LevelInfo, Pod: fmt.Sprintf("web-%d", i%2), Container: []string{"Main", "sidecar"}[i%3%2], Text: fmt.Sprintf("line %d", i)})
	}
	window := func(query string) (w api.LogWindow) {
		t.Helper()
		code, body := f.ask("http", "GET", "/api/logs/window?"+query, "")
		if code != 200 || json.Unmarshal([]byte(body), &w) != nil {
			t.Fatalf("%s: %d %s", query, code, body)
		}
		return w
	}
	for query, want := range map[string]int{"pod=web-1": 300, "container=main": 400, "container=side&pod=WEB-0": 100, "text=line+59": 11, "after=500": 100, "after=9999": 0,
		"query=pod:web-1": 300, "query=!container:side+59": 11, "query=pod:web-0+!/[0-8]$/": 0, "query=%22line+59%22&pod=web-1": 6, "query=level:warn": 0} {
		if w := window(query); w.End != want {
			t.Errorf("%s: %d lines, want %d", query, w.End, want)
		}
	}
	whole := window("from=0&count=1000")
	for _, tc := range []struct {
		query string
		at    int
		line  string
	}{
		{"seq=%d", 400, "line 400"},
		{"seq=%d&pod=web-1", 200, "line 401"}, // the next one that matches
		{"seq=%d&after=%[1]d", 0, "line 401"},
	} {
		seq := whole.Lines[400].Seq
		query := fmt.Sprintf(tc.query, seq)
		code, body := f.ask("http", "GET", "/api/logs/find?"+query, "")
		var found api.LogFound
		if code != 200 || json.Unmarshal([]byte(body), &found) != nil || found.At != tc.at {
			t.Errorf("%s: %d %s, want position %d", query, code, body, tc.at)
			continue
		}
		filter := strings.TrimPrefix(query, fmt.Sprintf("seq=%d", seq))
		if w := window(fmt.Sprintf("from=%d&count=1%s", found.At, filter)); len(w.Lines) != 1 || w.Lines[0].Text != tc.line {
			t.Errorf("%s: %+v, want %s", query, w.Lines, tc.line)
		}
	}
	if code, body := f.ask("http", "GET", "/api/logs?text=LINE+59&tail=2", ""); code != 200 || body != "a │ line 598\na │ line 599\n" {
		t.Errorf("%d %q", code, body)
	}
	for query, want := range map[string]string{"seq=x": "not the number of a line", "": "name the text to find", "after=-1&seq=1": "not the number of a line", "seq=1&text=/(/": "missing closing", "seq=1&query=level:loud": "no level is called"} {
		if code, body := f.ask("http", "GET", "/api/logs/find?"+query, ""); code != 400 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want 400 %s", query, code, body, want)
		}
	}
}

// TestLogTimes selects lines by their age. As time goes on, a window with since: begins later, and one with !since: ends later.
func TestLogTimes(t *testing.T) {
	f := serveLive(t)
	f.Dispatch(statetest.Session, statetest.Loaded(statetest.Local("a")))
	f.Until("the resource is declared", func(v store.View) bool { return state.Resources.In(v).Len() == 1 })
	now := time.Now()
	for i := range 600 {
		f.logs.Append(logstore.Entry{Resource: "a", Level: logstore.LevelInfo, Time: now.Add(time.Duration(i-599) * time.Minute), Text: fmt.Sprintf("line %d", i)})
	}
	for query, want := range map[string][2]int{
		"since=1h30m": {510, 600}, "query=since:1h30m": {510, 600}, "query=!since:1h30m": {0, 510}, "query=!since:1h30m+since:2h": {480, 510},
		"query=since:" + now.Add(-90*time.Minute-time.Second).UTC().Format(time.RFC3339): {509, 600},
	} {
		code, body := f.ask("http", "GET", "/api/logs/window?count=1000&"+query, "")
		var w api.LogWindow
		if code != 200 || json.Unmarshal([]byte(body), &w) != nil || [2]int{w.First, w.End} != want {
			t.Errorf("%s: %d, %d to %d, want %v", query, code, w.First, w.End, want)
			continue
		}
		if len(w.Lines) != want[1]-want[0] || w.Lines[0].Text != fmt.Sprintf("line %d", want[0]) {
			t.Errorf("%s: %d lines", query, len(w.Lines))
		}
	}
	for query, want := range map[string]string{
		"since=1h30m&find=line+5&from=100":  `{"at":510,"nth":1,"count":90}`,
		"since=1h30m&find=/0$/&from=0&back": `{"at":510,"nth":1,"count":9}`,
	} {
		if code, body := f.ask("http", "GET", "/api/logs/find?"+query, ""); code != 200 || strings.TrimSpace(body) != want {
			t.Errorf("%s: %d %s, want %s", query, code, body, want)
		}
	}
	if code, body := f.ask("http", "GET", "/api/logs?query=!since:90m+since:92m", ""); code != 200 || body != "a │ line 508\na │ line 509\n" {
		t.Errorf("%d %q", code, body)
	}
	// The same window an hour later.
	q, err := readWindowQuery(url.Values{"since": {"1h30m"}, "count": {"1000"}}, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	x := &logIndex{filter: q.filter}
	x.extend(t.Context(), f.logs, q.until)
	if w, err := x.window(t.Context(), f.logs, q.since, q.from, q.count); err != nil || w.First != 569 || w.End != 600 {
		t.Errorf("an hour later: %d to %d, %v", w.First, w.End, err)
	}
}

// TestArchitecture joins the contracts with the numbers of the running parts.
func TestArchitecture(t *testing.T) {
	v := statetest.New(statetest.Session, statetest.Loaded(statetest.Local("a"))).View()
	g := store.Graph{Subscribers: []store.GraphSubscriber{{Name: "Reader", Doc: "It reads."}, {Name: "Idle"}}, Tables: []store.GraphTable{{Name: state.Resources.Name()}},
		Edges: []store.GraphEdge{{From: "table:resources", To: "Reader", Kind: "reads"}}}
	got := architectureOf(g, v, counted{})
	if p := got.Parts[0]; p.WakeUps != 7 || p.Busy != 1.5 || p.LastError != "no" || got.Parts[1].WakeUps != 0 {
		t.Errorf("parts %+v", got.Parts)
	}
	if got.Tables[0].Entries != 1 || got.Edges[0] != (api.PartEdge{From: "table:resources", To: "Reader", Kind: "reads"}) {
		t.Errorf("tables %+v, edges %+v", got.Tables, got.Edges)
	}
	if l := got.Loop; l.Batches != 4 || l.Average != 0.5 || len(l.Took) != len(store.BatchBounds)+1 || l.Took[0].UpTo != 0.1 || l.Took[1].Batches != 3 || l.Took[len(l.Took)-1].UpTo != 0 {
		t.Errorf("loop %+v", l)
	}
}

// counted are statistics.
type counted struct{}

func (counted) Loop() store.LoopStats {
	s := store.LoopStats{Batches: 4, Busy: 2_000_000}
	s.Within[1] = 3
	return s
}

func (counted) Subscribers() []store.SubscriberStats {
	return []store.SubscriberStats{{Name: "Reader", Wakes: 7, Busy: 1_500_000, LastError: "no"}}
}
