package state_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestKubeEvents checks the order, the counts and the bound of Kubernetes' events, and that they go with the resource.
func TestKubeEvents(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("web"), statetest.K8s("db")))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	event := func(uid string, count, at int) state.KubeEvent {
		return state.KubeEvent{UID: uid, Reason: "BackOff", Count: count, LastSeen: start.Add(time.Duration(at) * time.Second)}
	}
	seen := func(name model.ManifestName, list ...state.KubeEvent) state.KubeEventsSeen {
		return state.KubeEventsSeen{Events: map[model.ManifestName][]state.KubeEvent{name: list}}
	}
	list := func(name string) (out []string) {
		for _, e := range state.ClusterEvents.In(s.View()).Value(name).List {
			out = append(out, fmt.Sprintf("%s ×%d", e.UID, e.Count))
		}
		return out
	}
	check := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, list("web")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	s.Then(seen("web", event("a", 1, 1), event("c", 1, 3), event("b", 1, 2)))
	check("newest first", "c ×1", "b ×1", "a ×1")
	version := func() uint64 {
		e := state.ClusterEvents.In(s.View()).Ref("web")
		return e.Version
	}
	before := version()
	s.Then(seen("web", event("a", 5, 9), event("c", 1, 3)))
	check("one counts up", "a ×5", "c ×1", "b ×1")
	s.Then(seen("web", event("a", 4, 8)))
	check("an older report of it", "a ×5", "c ×1", "b ×1")
	if now := version(); now != before+1 {
		t.Errorf("version %d after %d: reports without news write the entry", now, before)
	}
	var many []state.KubeEvent
	for i := range 3 * state.KeptKubeEvents {
		many = append(many, event(fmt.Sprint(i), 1, 100+i))
	}
	s.Then(seen("web", many...), seen("db", event("d", 1, 1)))
	if got := list("web"); len(got) != state.KeptKubeEvents || got[0] != "149 ×1" || slices.Contains(got, "a ×5") {
		t.Errorf("kept %d: %v", len(got), got)
	}
	if got := list("db"); len(got) != 1 {
		t.Errorf("db: %v", got)
	}
	s.Then(statetest.Loaded(statetest.K8s("db")))
	if got := list("web"); got != nil {
		t.Errorf("web is gone, its events are not: %v", got)
	}
	s.Then(state.ResourcesSwitched{Off: []model.ManifestName{"db"}})
	if got := list("db"); got != nil {
		t.Errorf("db is disabled, its events are kept: %v", got)
	}
}

// TestEvaluations checks the history of the Tiltfile's evaluations.
func TestEvaluations(t *testing.T) {
	s := statetest.New(statetest.Session)
	at := func(n int) time.Time { return s.View().At.Add(time.Duration(n) * time.Second) }
	began := at(0)
	s.Then(state.TiltfileStarted{At: began, Span: "tiltfile:1"})
	s.Then(state.TiltfileLoaded{Err: "no such name", At: began.Add(time.Second)})
	s.Then(state.FilesChanged{Changes: []state.FileChange{{Target: model.TargetID{Type: model.TargetConfigs}, Paths: []string{"/src/lib.star"}}}})
	s.Then(state.TiltfileStarted{At: at(60), Span: "tiltfile:2"})
	got := state.TheTiltfile(s.View()).Evaluations
	if len(got) != 2 || got[0].Serial != 2 || !got[0].FinishedAt.IsZero() || got[0].Span != "tiltfile:2" || !slices.Equal(got[0].Files, []string{"lib.star"}) {
		t.Fatalf("evaluations: %+v", got)
	}
	if first := got[1]; first.Reason != "Initial Build" || first.Err != "no such name" || first.FinishedAt.Sub(first.StartedAt) != time.Second || len(first.Files) > 0 {
		t.Errorf("the first: %+v", first)
	}
	s.Then(state.TiltfileLoaded{At: at(61), Result: model.Tiltfile{Manifests: []model.Manifest{statetest.Local("a")}, Warnings: []string{"careful"}}})
	if now := state.TheTiltfile(s.View()).Evaluations[0]; now.Resources != 1 || now.Warnings != 1 || now.Err != "" || now.FinishedAt.IsZero() {
		t.Errorf("the second: %+v", now)
	}
	for i := range 50 {
		s.Then(state.TiltfileStarted{At: at(100 + i)}, state.TiltfileLoaded{At: at(100 + i)})
	}
	if list := state.TheTiltfile(s.View()).Evaluations; len(list) != 20 || list[0].Serial != 52 {
		t.Errorf("%d evaluations, the newest is %d", len(list), list[0].Serial)
	}
}
