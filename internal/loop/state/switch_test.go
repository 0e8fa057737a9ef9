package state_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func on(names ...model.ManifestName) state.ResourcesSwitched {
	return state.ResourcesSwitched{On: names}
}

func off(names ...model.ManifestName) state.ResourcesSwitched {
	return state.ResourcesSwitched{Off: names}
}

// switches renders every resource with its current and its intended state, and every update with its state.
func switches(v store.View) string {
	word := map[bool]string{true: "on", false: "off"}
	var out []string
	for e := range state.Resources.In(v).Refs() {
		s := e.ID + " " + word[e.Value.Enabled]
		if e.Phase == store.TearingDown {
			s += " leaving"
		}
		if e.Value.Next != nil {
			s += " to " + word[e.Value.Next.Enabled]
		}
		u := state.Updates.In(v).Ref(e.ID)
		switch {
		case u == nil:
			s += ", no update"
		case u.Value.Off == (len(u.Value.Targets) > 0):
			s += ", contradicts itself"
		case u.Value.Off:
			s += ", idle"
		case u.Value.Succeeded:
			s += ", built"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestSwitch(t *testing.T) {
	a, b := statetest.Local("a"), statetest.Local("b")
	both := statetest.Loaded(a, b)
	only := func(names ...model.ManifestName) state.TiltfileLoaded {
		l := statetest.Loaded(a, b)
		l.Result.Enabled = append([]model.ManifestName{}, names...)
		return l
	}
	release := store.FinalizerReleased{Table: "resources", ID: "a", Finalizer: "Holder"}
	for _, tc := range []struct {
		name    string
		actions []store.Action
		want    string
	}{
		{"left out by the arguments", []store.Action{only("b")}, "a off, idle; b on"},
		{"and switched on", []store.Action{only("b"), on("a")}, "a on; b on"},
		{"which outlives an evaluation", []store.Action{only("b"), on("a"), only("b")}, "a on; b on"},
		{"off: held", []store.Action{both, off("a")}, "a on leaving to off, idle; b on"},
		{"off: let go", []store.Action{both, off("a"), release}, "a off, idle; b on"},
		{"off outlives an evaluation", []store.Action{both, off("a"), release, both}, "a off, idle; b on"},
		{"also one while it is torn down", []store.Action{both, off("a"), both, release}, "a off, idle; b on"},
		{"also one that fails", []store.Action{both, off("a"), release, state.TiltfileLoaded{Err: "syntax"}, both}, "a off, idle; b on"},
		{"on again", []store.Action{both, off("a"), release, on("a")}, "a on; b on"},
		{"on again while it is torn down", []store.Action{both, off("a"), on("a")}, "a on leaving to on; b on"},
		{"which then starts over", []store.Action{both, off("a"), on("a"), release}, "a on; b on"},
		{"off, on, off", []store.Action{both, off("a"), on("a"), off("a"), release}, "a off, idle; b on"},
		{"twice off", []store.Action{both, off("a"), release, off("a")}, "a off, idle; b on"},
		{"on what is on", []store.Action{both, on("a")}, "a on; b on"},
		{"a build is forgotten", []store.Action{both,
			state.BuildStarted{Resource: "a", Serial: 1}, state.BuildCompleted{Resource: "a", Serial: 1}, off("a"), release, on("a")}, "a on; b on"},
		{"one that ends after the switch does not count", []store.Action{both,
			state.BuildStarted{Resource: "a", Serial: 1}, off("a"), state.BuildCompleted{Resource: "a", Serial: 1}, release, on("a")}, "a on; b on"},
		{"the Tiltfile leaves one out that was on", []store.Action{both, only("b")}, "a on leaving to off, idle; b on"},
		{"but not one that the user switched on", []store.Action{both, on("a"), only("b")}, "a on; b on"},
		{"new arguments decide again", []store.Action{both, off("a"), release, state.TiltfileArgsSet{Args: []string{"a"}}, only("a")}, "a on; b on leaving to off, idle"},
		{"but not before the evaluation", []store.Action{both, off("a"), release, state.TiltfileArgsSet{}}, "a off, idle; b on"},
		{"off, and it leaves the Tiltfile", []store.Action{both, off("a"), statetest.Loaded(b)}, "a on leaving, no update; b on"},
		{"switched off by then", []store.Action{both, off("a"), release, statetest.Loaded(b)}, "a off leaving, no update; b on"},
		{"switched on, it leaves the Tiltfile and comes back at once", []store.Action{only("b"), on("a"), statetest.Loaded(b), only("b")},
			"a on leaving to on; b on"},
		{"and is let go", []store.Action{only("b"), on("a"), statetest.Loaded(b), only("b"), release}, "a on; b on"},
		{"one that leaves is not switched", []store.Action{both, statetest.Loaded(b), on("a")}, "a on leaving, no update; b on"},
		{"nobody has that name", []store.Action{both, on("x"), off("y")}, "a on; b on"},
		{"changes and triggers pass it by", []store.Action{both, off("a"), release,
			state.FilesChanged{Changes: []state.FileChange{{Target: a.DeployID(), Paths: []string{"/x"}}}},
			state.ResourcesTriggered{Names: []model.ManifestName{"a"}}}, "a off, idle; b on"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := store.New(state.Schema)
			store.NewRuntime(st, holder{})
			for _, action := range append([]store.Action{statetest.Session}, tc.actions...) {
				st.Dispatch(action)
				st.Step()
			}
			v := st.Snapshot().All()
			if got := switches(v); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			for e := range state.Updates.In(v).Refs() {
				if u := e.Value; u.Off && (len(u.Changes)+len(u.Builds) > 0 || u.Current != nil || !u.Triggered.IsZero()) {
					t.Errorf("%s is off and knows %+v", e.ID, u)
				}
			}
		})
	}
}

// TestSwitchNumbersBuildsOn keeps the numbers of builds, and with them their log spans, unique.
func TestSwitchNumbersBuildsOn(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("a"))).Deployed("a").Then(off("a"), on("a"))
	if u := state.Updates.In(s.View()).Value("a"); u.Serial != 1 || len(u.Builds) != 0 || len(u.Applied) != 0 {
		t.Errorf("%+v", u)
	}
}

func TestTriggerModeChosen(t *testing.T) {
	a := statetest.Local("a")
	chosen := func(m model.TriggerMode) state.TriggerModeChosen {
		return state.TriggerModeChosen{Names: []model.ManifestName{"a", "x"}, Mode: m}
	}
	manual := a
	manual.TriggerMode = model.TriggerManual
	for _, tc := range []struct {
		name    string
		actions []store.Action
		want    model.TriggerMode
	}{
		{"the Tiltfile's", []store.Action{statetest.Loaded(manual)}, model.TriggerManual},
		{"the user's", []store.Action{statetest.Loaded(a), chosen(model.TriggerManual)}, model.TriggerManual},
		{"which outlives an evaluation", []store.Action{statetest.Loaded(a), chosen(model.TriggerManual), statetest.Loaded(a)}, model.TriggerManual},
		{"and goes before what it says", []store.Action{statetest.Loaded(a), chosen(model.TriggerAuto), statetest.Loaded(manual)}, model.TriggerAuto},
		{"and outlives the switch", []store.Action{statetest.Loaded(a), chosen(model.TriggerManual), off("a"), on("a")}, model.TriggerManual},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := statetest.New(statetest.Session).Then(tc.actions...)
			if got := state.Resources.In(s.View()).Value("a").Manifest.TriggerMode; got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestTiltfileArgs(t *testing.T) {
	loaded := statetest.Loaded()
	loaded.At = statetest.Epoch
	s := statetest.New(statetest.Session, state.TiltfileStarted{At: statetest.Epoch}, loaded)
	s.Then(state.TiltfileArgsSet{Args: []string{"web"}})
	if tf := state.TheTiltfile(s.View()); !tf.Pending() || tf.Reason() != "Arguments Changed" {
		t.Errorf("pending %t because of %q", tf.Pending(), tf.Reason())
	}
	if args := state.TheSession(s.View()).Args; fmt.Sprint(args) != "[web]" {
		t.Errorf("args: %v", args)
	}
	began := s.Snapshot().At
	s.Then(state.TiltfileArgsSet{}, state.TiltfileStarted{At: began}, loaded)
	if tf := state.TheTiltfile(s.View()); !tf.Pending() || len(state.TheSession(s.View()).Args) != 0 {
		t.Error("an evaluation that began before the arguments changed has taken them in")
	}
	s.Then(state.TiltfileStarted{At: s.Snapshot().At}, loaded)
	if state.TheTiltfile(s.View()).Pending() {
		t.Error("still pending")
	}
}

// TestAnEvaluationWithoutAChange checks that an evaluation without a change changes no table, so that no reader is woken.
func TestAnEvaluationWithoutAChange(t *testing.T) {
	ms := []model.Manifest{statetest.K8s("a", statetest.Image("a")), statetest.Local("b")}
	s := statetest.New(statetest.Session, statetest.Loaded(ms...))
	before := s.View()
	again := []model.Manifest{statetest.K8s("a", statetest.Image("a")), statetest.Local("b")}
	after := s.Then(statetest.Loaded(again...)).View()
	for _, table := range []string{"resources", "updates"} {
		if before.Version(table) != after.Version(table) {
			t.Errorf("table %s has changed", table)
		}
	}
}

// BenchmarkSwitchAll disables and enables 1,000 resources, including the releases by their holders.
func BenchmarkSwitchAll(b *testing.B) {
	names := make([]model.ManifestName, 1000)
	manifests := make([]model.Manifest, len(names))
	for i := range names {
		names[i] = model.ManifestName(fmt.Sprintf("r%04d", i))
		manifests[i] = statetest.K8s(string(names[i]), statetest.Image(string(names[i])))
	}
	s := store.New(state.Schema)
	holders := []namedHolder{"A", "B", "C", "D", "E", "F"}
	for _, h := range holders {
		store.NewRuntime(s, h)
	}
	s.Dispatch(statetest.Session, statetest.Loaded(manifests...))
	s.Step()
	for b.Loop() {
		s.Dispatch(off(names...))
		s.Step()
		for _, h := range holders {
			for _, n := range names {
				s.Dispatch(store.FinalizerReleased{Table: "resources", ID: string(n), Finalizer: string(h)})
			}
			s.Step()
		}
		if n := state.Ordered(s.Snapshot().All()); len(n) != 0 {
			b.Fatalf("%d are left", len(n))
		}
		s.Dispatch(on(names...))
		s.Step()
		if n := state.Ordered(s.Snapshot().All()); len(n) != len(names) {
			b.Fatalf("%d are back", len(n))
		}
	}
}

// namedHolder is a holder of any name.
type namedHolder string

// Contract implements store.Subscriber.
func (h namedHolder) Contract() store.Contract {
	return store.Contract{Name: string(h), Inputs: store.Holds(state.Resources)}
}

// Run implements store.Subscriber; it is never called.
func (namedHolder) Run(context.Context, *store.Runtime) error { return nil }
