package state_test

import (
	"fmt"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestForwardsChosen checks which ports a resource forwards after the user's requests and evaluations of the Tiltfile.
func TestForwardsChosen(t *testing.T) {
	declared := func(list ...model.PortForward) store.Action {
		m := statetest.K8s("web")
		m.K8s.PortForwards = list
		return statetest.Loaded(m)
	}
	local := statetest.Loaded(statetest.Local("web"))
	at := func(local, container int) model.PortForward {
		return model.PortForward{LocalPort: local, ContainerPort: container}
	}
	add := func(f model.PortForward) store.Action {
		return state.ForwardsChosen{Resource: "web", Added: []model.PortForward{f}}
	}
	remove := func(f model.PortForward) store.Action {
		return state.ForwardsChosen{Resource: "web", Removed: []model.PortForward{f}}
	}
	move := func(from, to model.PortForward) store.Action {
		return state.ForwardsChosen{Resource: "web", Removed: []model.PortForward{from}, Added: []model.PortForward{to}}
	}
	a, b, a9, a8 := at(8080, 80), at(9090, 90), at(9999, 80), at(8080, 81)
	for _, tc := range []struct {
		name    string
		actions []store.Action
		want    string
		chosen  bool
	}{
		{"declared", []store.Action{declared(a)}, "[8080:80]", false},
		{"added", []store.Action{declared(a), add(b), add(b)}, "[8080:80 9090:90]", true},
		{"added twice and removed", []store.Action{declared(a), add(b), remove(b)}, "[8080:80]", false},
		{"removed", []store.Action{declared(a, b), remove(a), remove(a)}, "[9090:90]", true},
		{"removed and added", []store.Action{declared(a, b), remove(a), add(a)}, "[8080:80 9090:90]", false},
		{"moved", []store.Action{declared(a, b), move(a, a9)}, "[9090:90 9999:80]", true},
		{"moved and back", []store.Action{declared(a, b), move(a, a9), move(a9, a)}, "[8080:80 9090:90]", false},
		{"an evaluation keeps the choice", []store.Action{declared(a), add(b), remove(a), declared(a)}, "[9090:90]", true},
		{"the Tiltfile begins to declare the added port", []store.Action{declared(a), add(b), declared(a, at(9090, 91))}, "[8080:80 9090:91]", false},
		{"the Tiltfile drops the removed port", []store.Action{declared(a), remove(a), declared(), declared(a)}, "[8080:80]", false},
		{"the Tiltfile changes the removed port", []store.Action{declared(a), move(a, a8), declared(a), declared(at(8080, 82))}, "[8080:82]", false},
		{"the user's own in place of a declared one", []store.Action{declared(a), move(a, a8), declared(a)}, "[8080:81]", true},
		{"the resource becomes a local one", []store.Action{declared(a), add(b), local, add(b)}, "", false},
		{"the switch keeps the choice", []store.Action{declared(a), add(b), off("web"), on("web")}, "[8080:80 9090:90]", true},
		{"new arguments keep the choice", []store.Action{declared(a), add(b), state.TiltfileArgsSet{}, declared(a)}, "[8080:80 9090:90]", true},
		{"of a resource that has left", []store.Action{declared(a), add(b), statetest.Loaded(), declared(a)}, "[8080:80]", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := statetest.New(statetest.Session).Then(tc.actions...)
			r := state.Resources.In(s.View()).Value("web")
			var got []string
			if r.Manifest.K8s != nil {
				for _, f := range r.Manifest.K8s.PortForwards {
					got = append(got, fmt.Sprintf("%d:%d", f.LocalPort, f.ContainerPort))
				}
			}
			if text := fmt.Sprint(got); got != nil && text != tc.want || got == nil && tc.want != "" || (r.Forwards != nil) != tc.chosen {
				t.Errorf("%s, chosen %+v; want %s", text, r.Forwards, tc.want)
			}
		})
	}
}

// TestAForwardNeedsNoBuild: choosing a port requests no update, and the evaluated manifest is not written to.
func TestAForwardNeedsNoBuild(t *testing.T) {
	m := statetest.K8s("web")
	m.K8s.PortForwards = []model.PortForward{{LocalPort: 8080}}
	s := statetest.New(statetest.Session, statetest.Loaded(m)).Deployed("web").
		Then(state.ForwardsChosen{Resource: "web", Added: []model.PortForward{{LocalPort: 9090}}})
	if u := state.Updates.In(s.View()).Value("web"); !u.Declared.IsZero() {
		t.Error("the update was requested")
	}
	if len(m.K8s.PortForwards) != 1 {
		t.Errorf("the Tiltfile's manifest has %v", m.K8s.PortForwards)
	}
}

func TestRestarts(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("web"), statetest.K8s("api")),
		state.ResourcesRestarted{Names: []model.ManifestName{"web", "api"}}, state.ResourcesRestarted{Names: []model.ManifestName{"web"}, Pods: true})
	of := func(name string) state.Restart { return state.Restarts.In(s.View()).Value(name) }
	if web, api := of("web"), of("api"); web.Serial != 2 || !web.Pods || !web.Running() || web.RequestedAt.IsZero() || api.Serial != 1 || api.Pods {
		t.Errorf("web %+v, api %+v", web, api)
	}
	s.Then(state.RestartEnded{Resource: "web", Serial: 1, Err: "overtaken"})
	if web := of("web"); !web.Running() || web.Err != "" {
		t.Errorf("the end of an earlier restart: %+v", web)
	}
	s.Then(state.RestartEnded{Resource: "web", Serial: 2, Done: []string{"pod web-1"}}, state.RestartEnded{Resource: "web", Serial: 2, Err: "twice"})
	if web := of("web"); web.Running() || web.Err != "" || len(web.Done) != 1 {
		t.Errorf("its end: %+v", web)
	}
	s.Then(off("web"), statetest.Loaded(statetest.K8s("web")))
	if n := state.Restarts.In(s.View()).Len(); n != 0 {
		t.Errorf("%d restarts of resources that are gone", n)
	}
}

func TestPause(t *testing.T) {
	s := statetest.New(statetest.Session)
	at := func(want bool) {
		t.Helper()
		if got := state.TheSession(s.View()); got.Paused() != want || got.StartedAt.IsZero() {
			t.Errorf("paused: %t, want %t", got.Paused(), want)
		}
	}
	at(false)
	s.Then(state.SessionPaused{})
	since := state.TheSession(s.View()).PausedAt
	s.Then(state.SessionPaused{})
	at(true)
	if again := state.TheSession(s.View()).PausedAt; !again.Equal(since) {
		t.Errorf("paused since %s, then since %s", since, again)
	}
	s.Then(state.SessionResumed{})
	at(false)
}

// TestRebuild: a request for an update from scratch holds until a build that began later has ended.
func TestRebuild(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("web"))).Deployed("web")
	wanted := func(want bool) {
		t.Helper()
		if u := state.Updates.In(s.View()).Value("web"); u.Rebuild.IsZero() == want || u.Triggered.IsZero() == want {
			t.Errorf("triggered %s, from scratch %s; want %t", u.Triggered, u.Rebuild, want)
		}
	}
	s.Begin("web").Then(state.ResourcesTriggered{Names: []model.ManifestName{"web"}, Rebuild: true}).Finish("web", nil)
	wanted(true)
	s.Begin("web").Finish("web", func(b *state.BuildCompleted) { b.Cancelled = true })
	wanted(true)
	s.Begin("web").Finish("web", nil)
	wanted(false)
}
