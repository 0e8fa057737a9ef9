package buildcontrol

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// after is a resource that waits for others.
func after(m model.Manifest, deps ...model.ManifestName) model.Manifest {
	m.ResourceDeps = deps
	return m
}

// aheadBegins and aheadEnds are the build of the images of a resource, after the given number of builds.
func aheadBegins(s *statetest.State, name string) *statetest.State {
	u := state.Updates.In(s.View()).Value(name)
	return s.Then(state.BuildStarted{Resource: model.ManifestName(name), Serial: u.Serial + 1, At: s.Snapshot().At, Slot: true, BuildOnly: true})
}

func aheadEnds(s *statetest.State, name string, change func(*state.BuildCompleted)) *statetest.State {
	began := state.Updates.In(s.View()).Value(name).Current.StartedAt
	return s.Finish(name, func(b *state.BuildCompleted) {
		b.Mode, b.Images = "image", map[string]model.ImageResult{name: {Local: name + ":1", Cluster: name + ":1", StartedAt: began}}
		if change != nil {
			change(b)
		}
	})
}

func TestBuildAhead(t *testing.T) {
	k8s, local := statetest.K8s, statetest.Local
	waiting := func(ms ...model.Manifest) *statetest.State {
		return up(same, append(ms, after(builds("web"), "db"))...)
	}
	built := func() *statetest.State { return aheadEnds(aheadBegins(waiting(k8s("db")), "web"), "web", nil) }
	failed := func(b *state.BuildCompleted) { b.Err, b.Images = "it does not compile", nil }
	ready := []store.Action{statetest.Healthy("db"), state.ResourcesReady{Names: []model.ManifestName{"db"}}}
	off := func() store.Action {
		loaded := statetest.Loaded(k8s("db"), after(builds("web"), "db"))
		loaded.Result.Update.NoBuildAhead = true
		return loaded
	}
	for _, tc := range []struct {
		name  string
		state *statetest.State
		want  string
	}{
		{"while the dependency is deployed", waiting(k8s("db")).Begin("db"), "start web: initial build (images only)\nhold db: building []\nhold web: waiting-for-dep [db]"},
		{"switched off", waiting(k8s("db")).Then(off()).Begin("db"), "hold db: building []\nhold web: waiting-for-dep [db]"},
		{"while the dependency builds its own", waiting(builds("db")).Begin("db"), "start web: initial build (images only)\nhold db: building []\nhold web: waiting-for-dep [db]"},
		{"after those that can be deployed", up(same, k8s("db"), after(builds("web"), "db"), builds("a"), builds("b"), builds("c")).Begin("db"),
			"start a: initial build\nstart b: initial build\nstart c: initial build\nhold db: building []\nhold web: waiting-for-dep [db]"},
		{"not while a local dependency may write files", waiting(local("db")).Begin("db"), "hold db: building []\nhold web: waiting-for-dep [db]"},
		{"nor a dependency of the dependency", up(same, local("gen"), after(k8s("db"), "gen"), after(builds("web"), "db")).Begin("gen"),
			"hold db: waiting-for-dep [gen]\nhold gen: building []\nhold web: waiting-for-dep [db]"},
		{"but then", up(same, local("gen"), after(k8s("db"), "gen"), after(builds("web"), "db")).Deployed("gen").Then(state.ResourcesReady{Names: []model.ManifestName{"gen"}}).Begin("db"),
			"start web: initial build (images only)\nhold db: building []\nhold web: waiting-for-dep [db]"},
		{"a dependency that a command deploys may write files", waiting(byCommand(k8s("db"))).Begin("db"), "hold db: building []\nhold web: waiting-for-dep [db]"},
		{"a base that another resource builds", up(same, k8s("db"), after(statetest.K8s("web", statetest.Image("base"), statetest.Image("web")), "db"), statetest.K8s("base", statetest.Image("base"))).Begin("db").Begin("base"),
			"hold base: building []\nhold db: building []\nhold web: building-component [base]"},
		{"the engine is away", waiting(k8s("db")).Then(state.EngineReported{}).Begin("db"), "hold db: building []\nhold web: waiting-for-dep [db]"},
		{"one build at a time", aheadBegins(waiting(k8s("db")), "web").Begin("db"), "hold db: building []\nhold web: building []"},
		{"built once", built().Begin("db"), "hold db: building []\nhold web: waiting-for-dep [db] (built)"},
		{"a change makes it due again", built().Begin("db").Then(statetest.Change("web", "/src/web/x")), "start web: initial build, files changed /src/web/x (images only)\nhold db: building []\nhold web: waiting-for-dep [db]"},
		{"a failure does not, by itself", aheadEnds(aheadBegins(waiting(k8s("db")), "web"), "web", failed).Begin("db"), "hold db: building []\nhold web: waiting-for-dep [db]"},
		{"but the mending of it does", aheadEnds(aheadBegins(waiting(k8s("db")), "web"), "web", failed).Begin("db").Then(statetest.Change("web", "/src/web/x")),
			"start web: initial build, files changed /src/web/x (images only)\nhold db: building []\nhold web: waiting-for-dep [db]"},
		{"what is built is deployed, and takes no slot", built().Deployed("db").Then(ready...), "start web: initial build"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, text(Decide(tc.state.View(), nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	s := built().Deployed("db").Then(ready...)
	if c := Decide(s.View(), nil).Start[0]; c.Slot || c.BuildOnly() {
		t.Errorf("its deploy: %+v", c)
	}
	if got := (Hold{Reason: HoldDep, On: []model.ManifestName{"db"}, Built: true}).String(); got != "built, waits for db to be ready" {
		t.Error(got)
	}
}
