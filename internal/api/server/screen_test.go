package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// follow follows a live session as a screen, over its socket.
func (f *live) follow(id string, logs *logstore.Store) (*snapshot.Followed, context.CancelFunc) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	c, base := f.client("unix")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/snapshot/follow?screen="+id, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { cancel(); _ = resp.Body.Close() })
	of, err := snapshot.Follow(resp.Body, logs, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return of, cancel
}

// until takes changes in until the copy is as wanted.
func until(t *testing.T, of *snapshot.Followed, ok func(v store.View) bool) {
	t.Helper()
	for !ok(of.View()) {
		if over, err := of.Next(); over || err != nil {
			t.Fatalf("over %v, %v", over, err)
		}
	}
}

// TestFollowed follows a session with two screens: each has the state and the lines of the session without its secrets, and the place
// of the other, until that leaves. The end of the session is the end of the stream, which says so.
func TestFollowed(t *testing.T) {
	f := serveLive(t)
	loaded := statetest.Loaded(statetest.K8s("web"))
	loaded.Result.Secrets = []model.Secret{{Name: "db", Key: "password", Value: "hunter22"}}
	f.Dispatch(statetest.Session, loaded)
	f.Until("the resource is declared", func(v store.View) bool { return state.Resources.In(v).Len() == 1 })
	f.logs.Append(logstore.Entry{Resource: "web", Source: logstore.SourceRuntime, Text: "before hunter22"})
	logs := statetest.Logs(t)
	one, _ := f.follow("one", logs)
	two, leave := f.follow("two", statetest.Logs(t))
	until(t, one, func(v store.View) bool { return len(state.OtherScreens(v, "one")) == 1 })
	until(t, two, func(v store.View) bool { return len(state.OtherScreens(v, "two")) == 1 })
	if code, body := f.ask("unix", "POST", "/api/screen", `{"id":"two","selected":"web"}`); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	until(t, one, func(v store.View) bool { return state.OtherScreens(v, "one")[0] == "web" })
	leave()
	until(t, one, func(v store.View) bool { return len(state.OtherScreens(v, "one")) == 0 })
	if code, body := f.ask("unix", "POST", "/api/screen", `{"id":"two","selected":"web"}`); code != 200 || state.Screens.In(f.View()).Len() != 1 {
		t.Errorf("%d %s: a screen that has left is back", code, body)
	}
	f.Dispatch(statetest.Pod("web", "web-1", "c1", "web:hunter22"))
	f.logs.Append(logstore.Entry{Resource: "web", Source: logstore.SourceRuntime, Text: "after hunter22"})
	until(t, one, func(v store.View) bool { return state.Pods.In(v).Len() == 1 })
	until(t, one, func(store.View) bool { return logs.Count(logstore.Filter{}) == 2 })
	got := strings.Join(statetest.Texts(logs, "web"), "\n")
	if !strings.Contains(got, "before ") || !strings.Contains(got, "after ") || strings.Contains(got, "hunter22") {
		t.Errorf("the log is %q", got)
	}
	for e := range state.Pods.In(one.View()).Refs() {
		if text, err := json.Marshal(e.Value); err != nil || strings.Contains(string(text), "hunter22") {
			t.Errorf("%s %v", text, err)
		}
	}
	go f.Stop()
	for {
		over, err := one.Next()
		if err != nil {
			t.Fatal(err)
		}
		if over {
			break
		}
	}
}

// TestClusterIsAsked reads an object and the previous run of a container through the session: only those of its own, without secrets.
func TestClusterIsAsked(t *testing.T) {
	f := serveLive(t, func(s *Subscriber) {
		s.options.Object = func(_ context.Context, o model.AppliedObject) (string, error) {
			return o.Kind + " " + o.Name + " hunter22", nil
		}
		s.options.Previous = func(_ context.Context, of model.ContainerRef) ([]string, error) {
			return []string{of.Pod, of.Name, "hunter22"}, nil
		}
	})
	loaded := statetest.Loaded(statetest.K8s("web"))
	loaded.Result.Secrets = []model.Secret{{Name: "db", Key: "password", Value: "hunter22"}}
	f.Dispatch(statetest.Session, loaded, statetest.Pod("web", "web-1", "c1", "web:1"))
	f.Until("the pod is there", func(v store.View) bool { return state.Pods.In(v).Len() == 1 })
	_, pod := state.Pods.In(f.View()).Ends()
	for _, tt := range []struct {
		path string
		code int
		want string
	}{
		{"/api/object?uid=" + pod.ID, 200, `{"yaml":"Pod web-1 `},
		{"/api/object?uid=foreign", 404, `has applied no object`},
		{"/api/object", 404, `has applied no object`},
		{"/api/previous?pod=web-1&container=c1&namespace=" + pod.Value.Namespace, 200, `{"lines":["web-1","c1",`},
		{"/api/previous?pod=other&container=c1&namespace=" + pod.Value.Namespace, 404, `has no pod`},
	} {
		if code, body := f.ask("unix", "GET", tt.path, ""); code != tt.code || !strings.Contains(body, tt.want) || strings.Contains(body, "hunter22") {
			t.Errorf("%s: %d %s", tt.path, code, body)
		}
	}
}

// TestDeafScreen: a screen that stops reading delays neither the session, nor another screen, nor the end of both.
func TestDeafScreen(t *testing.T) {
	f := serveLive(t)
	f.declare(500)
	f.follow("deaf", statetest.Logs(t))
	logs := statetest.Logs(t)
	other, _ := f.follow("other", logs)
	const lines = 20_000
	for i := range lines {
		f.logs.Append(logstore.Entry{Resource: "r0001", Source: logstore.SourceRuntime, Text: fmt.Sprintf("%d %s", i, strings.Repeat("x", 200))})
	}
	until(t, other, func(store.View) bool {
		newest := logs.Tail(logstore.Filter{}, 1)
		return len(newest) == 1 && strings.HasPrefix(newest[0].Text, fmt.Sprint(lines-1, " "))
	})
	f.Dispatch(statetest.Change("r0001", "/src/r0001/a"))
	until(t, other, func(v store.View) bool { return len(state.Updates.In(v).Value("r0001").Pending()) > 0 })
	f.alive()
	f.Stop()
}
