package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestSettle checks that a response comes only once the state has the changes of files on their way, and that it says if no watcher can tell.
func TestSettle(t *testing.T) {
	var f *live
	var fails error
	f = serveLive(t, func(s *Subscriber) {
		s.SettleBy(func(context.Context) (time.Time, error) {
			return f.Store.Dispatch(state.FilesChanged{At: statetest.Epoch, Changes: []state.FileChange{{Target: statetest.Local("a").DeployID(), Paths: []string{"/src/a"}}}}), fails
		})
	})
	f.Dispatch(statetest.Session, statetest.Loaded(statetest.Local("a")))
	if code, body := f.ask("http", "POST", "/api/settle", "{}"); code != http.StatusOK || body != `{"known":true}`+"\n" {
		t.Errorf("%d %s", code, body)
	}
	if u := state.Updates.In(f.Store.Snapshot().All()).Value("a"); u.PendingSince().IsZero() {
		t.Error("the change is not in the state")
	}
	fails = errors.ErrUnsupported
	if code, body := f.ask("http", "POST", "/api/settle", "{}"); code != http.StatusOK || body != `{"known":false}`+"\n" {
		t.Errorf("%d %s", code, body)
	}
}

// settled is a server over a session whose resource a, a local command, has run. fence is the error of the fence.
func settled(t *testing.T, dir string, fence *error) *live {
	f := serveLive(t, func(s *Subscriber) {
		s.SettleBy(func(context.Context) (time.Time, error) { return time.Time{}, *fence })
	})
	session := statetest.Session
	session.Session.Tiltfile = filepath.Join(dir, "Tiltfile")
	loaded := statetest.Loaded(statetest.Local("a"))
	loaded.At = statetest.Epoch
	f.Dispatch(session, state.TiltfileStarted{At: statetest.Epoch}, loaded)
	f.runs("")
	return f
}

// runs is an update of the resource a that ends with an error, or without one.
func (f *live) runs(err string, output ...string) {
	serial := state.Updates.In(f.View()).Value("a").Serial + 1
	f.Dispatch(state.BuildStarted{Resource: "a", Serial: serial, At: time.Now(), Span: "build:1"})
	f.reduced(state.BuildCompleted{Resource: "a", Serial: serial, At: time.Now(), Mode: "local", Err: err, Output: output, Deployed: err == ""})
}

// reduced dispatches actions, and waits until the state has them.
func (f *live) reduced(actions ...store.Action) {
	at := f.Store.Dispatch(actions...)
	f.Until("the actions are reduced", func(v store.View) bool { return !v.At.Before(at) })
}

// report asks for a report.
func (f *live) report(body string) (rep api.SettleReport) {
	f.t.Helper()
	code, text := f.ask("http", "POST", "/api/settle/report", body)
	if code != http.StatusOK {
		f.t.Fatalf("%d %s", code, text)
	}
	if err := json.Unmarshal([]byte(text), &rep); err != nil {
		f.t.Fatal(err)
	}
	return rep
}

// TestSettleReport checks the parts of a report that the snapshot alone does not have.
func TestSettleReport(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var fence error
	f := settled(t, dir, &fence)
	if rep := f.report(`{"windowMs":0}`); rep.Result != api.SettleLive || rep.ExitCode != 0 {
		t.Errorf("it runs: %+v", rep)
	}
	fence = context.DeadlineExceeded
	if rep := f.report(`{"windowMs":0}`); rep.Result != api.SettleWaiting || rep.ExitCode != 124 || rep.Text != "files keep changing" {
		t.Errorf("no end of changes: %+v", rep)
	}
	fence = nil
	f.runs("exit code 2", "compiling", "gone.go:4: y", "main.go:3:7: undefined: x")
	rep := f.report(`{"resources":["a"]}`)
	want := []string{"main.go:3:7: undefined: x"}
	if rep.Result != api.SettleFailing || rep.ExitCode != 1 || !cmp.Equal(want, rep.Resources[0].Lines) {
		t.Errorf("it fails: %+v", rep)
	}
	if diff := cmp.Diff(&api.SourcePlace{File: filepath.ToSlash(filepath.Join(dir, "main.go")), Line: 3, Column: 7}, rep.Resources[0].Place); diff != "" {
		t.Error(diff)
	}
	for body, code := range map[string]int{`{"resources":["b"]}`: http.StatusNotFound, `{"windowMs":-1}`: http.StatusBadRequest, `{"line":"/(/"}`: http.StatusBadRequest, `{"resources":3}`: http.StatusBadRequest} {
		if got, text := f.ask("http", "POST", "/api/settle/report", body); got != code {
			t.Errorf("%s: %d %s, want %d", body, got, text, code)
		}
	}
}

// TestSettleReportWaits checks that a request is answered as soon as the answer is certain.
func TestSettleReportWaits(t *testing.T) {
	var fence error
	f := settled(t, t.TempDir(), &fence)
	f.reduced(state.ResourcesTriggered{Names: []model.ManifestName{"a"}})
	if rep := f.report(`{}`); rep.Result != api.SettleWaiting {
		t.Errorf("it is due: %+v", rep)
	}
	ended := make(chan api.SettleReport, 1)
	go func() { ended <- f.report(`{"withinMs":60000,"windowMs":0,"line":"listening"}`) }()
	f.runs("")
	f.logs.Append(logstore.Entry{Time: time.Now(), Resource: "a", Source: logstore.SourceRuntime, Level: logstore.LevelInfo, Text: "listening on 80"})
	rep := <-ended
	if rep.Result != api.SettleLive || rep.Line == nil || rep.Line.Text != "listening on 80" {
		t.Errorf("after the update: %+v", rep)
	}
}

// TestSettleAsksForFilesAgain checks that files count that a command has written while it was waited for: their changes may come only after
// the end of the command.
func TestSettleAsksForFilesAgain(t *testing.T) {
	var f *live
	asked, begun := 0, make(chan struct{})
	f = serveLive(t, func(s *Subscriber) {
		s.SettleBy(func(context.Context) (at time.Time, err error) {
			switch asked++; asked {
			case 2:
				close(begun)
			case 3:
				at = f.Store.Dispatch(state.FilesChanged{At: time.Now(), Made: time.Now(), Changes: []state.FileChange{{Target: statetest.Local("b").DeployID(), Paths: []string{"/src/b"}}}})
			}
			return at, nil
		})
	})
	loaded := statetest.Loaded(statetest.Local("a"), statetest.Local("b"))
	loaded.At = statetest.Epoch
	f.Dispatch(statetest.Session, state.TiltfileStarted{At: statetest.Epoch}, loaded)
	f.Dispatch(state.BuildStarted{Resource: "b", Serial: 1, At: time.Now()}, state.BuildCompleted{Resource: "b", Serial: 1, At: time.Now(), Deployed: true})
	f.reduced(state.BuildStarted{Resource: "a", Serial: 1, At: time.Now()})
	ended := make(chan api.SettleReport, 1)
	go func() { ended <- f.report(`{"resources":["b"],"withinMs":60000,"windowMs":0}`) }()
	rep := <-ended
	if rep.Result != api.SettleLive || asked != 1 {
		t.Errorf("nothing has worked since the question: %+v, asked %d times", rep, asked)
	}
	go func() { ended <- f.report(`{"withinMs":60000,"windowMs":0}`) }()
	<-begun
	f.reduced(state.BuildCompleted{Resource: "a", Serial: 1, At: time.Now(), Deployed: true})
	f.Until("the file of the command is known", func(v store.View) bool { return !state.Updates.In(v).Value("b").PendingSince().IsZero() })
	f.Dispatch(state.BuildStarted{Resource: "b", Serial: 2, At: time.Now()}, state.BuildCompleted{Resource: "b", Serial: 2, At: time.Now(), Deployed: true})
	if rep := <-ended; rep.Result != api.SettleLive || state.Updates.In(f.View()).Value("b").SucceededSerial != 2 {
		t.Errorf("before the file of the command was used: %+v", rep)
	}
}

// TestNewErrors checks which error lines count as new: those within the window that no earlier line is like.
func TestNewErrors(t *testing.T) {
	logs := statetest.Logs(t)
	s := New(Options{Logs: logs})
	at := func(sec int) time.Time { return statetest.Epoch.Add(time.Duration(sec) * time.Second) }
	for _, l := range []struct {
		sec   int
		level logstore.Level
		text  string
	}{
		{1, logstore.LevelError, "cannot reach cache 10.0.0.7, try 1"}, {5, logstore.LevelError, "cannot reach cache 10.0.0.9, try 2"}, {6, logstore.LevelInfo, "started"},
		{7, logstore.LevelError, "no such table: users"}, {12, logstore.LevelError, "after the window"},
	} {
		logs.Append(logstore.Entry{Time: at(l.sec), Resource: "a", Source: logstore.SourceRuntime, Level: l.level, Text: l.text})
		logs.Append(logstore.Entry{Time: at(l.sec), Resource: "b", Source: logstore.SourceRuntime, Level: logstore.LevelError, Text: "of another one"})
	}
	var got []string
	for _, l := range s.newErrors("a", at(5), at(10)) {
		got = append(got, l.Text)
	}
	if want := "no such table: users"; strings.Join(got, "\n") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLogsSinceSave checks that the log can be read from the newest save of its resources on.
func TestLogsSinceSave(t *testing.T) {
	f := serveLive(t)
	f.reduced(statetest.Session, statetest.Loaded(statetest.Local("a"), statetest.Local("b")))
	saved := time.Now()
	f.reduced(state.FilesChanged{At: saved, Made: saved, Changes: []state.FileChange{{Target: statetest.Local("a").DeployID(), Paths: []string{"/src/a"}}}})
	for i, text := range []string{"before", "after"} {
		f.logs.Append(logstore.Entry{Time: saved.Add(time.Duration(2*i-1) * time.Second), Resource: "a", Source: logstore.SourceRuntime, Level: logstore.LevelInfo, Text: text})
	}
	for query, want := range map[string]string{"since=save": "a │ after\n", "since=save&resource=a": "a │ after\n", "since=save&resource=b": ""} {
		if code, text := f.ask("http", "GET", "/api/logs?"+query, ""); code != http.StatusOK || text != want {
			t.Errorf("%s: %d %q, want %q", query, code, text, want)
		}
	}
}

// TestSettleAsksContainers checks that containers with files of updates in place must answer before they count as live.
func TestSettleAsksContainers(t *testing.T) {
	var asked []string
	var synclet bool
	goesOn, known := false, true
	f := serveLive(t, func(s *Subscriber) {
		s.AnswerBy(func(_ context.Context, id string, synced bool) (bool, bool) {
			asked, synclet = append(asked, id), synced
			return goesOn, known
		})
	})
	loaded := statetest.Loaded(statetest.K8s("api", statetest.Image("img")))
	loaded.At = statetest.Epoch
	f.Dispatch(statetest.Session, state.TiltfileStarted{At: statetest.Epoch}, loaded)
	f.Dispatch(statetest.Connected()...)
	done := state.BuildCompleted{Resource: "api", Serial: 1, At: time.Now(), Mode: "image", Deployed: true, Images: map[string]model.ImageResult{"img": {Local: "img:1", Cluster: "img:1"}}}
	f.reduced(state.BuildStarted{Resource: "api", Serial: 1, At: time.Now()}, done, statetest.Pod("api", "p1", "c1", "img:1"),
		state.SyncletChanged{ID: "c1", Synclet: state.Synclet{Resource: "api", Pod: "p1", Container: "main", State: "ready"}})
	if rep := f.report(`{"windowMs":0}`); rep.Result != api.SettleLive || asked != nil {
		t.Errorf("without files of its own: %+v, asked %v", rep, asked)
	}
	f.reduced(statetest.Change("img", "/src/img/main.go"))
	f.reduced(state.BuildStarted{Resource: "api", Serial: 2, At: time.Now()},
		state.BuildCompleted{Resource: "api", Serial: 2, At: time.Now(), Mode: "synclet", Synced: []string{"c1"}, Touched: []string{"c1"}})
	if rep := f.report(`{"windowMs":0}`); rep.Result != api.SettleWaiting || rep.ExitCode != 124 || rep.Text != "a container does not answer" {
		t.Errorf("it does not answer: %+v", rep)
	}
	goesOn, asked = true, nil
	if rep := f.report(`{"windowMs":0}`); rep.Result != api.SettleLive || !cmp.Equal(asked, []string{"c1"}) || !synclet {
		t.Errorf("it answers: %+v, asked %v, a synclet: %t", rep, asked, synclet)
	}
	f.reduced(state.SyncletGone{ID: "c1"})
	asked = nil
	if rep := f.report(`{"windowMs":0}`); rep.Result != api.SettleLive || !cmp.Equal(asked, []string{"c1"}) || synclet {
		t.Errorf("without a synclet: %+v, asked %v, a synclet: %t", rep, asked, synclet)
	}
	goesOn, known = false, false
	if rep := f.report(`{"windowMs":0}`); rep.Result != api.SettleUnknown || rep.ExitCode != 3 || !strings.Contains(rep.Text, "neither a synclet nor cat") {
		t.Errorf("nothing can tell: %+v", rep)
	}
}
