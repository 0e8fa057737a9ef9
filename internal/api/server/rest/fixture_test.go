package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The schema of these tests: notes, which clients may write.
type (
	note struct {
		Text        string
		Size        int
		Annotations map[string]string
		Clicks      int
	}
	written struct {
		Name   string
		Labels map[string]string
		Note   note
	}
	erased struct{ Name string }
)

// Note is a note as an object.
type Note struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              NoteSpec   `json:"spec,omitzero"`
	Status            NoteStatus `json:"status,omitzero"`
}

type NoteSpec struct {
	Text string `json:"text,omitempty"`
	Size int    `json:"size,omitempty"`
}

type NoteStatus struct {
	Clicks     int                `json:"clicks,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

func (n *Note) DeepCopyObject() runtime.Object {
	c := *n
	c.ObjectMeta = *n.ObjectMeta.DeepCopy()
	return &c
}

// world is a store of notes and the handler that serves them.
type world struct {
	t       testing.TB
	store   *store.Store
	notes   *store.Table[note]
	handler *Handler
	// secrets are hidden in all answers.
	secrets []model.Secret
	mu      sync.Mutex
	tick    chan struct{}
}

func newWorld(t testing.TB) *world {
	schema := store.NewSchema()
	w := &world{t: t, notes: store.Define[note](schema, "notes", "Notes.")}
	store.On(w.notes, func(d *store.Draft[note], a written) { d.PutOwned(a.Name, "test", a.Labels, a.Note) })
	store.On(w.notes, func(d *store.Draft[note], a erased) { d.Delete(a.Name) })
	w.store = store.New(schema)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	wake, stop := w.store.Watch()
	all.Go(func() { w.store.Run(ctx) })
	all.Go(func() {
		for {
			select {
			case <-wake:
				w.tell()
			case <-ctx.Done():
				return
			}
		}
	})
	t.Cleanup(func() {
		stop()
		cancel()
		all.Wait()
	})
	readOnly := w.kind()
	readOnly.Name, readOnly.Plural, readOnly.ShortNames, readOnly.Write = "Fact", "facts", nil, nil
	w.handler = New(NewWriter(w), "1.2.3", NewLimit(), []projection.Kind{w.kind(), readOnly})
	return w
}

func (w *world) kind() projection.Kind {
	return projection.Kind{
		Group: "test.dev", Version: "v1alpha1", Name: "Note", Plural: "notes", ShortNames: []string{"nt"}, Doc: "What somebody has written down.",
		Tables: []string{"notes"}, NameOf: func(word string) string { return strings.ReplaceAll(word, "/", "_") },
		Items: func(v store.View) iter.Seq[projection.Item] {
			return func(yield func(projection.Item) bool) {
				for row := range v.Rows("notes") {
					if !yield(projection.Item{Name: row.Metadata().ID, Key: projection.Key{Of: row}, Maker: projection.MakeFunc(func() projection.Object { return object(row) })}) {
						return
					}
				}
			}
		},
		Columns: []projection.Column{
			{Name: "Text", Doc: "What it says.", Value: func(o projection.Object) any { return o.(*Note).Spec.Text }},
			{Name: "Hidden", Doc: "Of other sessions.", Shown: func(store.View) bool { return false }, Value: func(projection.Object) any { return "hidden" }},
			{Name: "Size", Doc: "How long.", Value: func(o projection.Object) any { return o.(*Note).Spec.Size }},
			{Name: "Age", Doc: "How old.", Wide: true, Value: func(o projection.Object) any { return o.(*Note).CreationTimestamp }},
		},
		New: func() projection.Object { return &Note{} },
		Write: func(_ store.View, old, new projection.Object) ([]store.Action, error) {
			if new == nil {
				return []store.Action{erased{old.GetName()}}, nil
			}
			n := new.(*Note)
			if n.Spec.Text == "bad" {
				return nil, problem.New("a note must not be bad", "write a good one")
			}
			return []store.Action{written{n.Name, n.Labels, note{n.Spec.Text, n.Spec.Size, n.Annotations, n.Status.Clicks}}}, nil
		},
	}
}

func object(row store.Row) *Note {
	m, n := row.Metadata(), row.Any().(note)
	o := &Note{Spec: NoteSpec{Text: n.Text, Size: n.Size}, Status: NoteStatus{Clicks: n.Clicks}}
	o.Name, o.Labels, o.Annotations = m.ID, maps.Clone(m.Labels), maps.Clone(n.Annotations)
	o.CreationTimestamp = metav1.NewTime(m.Created)
	status := metav1.ConditionFalse
	if n.Size > 10 {
		status = metav1.ConditionTrue
	}
	o.Status.Conditions = []metav1.Condition{{Type: "Long", Status: status, Reason: "Counted"}}
	return o
}

// View implements Store, as the other methods do.
func (w *world) View() store.View                           { return w.store.Snapshot().All() }
func (w *world) Dispatch(actions ...store.Action) time.Time { return w.store.Dispatch(actions...) }
func (w *world) Session(store.View) string                  { return "test" }
func (w *world) Redactor(store.View) *redact.Redactor       { return redact.New(w.secrets) }

func (w *world) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tick == nil {
		w.tick = make(chan struct{})
	}
	return w.tick
}

func (w *world) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tick != nil {
		close(w.tick)
		w.tick = nil
	}
}

// then dispatches actions and waits until they are reduced, each in its own snapshot.
func (w *world) then(actions ...store.Action) {
	w.t.Helper()
	for _, a := range actions {
		at := w.store.Dispatch(a)
		for {
			changed := w.Changed()
			if !w.store.Snapshot().At.Before(at) {
				break
			}
			<-changed
		}
	}
}

// put writes a note.
func put(name, text string, labels ...string) written {
	a := written{Name: name, Note: note{Text: text, Size: len(text)}}
	for _, l := range labels {
		k, v, _ := strings.Cut(l, "=")
		if a.Labels == nil {
			a.Labels = map[string]string{}
		}
		a.Labels[k] = v
	}
	return a
}

const notesPath = "/apis/test.dev/v1alpha1/notes"

// ask sends a request; headers are "Name: value".
func (w *world) ask(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body == "" {
		r = httptest.NewRequest(method, path, nil)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		r.Header.Set(k, v)
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec
}

// get returns the decoded answer to a request that must succeed.
func (w *world) get(path string, headers ...string) map[string]any {
	w.t.Helper()
	rec := w.ask("GET", path, "", headers...)
	if rec.Code != 200 {
		w.t.Fatalf("GET %s: %d %s", path, rec.Code, rec.Body)
	}
	var out map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &out); err != nil {
		w.t.Fatalf("GET %s: %v in %s", path, err, rec.Body)
	}
	return out
}

// at returns a value in a decoded document by the names and indices on the path to it.
func at(doc any, path ...any) any {
	for _, p := range path {
		switch step := p.(type) {
		case string:
			m, _ := doc.(map[string]any)
			doc = m[step]
		case int:
			l, _ := doc.([]any)
			if step >= len(l) {
				return nil
			}
			doc = l[step]
		}
	}
	return doc
}

// names returns the names of a list's objects.
func names(list map[string]any) (out []string) {
	items, _ := list["items"].([]any)
	for _, it := range items {
		out = append(out, at(it, "metadata", "name").(string))
	}
	return out
}

// serve runs a real server with a listener that only this test reaches, and returns its address.
func (w *world) serve() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	srv := access.Server(access.Guard(access.Rules{Local: true, Refuse: Refuse}, w.handler))
	ctx, cancel := context.WithCancel(context.Background())
	srv.BaseContext = func(net.Listener) context.Context { return ctx }
	done := make(chan error, 1)
	go func() { done <- srv.Serve(access.Listen(l, nil, access.MaxConnections)) }()
	w.t.Cleanup(func() {
		cancel()
		_ = srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			w.t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// stream is a running watch.
type stream struct {
	t    testing.TB
	dec  *json.Decoder
	stop func()
}

func (w *world) watch(address, path string, headers ...string) *stream {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	r, err := http.NewRequestWithContext(ctx, "GET", address+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		r.Header.Set(k, v)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	if resp.StatusCode != 200 {
		body, _ := io.ReadAll(resp.Body)
		w.t.Fatalf("%s: %d %s", path, resp.StatusCode, body)
	}
	s := &stream{w.t, json.NewDecoder(resp.Body), func() { cancel(); _ = resp.Body.Close() }}
	w.t.Cleanup(s.stop)
	return s
}

// next returns the next event: "TYPE name text", and the event itself.
func (s *stream) next() (string, map[string]any) {
	s.t.Helper()
	var e map[string]any
	if err := s.dec.Decode(&e); err != nil {
		return "end", nil
	}
	o := e["object"]
	name := at(o, "metadata", "name")
	if name == nil {
		name = at(o, "code")
	}
	return strings.TrimSpace(fmt.Sprintf("%v %v %v", e["type"], name, at(o, "spec", "text"))), e
}

// expect expects events in the given order.
func (s *stream) expect(want ...string) {
	s.t.Helper()
	for _, w := range want {
		if got, _ := s.next(); got != w {
			s.t.Fatalf("event %q, want %q", got, w)
		}
	}
}
