package buildcontrol

import (
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// tested is a session with a test t of resource api, which depends on db.
func tested() *statetest.State {
	return up(func(m map[string]*model.Manifest) {
		m["t"].Local.Test, m["t"].Local.AllowParallel = &model.Test{}, true
		m["t"].ResourceDeps, m["api"].ResourceDeps = []model.ManifestName{"api"}, []model.ManifestName{"db"}
	}, statetest.K8s("db"), statetest.K8s("api", statetest.Image("api")), statetest.Local("t"))
}

// judges begins a run of the test.
func judges(s *statetest.State) *statetest.State {
	serial := state.Updates.In(s.View()).Value("t").Serial + 1
	return s.Then(state.BuildStarted{Resource: "t", Serial: serial, At: s.Snapshot().At, Slot: true, Basis: BasisOf(s.View(), "t")})
}

// passes ends a run of the test.
func passes(s *statetest.State) *statetest.State {
	return s.Finish("t", func(b *state.BuildCompleted) { b.Deployed = true })
}

// ready has a resource deployed and ready.
func ready(s *statetest.State, names ...string) *statetest.State {
	for _, n := range names {
		s = s.Deployed(n).Then(statetest.Healthy(n))
	}
	return s
}

func TestTestsJudgeTheNewestRevision(t *testing.T) {
	apiChange := statetest.Change("api", "/src/api/x")
	passed := func() *statetest.State { return passes(judges(ready(tested(), "db", "api"))) }
	ownChange := state.FilesChanged{Changes: []state.FileChange{{Target: statetest.Local("t").DeployID(), Paths: []string{"/src/t/x"}}}}
	for _, tc := range []struct {
		name     string
		state    *statetest.State
		want     string
		outdated bool
	}{
		{"all that it depends on comes first", ready(tested(), "db"), "start api: initial build\nhold t: waiting-for-newest [api]", false},
		{"and is ready", ready(tested(), "db").Deployed("api"), "hold t: waiting-for-newest [api]", false},
		{"then it runs", ready(tested(), "db", "api"), "start t: initial build", false},
		{"it has passed", passed(), "", false},
		{"a dependency of a dependency is updated", passed().Begin("db"), "hold t: waiting-for-newest [db]", true},
		{"a save makes the verdict old", passed().Then(apiChange), "hold api: waiting-for-deploy []\nhold t: waiting-for-newest [api]", true},
		{"while the dependency is updated", passed().Then(apiChange).Begin("api"), "hold api: building []\nhold t: waiting-for-newest [api]", true},
		{"and until it is ready again", passed().Then(apiChange).Deployed("api").Then(statetest.Healthy("api")),
			"start t: tested resources changed", true},
		{"an update that fails leaves it waiting", passed().Begin("api").Finish("api", func(b *state.BuildCompleted) { b.Err = "no" }),
			"hold t: waiting-for-newest [api]", true},
		{"an update that is cancelled is no other revision, but hone cannot know", passed().Begin("api").Finish("api", func(b *state.BuildCompleted) { b.Cancelled = true }),
			"start t: tested resources changed", true},
		{"a crash is no other revision", passed().Then(state.ObjectsChanged{Objects: []model.ObjectStatus{{
			ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "api"},
			UID:      "uid-api", Resource: "api", Health: model.HealthFailed}}}), "", false},
		{"a change during the run", passes(judges(ready(tested(), "db", "api")).Then(apiChange)),
			"hold api: waiting-for-deploy []\nhold t: waiting-for-newest [api]", true},
		{"an update during the run, whatever comes of it", passes(ready(judges(ready(tested(), "db", "api")), "api")),
			"start t: tested resources changed", true},
		{"its own files", passed().Then(ownChange), "start t: files changed /src/t/x", false},
		{"the verdict of a run with the old files of its own", passes(judges(ready(tested(), "db", "api")).Then(ownChange)),
			"start t: files changed /src/t/x", false},
		{"a dependency that is switched off is not judged", passed().Then(state.ResourcesSwitched{Off: []model.ManifestName{"api"}}),
			"start t: tested resources changed", true},
		{"one that is switched on again is another", passed().Then(state.ResourcesSwitched{Off: []model.ManifestName{"api"}}, state.ResourcesSwitched{On: []model.ManifestName{"api"}}),
			"start api: initial build\nhold t: waiting-for-newest [api]", true},
		{"a manual test waits for the user", passed().Then(state.TriggerModeChosen{Names: []model.ManifestName{"t"}, Mode: model.TriggerManual}).Begin("db"),
			"hold t: manual []", true},
		{"who cannot have it run on older files, either", passed().Begin("db").Then(state.ResourcesTriggered{Names: []model.ManifestName{"t"}}),
			"hold t: waiting-for-newest [db]", true},
		{"and gets it then", ready(passed().Then(state.ResourcesTriggered{Names: []model.ManifestName{"t"}}), "db"),
			"start t: triggered, tested resources changed", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := Decide(tc.state.View(), nil)
			if got := text(plan); got != tc.want {
				t.Errorf("decided:\n%s\nwant:\n%s", got, tc.want)
			}
			if got := plan.Outdated["t"]; got != tc.outdated {
				t.Errorf("the verdict is outdated: %v, want %v", got, tc.outdated)
			}
		})
	}
}

// TestTestsOfTests has a test wait for the verdict of another one on the same revision.
func TestTestsOfTests(t *testing.T) {
	s := up(func(m map[string]*model.Manifest) {
		m["first"].Local.Test, m["second"].Local.Test = &model.Test{}, &model.Test{}
		m["first"].ResourceDeps, m["second"].ResourceDeps = []model.ManifestName{"api"}, []model.ManifestName{"first"}
	}, statetest.K8s("api"), statetest.Local("first"), statetest.Local("second"))
	run := func(name model.ManifestName) {
		u := state.Updates.In(s.View()).Value(string(name))
		s.Then(state.BuildStarted{Resource: name, Serial: u.Serial + 1, At: s.Snapshot().At, Basis: BasisOf(s.View(), name)}).Finish(string(name), nil)
	}
	ready(s, "api")
	run("first")
	run("second")
	if got := text(Decide(s.View(), nil)); got != "" {
		t.Errorf("after both: %s", got)
	}
	ready(s, "api")
	if got, want := text(Decide(s.View(), nil)), "start first: tested resources changed\nhold second: waiting-for-local [first]"; got != want {
		t.Errorf("after an update: %s, want %s", got, want)
	}
	s.Then(state.BuildStarted{Resource: "first", Serial: 2, At: s.Snapshot().At, Basis: BasisOf(s.View(), "first")}).
		Finish("first", func(b *state.BuildCompleted) { b.Err = "no" })
	if got, want := text(Decide(s.View(), nil)), "hold second: waiting-for-newest [first]"; got != want {
		t.Errorf("after the failure of the first: %s, want %s", got, want)
	}
}
