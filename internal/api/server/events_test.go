package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// session is a server at work on a store whose loop runs, with a listener that only programs of this machine reach.
type session struct {
	*statetest.Alone
	t       *testing.T
	address string
}

func serve(t *testing.T, actions ...store.Action) *session {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &session{statetest.Start(t, New(Options{TCP: l, Token: token})), t, l.Addr().String()}
	s.Dispatch(actions...)
	return s
}

// stream is an answer that continues.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
}

func (s *session) follow(query string) *stream {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/api/events?"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	transport := &http.Transport{DisableKeepAlives: true} // so that no connection outlives the test
	resp, err := transport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		cancel()
		_ = resp.Body.Close()
	})
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "application/jsonl" {
		s.t.Fatalf("%s, %s", resp.Status, kind)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return &stream{s.t, lines}
}

// next returns the next event; ok is false at the end of the answer.
func (s *stream) next() (e api.Event, ok bool) {
	s.t.Helper()
	if !s.lines.Scan() {
		return e, false
	}
	if err := json.Unmarshal(s.lines.Bytes(), &e); err != nil {
		s.t.Fatalf("%v: %s", err, s.lines.Text())
	}
	return e, true
}

func (s *stream) wants(want ...string) {
	s.t.Helper()
	for _, w := range want {
		e, ok := s.next()
		if got := strings.TrimSpace(fmt.Sprint(e.Seq, " ", e.Type, " ", e.Resource)); !ok || got != w {
			s.t.Fatalf("got %q, want %q", got, w)
		}
	}
}

func triggered(name string) state.ResourcesTriggered {
	return state.ResourcesTriggered{Names: []model.ManifestName{model.ManifestName(name)}}
}

func TestEvents(t *testing.T) {
	s := serve(t, statetest.Session, statetest.Loaded(statetest.Local("a"), statetest.Local("b")), triggered("a"), triggered("b"))
	s.Until("all has happened", func(v store.View) bool { return state.NewestEvent(v) == 3 })
	t.Run("what there is", func(t *testing.T) {
		f := s.follow("")
		f.wants("1 session-started", "2 resource-triggered a", "3 resource-triggered b")
		if e, ok := f.next(); ok {
			t.Errorf("and %+v", e)
		}
	})
	t.Run("from a number on", func(t *testing.T) { s.follow("since=2").wants("3 resource-triggered b") })
	t.Run("of some", func(t *testing.T) {
		s.follow("resource=b,c&type=resource&type=pod-ready").wants("3 resource-triggered b")
	})
	t.Run("what comes", func(t *testing.T) {
		f := s.follow("since=3&follow=true")
		other := s.follow("since=3&follow=1&resource=b")
		s.Dispatch(triggered("a"))
		f.wants("4 resource-triggered a")
		s.Dispatch(triggered("b"))
		f.wants("5 resource-triggered b")
		other.wants("5 resource-triggered b")
		s.Dispatch(state.SessionEnded{})
		f.wants("6 session-ended")
		s.Stop()
		if e, ok := f.next(); ok {
			t.Errorf("after the end: %+v", e)
		}
	})
}

func TestEventQueries(t *testing.T) {
	f := newFixture(statetest.Session)
	for _, tc := range []struct {
		query, answer string
		code          int
	}{
		{"since=1", "", 200},
		{"since=2025-12-31T00:00:00Z&type=session", `"type":"session-started"`, 200},
		{"since=5m", "", 200},
		{"since=2", "this session has had 1 events; event 2 must be from another session", 410},
		{"since=yesterday", "not a time such as since:5m", 400},
		{"since=-1", "nor the number of an event", 400},
		{"type=pood", `type: \"pood\" is none of session-started`, 400},
		{"type=", "is none of", 400},
		{"follow=always", "neither true nor false", 400},
		{"tail=5", `parameter \"tail\" is not known`, 400},
	} {
		if code, body := f.do(request("GET", "/api/events?"+tc.query, "")); code != tc.code || !strings.Contains(body, tc.answer) {
			t.Errorf("%s: %d %s, want %d %s", tc.query, code, body, tc.code, tc.answer)
		}
	}
	if code, _ := f.do(request("POST", "/api/events", "{}")); code != 405 {
		t.Errorf("POST: %d", code)
	}
	r := request("GET", "/api/events", "")
	r.Host = "evil.example"
	if code, _ := f.do(r); code != 403 {
		t.Errorf("by a foreign name: %d", code)
	}
}

func TestEventsHoldNoSecrets(t *testing.T) {
	l := statetest.Loaded(statetest.Local("a"))
	l.Result.Secrets = []model.Secret{{Name: "db", Key: "password", Value: "correct horse"}}
	f := newFixture(statetest.Session, l, state.BuildStarted{Resource: "a", Serial: 1},
		state.BuildCompleted{Resource: "a", Serial: 1, At: statetest.Epoch.Add(time.Second), Err: "login with correct horse failed"})
	_, body := f.do(request("GET", "/api/events", ""))
	if strings.Contains(body, "correct horse") || strings.Count(body, "[redacted secret db:password]") != 2 {
		t.Error(body)
	}
}

// TestSlowReader stops a client while more events happen than are kept. The loop keeps running meanwhile. The client receives
// the events that were on their way, then a gap that states exactly which events are missing, then the rest.
func TestSlowReader(t *testing.T) {
	s := serve(t, statetest.Session, statetest.Loaded(statetest.Local("a")))
	f := s.follow("follow=true")
	f.wants("1 session-started")
	long := strings.Repeat("x", 8000) // so that the buffers of both ends cannot hold everything
	for i := range 3 * state.KeptEvents / 2 {
		s.Dispatch(state.BuildStarted{Resource: "a", Serial: i + 1}, state.BuildCompleted{Resource: "a", Serial: i + 1, FellBack: long})
	}
	const all = 1 + 3*state.KeptEvents
	s.Until("all has happened", func(v store.View) bool { return state.NewestEvent(v) == all })
	want, missed := uint64(2), uint64(0)
	for want <= all {
		e, ok := f.next()
		if !ok {
			t.Fatalf("the answer ends before event %d", want)
		}
		if e.Gap != nil {
			if e.Gap.From != want || e.Gap.Missed != e.Seq-e.Gap.From+1 {
				t.Fatalf("a gap that does not fit, before event %d: %+v", want, *e.Gap)
			}
			missed += e.Gap.Missed
		} else if e.Seq != want {
			t.Fatalf("event %d without a gap after %d", e.Seq, want-1)
		}
		want = e.Seq + 1
	}
	if missed == 0 {
		t.Error("nothing was missed: the client was not slow")
	}
}

// TestDeadReaders has clients that send requests and never read. The loop keeps running, and the end of the session does not
// wait for them.
func TestDeadReaders(t *testing.T) {
	s := serve(t, statetest.Session, statetest.Loaded(statetest.Local("a")))
	for range 20 {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if _, err := fmt.Fprintf(c, "GET /api/events?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range state.KeptEvents {
		s.Dispatch(state.BuildStarted{Resource: "a", Serial: i + 1}, state.BuildCompleted{Resource: "a", Serial: i + 1, FellBack: strings.Repeat("x", 4000)})
	}
	s.Until("all has happened", func(v store.View) bool { return state.NewestEvent(v) == 1+2*state.KeptEvents })
	s.Stop()
}
