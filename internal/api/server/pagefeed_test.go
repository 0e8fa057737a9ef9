package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// browser is the knowledge of a page.
type browser struct {
	has  pageCursor
	page pageState
}

type pageState struct {
	Session string
	Order   string
	Rows    map[string]string
}

// read takes in an event.
func (b *browser) read(t *testing.T, doc pageDoc, now pageCursor) {
	t.Helper()
	if doc.Whole {
		b.page = pageState{}
	}
	if b.page.Rows == nil {
		b.page.Rows = map[string]string{}
	}
	if doc.Session != nil {
		b.page.Session = string(doc.Session)
	}
	if doc.Order != nil {
		b.page.Order = string(doc.Order)
	}
	for _, r := range doc.Resources {
		var row api.PageResource
		if err := json.Unmarshal(r, &row); err != nil {
			t.Fatal(err)
		}
		b.page.Rows[row.Name] = string(r)
	}
	for _, name := range doc.Removed {
		if _, known := b.page.Rows[name]; !known && !doc.Whole {
			continue // added and removed since
		}
		delete(b.page.Rows, name)
	}
	b.has = now
}

// TestFeedDifferences changes a session at random. Pages that read every event, or some, or only resume now and then all end up
// with the content of a page that is opened at the end.
func TestFeedDifferences(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test that can be repeated
	st := statetest.New(statetest.Session)
	var feed pageFeed
	pages := make([]browser, 4)
	for range 300 {
		var manifests []model.Manifest
		for i := range 8 {
			if random.IntN(4) > 0 {
				m := statetest.Local(fmt.Sprintf("r%d", i))
				m.Labels = []string{fmt.Sprint(random.IntN(3))}
				manifests = append(manifests, m)
			}
		}
		st.Then(statetest.Loaded(manifests...))
		for i := range pages {
			if random.IntN(i+1) > 0 {
				continue
			}
			feed.take(st.View(), "1", nil, nil)
			if doc, now, news := feed.since(pages[i].has); news {
				pages[i].read(t, doc, now)
			}
		}
	}
	var fresh browser
	feed.take(st.View(), "1", nil, nil)
	doc, now, _ := feed.since(fresh.has)
	fresh.read(t, doc, now)
	for i := range pages {
		if doc, now, news := feed.since(pages[i].has); news {
			if doc.Whole {
				t.Errorf("page %d must start over", i)
			}
			pages[i].read(t, doc, now)
		}
		if diff := cmp.Diff(fresh.page, pages[i].page); diff != "" {
			t.Errorf("page %d (-fresh +it):\n%s", i, diff)
		}
		if _, _, news := feed.since(pages[i].has); news {
			t.Errorf("page %d gets something although nothing has changed", i)
		}
	}
}

func TestFeedResumes(t *testing.T) {
	st := statetest.New(statetest.Session, statetest.Loaded(statetest.Local("a"), statetest.Local("b")))
	run := state.TheSession(st.View()).RunID
	var feed pageFeed
	feed.take(st.View(), "1", nil, nil)
	_, at, _ := feed.since(pageCursor{})
	for _, tc := range []struct {
		name, id    string
		whole, news bool
	}{
		{"where it is", at.String(), false, false},
		{"nothing", "", true, true},
		{"another run of the session", "other.1", true, true},
		{"the future", fmt.Sprintf("%s.%d", run, at.revision+1), true, true},
		{"no number", run + ".x", true, true},
		{"a number too long", run + ".99999999999999999999999", true, true},
	} {
		doc, _, news := feed.since(readPageCursor(tc.id))
		if news != tc.news || doc.Whole != tc.whole {
			t.Errorf("%s: news %t, whole %t", tc.name, news, doc.Whole)
		}
	}
	feed.forgotten = at.revision + 1 // too many resources have gone to remember them
	if doc, _, _ := feed.since(at); !doc.Whole {
		t.Error("a page that may lack removals goes on")
	}
}

// pageEvents reads a stream of the page.
type pageEvents struct {
	t    *testing.T
	body *bufio.Scanner
}

func (f *live) pageEvents(t *testing.T, query, last string) pageEvents {
	t.Helper()
	c, base := f.client("http")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/page"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	s := bufio.NewScanner(resp.Body)
	s.Buffer(nil, 1<<20)
	return pageEvents{t, s}
}

// next returns the next event.
func (s pageEvents) next() (id, kind string, doc api.Page, data string) {
	s.t.Helper()
	for s.body.Scan() {
		field, value, _ := strings.Cut(s.body.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			data = value
			if kind == "page" {
				if err := json.Unmarshal([]byte(data), &doc); err != nil {
					s.t.Fatal(err)
				}
			}
		case "":
			return id, kind, doc, data
		}
	}
	s.t.Fatalf("the stream ended: %v", s.body.Err())
	return
}

func names(rows []api.PageResource) string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Name+":"+r.Status)
	}
	return strings.Join(out, " ")
}

// TestPageStream watches a session as a page does: the whole, a difference, then a cut and the changes meanwhile.
func TestPageStream(t *testing.T) {
	f := serveLive(t)
	f.Dispatch(statetest.Session, statetest.Loaded(statetest.Local("a"), statetest.Local("b"), statetest.Local("c")))
	f.Until("the resources are declared", func(v store.View) bool { return state.Resources.In(v).Len() == 3 })
	first := f.pageEvents(t, "?detail=a&log=a", "")
	_, kind, doc, _ := first.next()
	if kind != "page" || !doc.Whole || doc.Session.Project != "src" || doc.Detail == nil || doc.Detail.Name != "a" || !slices.Equal(doc.Order, []string{"(Tiltfile)", "a", "b", "c"}) {
		t.Errorf("%s %+v", kind, doc)
	}
	f.Dispatch(state.SessionPaused{})
	id, _, doc, _ := first.next()
	for doc.Session == nil || !doc.Session.Paused {
		id, _, doc, _ = first.next()
	}
	if doc.Whole || len(doc.Order) > 0 {
		t.Errorf("the difference: %+v", doc)
	}
	f.logs.Logger("b", "", "build").Write(1, "of another resource\n")
	f.logs.Logger("a", "", "build").Write(1, "one\ntwo\n")
	if _, kind, _, data := first.next(); kind != "log" || data != `{"lines":2}` {
		t.Errorf("%s %s", kind, data)
	}

	f.Dispatch(state.SessionResumed{}, statetest.Loaded(statetest.Local("a"), statetest.Local("c")))
	f.Until("a resource is gone", func(v store.View) bool { return state.Resources.In(v).Len() == 2 })
	_, _, doc, _ = f.pageEvents(t, "", id).next()
	if doc.Whole || doc.Session == nil || doc.Session.Paused || !slices.Equal(doc.Removed, []string{"b"}) || !slices.Equal(doc.Order, []string{"(Tiltfile)", "a", "c"}) {
		t.Errorf("after the cut: %+v %s", doc, names(doc.Resources))
	}
	_, _, doc, _ = f.pageEvents(t, "?since="+id, "").next()
	if doc.Whole {
		t.Error("parameter since begins with everything")
	}
	if _, _, doc, _ = f.pageEvents(t, "?detail=gone", "").next(); !doc.Whole || doc.Detail != nil {
		t.Errorf("details of what does not exist: %+v", doc.Detail)
	}
	if code, body := f.ask("http", "GET", "/api/page?sinse=1", ""); code != 400 {
		t.Errorf("%d %s", code, body)
	}
}

// TestSlowPage has a page that does not read while the session changes often. The loop keeps running, and the page gets few
// events afterwards.
func TestSlowPage(t *testing.T) {
	f := serveLive(t)
	f.declare(200)
	s := f.pageEvents(t, "", "")
	f.changes()
	f.Dispatch(state.SessionPaused{})
	events := 0
	for {
		_, _, doc, _ := s.next()
		events++
		if doc.Session != nil && doc.Session.Paused {
			break
		}
	}
	if events > 250 { // of more than 500 changes
		t.Errorf("%d events", events)
	}
}

// TestPageHidesSecrets: rows and details go through the redactor like everything that the API sends.
func TestPageHidesSecrets(t *testing.T) {
	m := statetest.Local("a")
	m.Local.Serve = model.Cmd{Argv: []string{"serve", "--token=hunter22"}}
	m.Links = []model.Link{{URL: "http://localhost/?key=hunter22"}}
	loaded := statetest.Loaded(m)
	loaded.Result.Secrets = []model.Secret{{Name: "s", Key: "k", Value: "hunter22"}}
	f := serveLive(t)
	f.Dispatch(statetest.Session, loaded)
	f.Until("the resource is declared", func(v store.View) bool { return state.Resources.In(v).Len() == 1 })
	_, _, doc, data := f.pageEvents(t, "?detail=a", "").next()
	if strings.Contains(data, "hunter22") || doc.Detail == nil || !strings.Contains(doc.Detail.ServeCmd, "[redacted") {
		t.Error(data)
	}
}

// TestPageDocIsPage: the document that is sent has the fields of the type that is documented.
func TestPageDocIsPage(t *testing.T) {
	fields := func(doc any) []string {
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&m); err != nil {
			t.Fatal(err)
		}
		return slices.Sorted(maps.Keys(m))
	}
	raw := json.RawMessage(`{}`)
	sent := fields(pageDoc{Whole: true, Session: raw, Order: raw, Resources: []json.RawMessage{raw}, Removed: []string{"a"}, Detail: raw})
	said := fields(api.Page{Whole: true, Session: &api.PageSession{}, Order: []string{"a"}, Resources: []api.PageResource{{}}, Removed: []string{"a"}, Detail: &api.PageDetail{}})
	if diff := cmp.Diff(said, sent); diff != "" {
		t.Errorf("-documented +sent:\n%s", diff)
	}
}

// TestPageOnce asks for single events instead of a stream: each has the news since the one before.
func TestPageOnce(t *testing.T) {
	f := newFixture(statetest.Session, statetest.Loaded(statetest.Local("a"), statetest.Local("b")))
	ask := func(query string) string {
		code, body := f.do(request("GET", "/api/page?follow=false"+query, ""))
		if code != http.StatusOK {
			t.Fatalf("%s: %d %s", query, code, body)
		}
		return body
	}
	first := ask("&detail=a")
	id, _, _ := strings.Cut(strings.TrimPrefix(first, "id: "), "\n")
	if !strings.Contains(first, `"whole":true`) || !strings.Contains(first, `"detail":{"name":"a"`) || strings.Count(first, "event: page") != 1 {
		t.Errorf("the first event: %s", first)
	}
	if again := ask("&since=" + id); again != "" {
		t.Errorf("nothing has happened: %s", again)
	}
	f.store.Dispatch(state.ResourcesSwitched{Off: []model.ManifestName{"b"}})
	f.store.Step()
	if next := ask("&since=" + id); !strings.Contains(next, `"name":"b"`) || strings.Contains(next, `"name":"a"`) || strings.Contains(next, "whole") {
		t.Errorf("b has changed: %s", next)
	}
	if code, body := f.do(request("GET", "/api/page?follow=maybe", "")); code != http.StatusBadRequest {
		t.Errorf("%d %s", code, body)
	}
}
