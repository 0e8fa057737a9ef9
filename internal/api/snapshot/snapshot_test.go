package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/test/hostile"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// shop is the session of the shop, with its logs.
func shop(t *testing.T) Session {
	logs := statetest.Logs(t)
	hudtest.ShopLogs(logs)
	v := hudtest.Shop().View(t.Context())
	return Session{View: v, Shown: api.View{Version: "1.2.3", Resources: []api.Resource{{Name: "api"}}}, Logs: logs, Redactor: redact.Of(v),
		Version: "1.2.3", At: hudtest.ShopTime}
}

var (
	update = flag.Bool("update", false, "write the snapshot for the tests of the web page")
	poison = flag.String("hostile", "", "write snapshots with hostile text to this folder, for the tests of the web page")
)

// TestShopFile checks that the snapshot for the pictures of the web page's tests is the snapshot of the shop.
func TestShopFile(t *testing.T) {
	const path = "../../../web/test/testdata/shop.json"
	got := written(t, shop(t).Write)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s is stale, run make generate; then scripts/web looks, if the pictures differ", path)
	}
}

// markup is text that takes over a page that reads it as HTML or follows it as a link.
const markup = "javascript:document.title='owned'//<img src=x onerror=\"document.title='owned'\"><b class=owned>"

// wide is a word that is wider than any window.
var wide = strings.Repeat("W", 500)

// TestHostile writes and reads sessions in which everything that others can write is hostile.
func TestHostile(t *testing.T) {
	dir := *poison
	if dir == "" {
		dir = t.TempDir()
	}
	for name, scene := range map[string]*hudtest.Scene{"shop": hudtest.Shop(), "story": hudtest.Story(), "drifted": hudtest.Drifted(), "trouble": hudtest.Trouble()} {
		v := scene.View(t.Context())
		hostile.FillSession(v, markup+hostile.All()+wide)
		logs := statetest.Logs(t)
		hudtest.ShopLogs(logs)
		hudtest.TroubleLogs(logs)
		for _, m := range state.TheTiltfile(v).Result.Manifests {
			for kind, text := range hostile.Kinds {
				logs.Append(logstore.Entry{Resource: m.Name, Level: logstore.LevelError, Text: kind + text + markup + " http://x/" + text})
				line, err := json.Marshal(map[string]string{"msg": markup + text, kind + text: text + markup})
				if err != nil {
					t.Fatal(err)
				}
				logs.Append(logstore.Entry{Resource: m.Name, Text: text + string(line)})
			}
		}
		doc := written(t, Session{View: v, Shown: api.View{}, Logs: logs, Redactor: redact.Of(v), Version: "1.2.3", At: hudtest.ShopTime}.Write)
		reread(t, doc)
		if err := os.WriteFile(filepath.Join(dir, name+".json"), doc, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// written returns the output of a session's function that writes.
func written(t *testing.T, write func(context.Context, io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Fatalf("no JSON: %.500s", b.Bytes())
	}
	return b.Bytes()
}

func reread(t *testing.T, doc []byte) api.Snapshot {
	t.Helper()
	s, err := Read(bytes.NewReader(doc), "file")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRoundTrip writes the shop and looks at the session that is read back: all rows, all details and all lines are the same.
func TestRoundTrip(t *testing.T) {
	s := shop(t)
	s.Logs.Append(logstore.Entry{Time: hudtest.ShopTime, Resource: "mailer", Source: logstore.SourceRuntime, Level: logstore.LevelError, Continues: true,
		Prefix: "[x2v1q main] ", Pod: "mailer-7c9d-x2v1q", Container: "main", Text: "goroutine 1 [running]:"})
	got := reread(t, written(t, s.Write))
	if got.Version != "1.2.3" || !got.CreatedAt.Equal(hudtest.ShopTime) || got.Snapshot != s.View.Seq || len(got.LogsLeftOut) > 0 {
		t.Errorf("version %s at %s, snapshot %d, left out %v", got.Version, got.CreatedAt, got.Snapshot, got.LogsLeftOut)
	}
	if diff := cmp.Diff(s.Shown, got.View); diff != "" {
		t.Errorf("view (-want +got):\n%s", diff)
	}
	if n := len(got.Events); n == 0 || got.Events[n-1].Seq != state.NewestEvent(s.View) {
		t.Errorf("%d events up to number %d", n, state.NewestEvent(s.View))
	}
	v, err := Restore(got)
	if err != nil {
		t.Fatal(err)
	}
	want, is := view.Build(s.View, hudtest.ShopTime, 0), view.Build(v, hudtest.ShopTime, 0)
	if len(want.Rows) < 10 {
		t.Fatalf("the shop has %d rows", len(want.Rows))
	}
	if diff := cmp.Diff(want, is, cmp.AllowUnexported(view.Card{})); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	for _, r := range want.Rows {
		before, _ := view.DetailsOf(s.View, r.Name, hudtest.ShopTime)
		after, _ := view.DetailsOf(v, r.Name, hudtest.ShopTime)
		if diff := cmp.Diff(before, after); diff != "" || len(before.Tabs) == 0 {
			t.Errorf("details of %s (-want +got):\n%s", r.Name, diff)
		}
	}
	for _, info := range state.Schema.Tables() {
		for row := range s.View.Rows(info.Name) {
			if info.Name != state.Events.Name() && !hasMeta(v, info.Name, *row.Metadata()) {
				t.Errorf("%s %s has lost its metadata", info.Name, row.Metadata().ID)
			}
		}
	}
	logs := statetest.Logs(t)
	Replay(got.Logs, logs)
	lines := func(l *logstore.Store) []logstore.Line {
		all := l.ReadAfter(logstore.Filter{}, 0, 1000)
		for i := range all {
			all[i].Time = all[i].Time.UTC()
		}
		return all
	}
	if diff := cmp.Diff(lines(s.Logs), lines(logs)); diff != "" || len(lines(logs)) < 10 {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	// The session that was read back is written the same again.
	second := Session{View: v, Shown: got.View, Logs: logs, Version: "1.2.3", At: hudtest.ShopTime, Events: got.Events}
	first, again := got, reread(t, written(t, second.Write))
	delete(first.Tables, state.Events.Name())
	delete(again.Tables, state.Events.Name())
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
}

func hasMeta(v store.View, table string, want store.Meta) bool {
	for row := range v.Rows(table) {
		m := *row.Metadata()
		if m.ID == want.ID {
			same := m.Created.Equal(want.Created) && m.Updated.Equal(want.Updated)
			m.Created, m.Updated = want.Created, want.Updated
			return same && cmp.Equal(m, want)
		}
	}
	return false
}

// TestSecrets has secrets everywhere: in tables, in the API's view, and in lines that were stored before the secrets were
// known.
func TestSecrets(t *testing.T) {
	const secret = "correct horse battery"
	logs := statetest.Logs(t)
	logs.Append(logstore.Entry{Resource: "web", Text: "password=" + secret})
	tf := statetest.Loaded(statetest.K8s("web"))
	tf.Result.Secrets = []model.Secret{{Name: "db", Key: "password", Value: secret}}
	tf.Result.Manifests[0].K8s.Objects = append(tf.Result.Manifests[0].K8s.Objects, model.K8sObject{APIVersion: "v1", Kind: "Secret", Name: "db",
		JSON: `{"stringData":{"password":"` + secret + `"}}`})
	v := statetest.New(statetest.Session, tf).View()
	s := Session{View: v, Shown: api.View{TiltfileError: "cannot log in with " + secret}, Logs: logs, Redactor: redact.Of(v)}
	for name, write := range map[string]func(context.Context, io.Writer) error{"snapshot": s.Write, "logs": s.WriteLogs,
		"engine": func(ctx context.Context, w io.Writer) error { return s.WriteEngine(ctx, w, store.New(state.Schema)) }} {
		doc := string(written(t, write))
		if strings.Contains(doc, secret) {
			t.Errorf("%s: a secret in %s", name, doc)
		}
		if !strings.Contains(doc, "[redacted secret db:password]") && name != "engine" {
			t.Errorf("%s: nothing was redacted: %s", name, doc)
		}
	}
}

// TestBounds has a resource with more lines than a snapshot holds, and a resource with long lines; neither takes the space of
// another.
func TestBounds(t *testing.T) {
	logs, err := logstore.New(logstore.Options{Dir: t.TempDir(), MemoryPerResource: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = logs.Close() })
	logs.Append(logstore.Entry{Resource: "quiet", Text: "once"})
	for i := range maxLines + 500 {
		logs.Append(logstore.Entry{Resource: "chatty", Text: fmt.Sprint(i)})
		if i%100 == 0 && i < 4000 {
			logs.Append(logstore.Entry{Resource: "long", Text: strings.Repeat("x", 100<<10)})
		}
	}
	v := statetest.New(statetest.Session).View()
	s := Session{View: v, Logs: logs}
	got := reread(t, written(t, s.Write))
	count := map[string]int{}
	first := map[string]string{}
	for _, l := range got.Logs {
		if count[l.Resource]++; count[l.Resource] == 1 {
			first[l.Resource] = l.Text
		}
	}
	if diff := cmp.Diff(map[string]int{"quiet": 1, "chatty": maxLines, "long": maxText / (100 << 10)}, count); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if first["chatty"] != "500" {
		t.Errorf("the oldest line is %s", first["chatty"])
	}
	if diff := cmp.Diff(map[string]uint64{"chatty": 500, "long": uint64(40 - maxText/(100<<10))}, got.LogsLeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

// TestLogDump checks that the dump has all lines, with their segments and spans.
func TestLogDump(t *testing.T) {
	s := shop(t)
	var got api.LogDump
	if err := json.Unmarshal(written(t, s.WriteLogs), &got); err != nil {
		t.Fatal(err)
	}
	if want := s.Logs.Count(logstore.Filter{}); len(got.Lines) != want || want < 10 {
		t.Errorf("%d lines, want %d", len(got.Lines), want)
	}
	for _, r := range got.Resources {
		n := uint64(0)
		for _, l := range got.Lines {
			if l.Resource == r.Resource {
				n++
			}
		}
		if n != r.Lines || len(r.Segments) == 0 {
			t.Errorf("%s: %d lines, the inventory has %d in %d segments", r.Resource, n, r.Lines, len(r.Segments))
		}
		if r.Resource == "worker" && (len(r.Spans) != 1 || r.Spans[0].Span != "build:worker:2" || r.Spans[0].First >= r.Spans[0].Last) {
			t.Errorf("spans of worker: %+v", r.Spans)
		}
	}
}

// TestEngineDump has every entry of every table.
func TestEngineDump(t *testing.T) {
	s := shop(t)
	var got api.EngineDump
	doc := written(t, func(ctx context.Context, w io.Writer) error { return s.WriteEngine(ctx, w, store.New(state.Schema)) })
	if err := json.Unmarshal(doc, &got); err != nil {
		t.Fatal(err)
	}
	for table, n := range s.View.Tables() {
		if len(got.Tables[table]) != n {
			t.Errorf("%s has %d entries, want %d", table, len(got.Tables[table]), n)
		}
	}
	if len(got.Loop) == 0 || got.Tables["resources"][0].Owner == "" {
		t.Errorf("the loop or the metadata is missing: %.300s", doc)
	}
}

// TestCancelled stops in the middle.
func TestCancelled(t *testing.T) {
	s := shop(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, write := range map[string]func(context.Context, io.Writer) error{"snapshot": s.Write, "logs": s.WriteLogs,
		"engine": func(ctx context.Context, w io.Writer) error { return s.WriteEngine(ctx, w, store.New(state.Schema)) }} {
		if err := write(ctx, io.Discard); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if err := write(t.Context(), broken{}); !errors.Is(err, errBroken) {
			t.Errorf("%s to a writer that fails: %v", name, err)
		}
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// TestNoSnapshot reads files of other kinds.
func TestNoSnapshot(t *testing.T) {
	whole := string(written(t, shop(t).Write))
	for doc, want := range map[string]string{
		"":                         "file is empty",
		"hello":                    "file is not a snapshot",
		"[]":                       "file is not a snapshot",
		`{"view":{"resources":1}}`: "file is not a snapshot",
		`{"view":{},"createdAt":"2026-01-02T03:04:05Z"}`: "file is not a snapshot of hone: it has no snapshotVersion",
		`{"snapshotVersion":7,"version":"9.9.9"}`:        "file has snapshot version 7, but this hone supports only 1",
		whole[:len(whole)/2]:                             "file is incomplete: it ends in the middle",
	} {
		_, err := Read(strings.NewReader(doc), "file")
		var p *problem.Problem
		if !errors.As(err, &p) || p.Summary != want || p.Mend == "" {
			t.Errorf("%.40q: %v, want the problem %q", doc, err, want)
		}
	}
	s := api.Snapshot{SnapshotVersion: 1, Version: "3.0.0", Tables: map[string][]api.TableEntry{"pods": {{ID: "p", Entry: []byte(`{"ready":"perhaps"}`)}}}}
	if _, err := Restore(s); err == nil || !strings.Contains(problem.Text(err), "pods p: ready: expected true or false") || !strings.Contains(problem.Text(err), "v3.0.0") {
		t.Error(err)
	}
	s.Tables = map[string][]api.TableEntry{"pods": {{ID: "p", Entry: []byte(`{}`)}, {ID: "p", Entry: []byte(`{}`)}}}
	if _, err := Restore(s); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Error(err)
	}
	s.Tables = map[string][]api.TableEntry{"of a later version": {{ID: "p"}}}
	if _, err := Restore(s); err != nil {
		t.Error(err)
	}
}

// TestOpen checks that files that cannot be written are refused, and that only the owner can read the file.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "snapshot.json")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for path, want := range map[string]string{dir: "is a folder", filepath.Join(dir, "none", "s.json"): "could not be written",
		filepath.Join(path, "s.json"): "could not be written"} {
		var p *problem.Problem
		if _, err := Open(path); !errors.As(err, &p) || !strings.Contains(p.Summary, want) || p.Mend == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestBigSession writes a large store without holding the document in memory.
func TestBigSession(t *testing.T) {
	manifests := make([]model.Manifest, 1000)
	for i := range manifests {
		manifests[i] = statetest.K8s(fmt.Sprintf("r%04d", i), statetest.Image(fmt.Sprintf("r%04d", i)))
	}
	v := statetest.New(statetest.Session, statetest.Loaded(manifests...)).View()
	s := Session{View: v, Logs: statetest.Logs(t), At: time.Now()}
	var largest int
	n := 0
	if err := s.Write(t.Context(), writerFunc(func(b []byte) (int, error) {
		largest, n = max(largest, len(b)), n+len(b)
		return len(b), nil
	})); err != nil {
		t.Fatal(err)
	}
	if n < 200_000 || largest > n/2 { // the Tiltfile is one entry, with all resources in it
		t.Errorf("%d bytes, the largest piece %d", n, largest)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
