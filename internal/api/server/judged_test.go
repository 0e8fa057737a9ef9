package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestTests asks for the verdict of a test in its states. Nothing runs it: the actions stand for that.
func TestTests(t *testing.T) {
	f := serveLive(t, func(*Subscriber) {})
	api, test := statetest.Local("api"), statetest.Local("t")
	api.Local.AllowParallel, test.Local.AllowParallel = true, true
	test.Local.Test, test.ResourceDeps = &model.Test{}, []model.ManifestName{"api"}
	f.Dispatch(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(api, test))
	f.Until("the Tiltfile is evaluated", func(v store.View) bool { return state.TheTiltfile(v).Good })
	view := func() store.View { return f.Store.Snapshot().All() }
	run := func(name model.ManifestName, change func(*state.BuildCompleted)) func() {
		return func() {
			serial := state.Updates.In(view()).Value(string(name)).Serial + 1
			done := state.BuildCompleted{Resource: name, Serial: serial, At: statetest.Epoch, Deployed: true}
			change(&done)
			f.Dispatch(state.BuildStarted{Resource: name, Serial: serial, At: f.Store.Snapshot().At, Basis: buildcontrol.BasisOf(view(), name)}, done)
			f.Until("it has ended", func(v store.View) bool {
				return len(state.Updates.In(v).Value(string(name)).Builds) > 0 && state.Updates.In(v).Value(string(name)).Builds[0].Serial == serial
			})
		}
	}
	passes := func(b *state.BuildCompleted) { b.Verdict = &model.Verdict{Key: "k"} }
	fails := func(b *state.BuildCompleted) { b.Err, b.Verdict = "exit code 1", &model.Verdict{} }
	save := state.FilesChanged{Changes: []state.FileChange{{Target: statetest.Local("api").DeployID(), Paths: []string{"/src/api"}}}}
	for _, tc := range []struct {
		name, ask string
		before    func()
		code      int
		want      string
		triggered bool
	}{
		{"no test", `{"names":["api"]}`, func() {}, http.StatusBadRequest, "api is no test", false},
		{"its resource is not there yet", `{}`, func() {}, http.StatusOK, `"result":"waiting","text":"waits for api to run the newest files"`, true},
		{"nor that", `{"rerunFailed":true}`, func() {}, http.StatusOK, `"result":"passed","exitCode":0`, true},
		{"its resource has failed", `{}`, run("api", fails), http.StatusOK, `"result":"unknown","text":"waits for api, which has failed"`, true},
		{"it has passed", `{}`, func() { run("api", func(*state.BuildCompleted) {})(); run("t", passes)() }, http.StatusOK, `"passed":1,"failed":0,"cached":1`, false},
		{"the user wants a run", `{"noCache":true}`, func() {}, http.StatusOK, `"result":"waiting"`, true},
		{"it has failed", `{}`, run("t", fails), http.StatusOK, `"result":"failed","exitCode":1`, false},
		{"again", `{"rerunFailed":true}`, func() {}, http.StatusOK, `"result":"waiting"`, true},
		{"a save that waits", `{}`, func() { f.Dispatch(state.SessionPaused{}, save) }, http.StatusOK, `"result":"unknown","text":"waits for api to run the newest files, but api waits while the session is paused: hone resume"`, true},
	} {
		tc.before()
		code, body := f.ask("http", "POST", "/api/test", tc.ask)
		if code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %d %s, want %d and %s", tc.name, code, body, tc.code, tc.want)
		}
		if u := state.Updates.In(view()).Value("t"); u.Triggered.IsZero() == tc.triggered {
			t.Errorf("%s: triggered %v, want %v", tc.name, !u.Triggered.IsZero(), tc.triggered)
		}
	}
}

// TestTestsAskForFilesAgain checks that a verdict is not about files that a command has written while it was waited for, and that were noticed
// only after its end.
func TestTestsAskForFilesAgain(t *testing.T) {
	test := statetest.Local("t")
	test.Local.Test = &model.Test{}
	var f *live
	asked, begun := 0, make(chan struct{})
	f = serveLive(t, func(s *Subscriber) {
		s.SettleBy(func(context.Context) (at time.Time, err error) {
			switch asked++; asked {
			case 1:
				close(begun)
			case 2:
				at = f.Store.Dispatch(state.FilesChanged{At: time.Now(), Made: time.Now(), Changes: []state.FileChange{{Target: test.DeployID(), Paths: []string{"/src/t"}}}})
			}
			return at, nil
		})
	})
	loaded := statetest.Loaded(test)
	loaded.At = statetest.Epoch
	f.Dispatch(statetest.Session, state.TiltfileStarted{At: statetest.Epoch}, loaded)
	runs := func(serial int) store.Action {
		return state.BuildStarted{Resource: "t", Serial: serial, At: time.Now()}
	}
	passes := func(serial int) store.Action {
		return state.BuildCompleted{Resource: "t", Serial: serial, At: time.Now(), Deployed: true, Verdict: &model.Verdict{Key: fmt.Sprint(serial)}}
	}
	f.reduced(runs(1))
	ended := make(chan string, 1)
	go func() {
		_, body := f.ask("http", "POST", "/api/test", `{"names":["t"],"asked":"2000-01-01T00:00:00Z","withinMs":60000}`)
		ended <- body
	}()
	<-begun
	f.reduced(passes(1))
	f.Until("the file is known", func(v store.View) bool { return !state.Updates.In(v).Value("t").PendingSince().IsZero() })
	f.Dispatch(runs(2), passes(2))
	if body := <-ended; !strings.Contains(body, `"result":"passed"`) || !strings.Contains(body, `"key":"2"`) {
		t.Errorf("before the file was judged: %s", body)
	}
}
