package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// rows renders the resources in their order, with phase and finalizers.
func rows(v store.View) string {
	var out []string
	for _, e := range state.Ordered(v) {
		s := e.ID
		if e.Phase == store.TearingDown {
			s += fmt.Sprintf(" leaving %v", e.Finalizers)
		}
		if e.Value.Next != nil {
			s += " again"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestDeclare(t *testing.T) {
	a, b, c := statetest.Local("a"), statetest.Local("b"), statetest.Local("c")
	only := func(names []model.ManifestName, ms ...model.Manifest) state.TiltfileLoaded {
		l := statetest.Loaded(ms...)
		l.Result.Enabled = names
		return l
	}
	release := store.FinalizerReleased{Table: "resources", ID: "b", Finalizer: "Holder"}
	dependent := c
	dependent.ResourceDeps = []model.ManifestName{"a"}
	for _, tc := range []struct {
		name    string
		actions []store.Action
		want    string
	}{
		{"in the order of the Tiltfile", []store.Action{statetest.Loaded(b, a)}, "b, a"},
		{"one leaves: it is held", []store.Action{statetest.Loaded(a, b, c), statetest.Loaded(a, c)}, "a, c, b leaving [Holder]"},
		{"and let go", []store.Action{statetest.Loaded(a, b, c), statetest.Loaded(a, c), release}, "a, c"},
		{"it comes back before", []store.Action{statetest.Loaded(a, b), statetest.Loaded(a), statetest.Loaded(b, a)}, "a, b leaving [Holder] again"},
		{"and is born again when let go", []store.Action{statetest.Loaded(a, b), statetest.Loaded(a), statetest.Loaded(b, a), release}, "b, a"},
		{"it comes and leaves again", []store.Action{statetest.Loaded(a, b), statetest.Loaded(a), statetest.Loaded(b, a), statetest.Loaded(a)}, "a, b leaving [Holder]"},
		{"and stays away", []store.Action{statetest.Loaded(a, b), statetest.Loaded(a), statetest.Loaded(b, a), statetest.Loaded(a), release}, "a"},
		{"a Tiltfile that fails takes nothing away", []store.Action{statetest.Loaded(a, b), state.TiltfileLoaded{Err: "syntax"}}, "a, b"},
		{"chosen ones with what they depend on", []store.Action{only([]model.ManifestName{"c"}, a, b, dependent)}, "a, c"},
		{"none chosen", []store.Action{only([]model.ManifestName{}, a, b)}, ""},
		{"uncategorized is always there", []store.Action{only([]model.ManifestName{"a"}, statetest.K8s("uncategorized"), a, b)}, "uncategorized, a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := store.New(state.Schema)
			store.NewRuntime(st, holder{})
			for _, action := range append([]store.Action{statetest.Session}, tc.actions...) {
				st.Dispatch(action)
				st.Step()
			}
			if got := rows(st.Snapshot().All()); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			if tc.want == "b, a" && len(state.Leaving(st.Snapshot().All(), "Holder")) > 0 {
				t.Error("nobody leaves")
			}
		})
	}
}

// holder holds resources.
type holder struct{ store.Subscriber }

// Contract implements store.Subscriber.
func (holder) Contract() store.Contract {
	return store.Contract{Name: "Holder", Inputs: store.Holds(state.Resources)}
}

func TestTexts(t *testing.T) {
	for want, files := range map[string][]string{
		"1 File Changed: [a]":            {"a"},
		"2 Files Changed: [a b]":         {"a", "b"},
		"6 Files Changed: [a b c d e …]": {"a", "b", "c", "d", "e", "f"},
	} {
		if got := state.FilesChangedText(files); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, tc := range []struct{ tiltfile, path, want string }{
		{"/src/Tiltfile", "/src/a/b", "a/b"},
		{"/src/Tiltfile", "/src", "/src"},
		{"/src/Tiltfile", "/srcs/a", "/srcs/a"},
		{"/src/Tiltfile", "/other/a", "/other/a"},
		{"/Tiltfile", "/a/b", "a/b"},
		{"/Tiltfile", "/", "/"},
	} {
		if got := state.Relative(tc.tiltfile, []string{tc.path})[0]; got != tc.want {
			t.Errorf("%s seen from %s: %s, want %s", tc.path, tc.tiltfile, got, tc.want)
		}
	}
	for reason, want := range map[state.BuildReason]string{
		0: "", state.ReasonInitial: "initial build", state.ReasonFiles | state.ReasonTrigger: "files changed, triggered",
		state.ReasonConfig | state.ReasonContainer: "config changed, container started",
		state.ReasonConfig | state.ReasonRegistry:  "config changed, registry changed",
	} {
		if got := reason.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTiltfile(t *testing.T) {
	config := state.FilesChanged{Changes: []state.FileChange{{Target: model.TargetID{Type: model.TargetConfigs, Name: "(Tiltfile)"}, Paths: []string{"/src/Tiltfile"}}}}
	trigger := state.ResourcesTriggered{Names: []model.ManifestName{model.TiltfileName}}
	s := statetest.New(statetest.Session)
	check := func(what string, pending, running bool, reason string) {
		t.Helper()
		f := state.TheTiltfile(s.View())
		if f.Pending() != pending || f.Running() != running || f.Reason() != reason {
			t.Errorf("%s: pending %v, running %v, reason %q; want %v, %v, %q", what, f.Pending(), f.Running(), f.Reason(), pending, running, reason)
		}
	}
	began := func() state.TiltfileStarted { return state.TiltfileStarted{At: s.Snapshot().At} }
	check("at first", true, false, "Initial Build")
	s.Then(began())
	check("begun", false, true, "Triggered")
	s.Then(config, state.TiltfileLoaded{Result: model.Tiltfile{ConfigFiles: []string{"/src/Tiltfile", "/src/lib"}}, At: s.Now})
	check("changed meanwhile", true, false, "1 File Changed: [/src/Tiltfile]")
	s.Then(began())
	s.Then(state.TiltfileLoaded{Err: "syntax", Result: model.Tiltfile{ConfigFiles: []string{"/src/Tiltfile"}}, At: s.Now})
	check("evaluated", false, false, "Triggered")
	if f := state.TheTiltfile(s.View()); !f.Good || f.Err != "syntax" || len(f.ConfigFiles) != 1 || len(f.Result.ConfigFiles) != 2 {
		t.Errorf("after a failure the last good result stays, and what is watched is new: %+v", f)
	}
	s.Then(trigger)
	check("triggered", true, false, "Triggered")
}

// TestNeeds recognizes a project without Kubernetes, and one without images that the engine builds.
func TestNeeds(t *testing.T) {
	custom := statetest.Image("a")
	custom.Docker = nil
	for _, tc := range []struct {
		manifests       []model.Manifest
		cluster, engine bool
	}{
		{nil, false, false},
		{[]model.Manifest{statetest.Local("a")}, false, false},
		{[]model.Manifest{statetest.Local("a"), statetest.K8s("b")}, true, false},
		{[]model.Manifest{statetest.K8s("b", custom)}, true, false},
		{[]model.Manifest{statetest.K8s("b", statetest.Image("b"))}, true, true},
	} {
		v := statetest.New(statetest.Session, statetest.Loaded(tc.manifests...)).View()
		if state.NeedsCluster(v, "") != tc.cluster || state.NeedsEngine(v) != tc.engine {
			t.Errorf("%d resources: cluster %v, engine %v", len(tc.manifests), state.NeedsCluster(v, ""), state.NeedsEngine(v))
		}
	}
}

func TestReports(t *testing.T) {
	down := state.ClusterReported{Err: "refused"}
	s := statetest.New(statetest.Session, down)
	since := state.TheCluster(s.View()).Since
	s.Then(down)
	if c := state.TheCluster(s.View()); c.Ever || !c.Since.Equal(since) {
		t.Errorf("a cluster that never answered: %+v", c)
	}
	s.Then(state.ClusterReported{Connected: true}, down)
	if c := state.TheCluster(s.View()); !c.Ever || c.Connected || !c.Since.After(since) {
		t.Errorf("a cluster that went away: %+v", c)
	}
	s.Then(state.EngineReported{Connected: true}, state.EngineReported{Err: "gone"})
	if e := state.TheEngine(s.View()); !e.Ever || e.Connected || e.Err != "gone" {
		t.Errorf("an engine that went away: %+v", e)
	}
	s.Then(state.SessionEnded{Failure: "first"}, state.SessionEnded{Failure: "second"})
	if e := state.TheSession(s.View()).Ended; e == nil || e.Failure != "first" {
		t.Errorf("a session ends once: %+v", e)
	}
}
