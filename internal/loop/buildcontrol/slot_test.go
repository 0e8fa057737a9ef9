package buildcontrol

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// builds is a resource with an image of its own.
func builds(name string) model.Manifest { return statetest.K8s(name, statetest.Image(name)) }

// redeclared is a resource whose objects have changed.
func redeclared(m model.Manifest) model.Manifest {
	target := *m.K8s
	target.Objects = []model.K8sObject{{APIVersion: "apps/v1", Kind: "Deployment", Name: string(m.Name), JSON: `{"new":true}`}}
	m.K8s = &target
	return m
}

func byCommand(m model.Manifest) model.Manifest {
	target := *m.K8s
	target.CustomDeploy = &model.CustomDeploy{Apply: model.Cmd{Argv: []string{"apply"}}}
	m.K8s = &target
	return m
}

func TestSlots(t *testing.T) {
	k8s := statetest.K8s
	applies := func(name string) store.Action {
		return state.BuildProgressed{Resource: model.ManifestName(name), Serial: 1, Progress: model.BuildProgress{Kind: model.StepApply}}
	}
	waits := func(name, why string) store.Action {
		return state.BuildProgressed{Resource: model.ManifestName(name), Serial: 1, Progress: model.BuildProgress{Kind: model.StepBuild, Waits: why}}
	}
	limited := func(n int, ms ...model.Manifest) store.Action {
		loaded := statetest.Loaded(ms...)
		loaded.Result.Update.MaxParallel = n
		return loaded
	}
	for _, tc := range []struct {
		name  string
		state *statetest.State
		want  string
	}{
		{"builds take slots", up(same, builds("a"), builds("b"), builds("c"), builds("d")), `start a: initial build
start b: initial build
start c: initial build
hold d: waiting-for-slot [a b c]`},
		{"a running build takes a slot", up(same, builds("a"), builds("b"), builds("c"), builds("d")).Begin("a"), `start b: initial build
start c: initial build
hold a: building []
hold d: waiting-for-slot [a b c]`},
		{"the slot is free once the build applies its objects", up(same, builds("a"), builds("b"), builds("c"), builds("d")).Begin("a").Then(applies("a")),
			`start b: initial build
start c: initial build
start d: initial build
hold a: building []`},
		{"a command that deploys keeps its slot", up(same, byCommand(k8s("a")), builds("b"), builds("c"), builds("d")).Begin("a").Then(applies("a")),
			`start b: initial build
start c: initial build
hold a: building []
hold d: waiting-for-slot [a b c]`},
		{"objects alone take no slot", up(same, k8s("a"), k8s("b"), k8s("c"), k8s("d"), builds("e"), builds("f"), builds("g"), builds("h")).Begin("a"),
			`start b: initial build
start c: initial build
start d: initial build
start e: initial build
start f: initial build
start g: initial build
hold a: building []
hold h: waiting-for-slot [e f g]`},
		{"new objects for built images take no slot", up(same, builds("a"), builds("b"), builds("c"), builds("d")).
			Deployed("a").Deployed("b").Deployed("c").Deployed("d").
			Then(statetest.Loaded(redeclared(builds("a")), redeclared(builds("b")), redeclared(builds("c")), redeclared(builds("d")))),
			`start a: config changed
start b: config changed
start c: config changed
start d: config changed`},
		{"requests for new images take slots", up(same, builds("a"), builds("b"), builds("c"), builds("d")).
			Deployed("a").Deployed("b").Deployed("c").Deployed("d").
			Then(state.ResourcesTriggered{Names: []model.ManifestName{"a", "b", "c", "d"}}),
			`start a: triggered
start b: triggered
start c: triggered
hold d: waiting-for-slot [a b c]`},
		{"a build that waits for its builder takes no slot", up(same, builds("a"), builds("b"), builds("c"), builds("d")).Begin("a").Then(waits("a", "waiting for arm64")),
			`start b: initial build
start c: initial build
start d: initial build
hold a: building []`},
		{"a build whose builder is there goes on, also if no slot is free", up(same, builds("a"), builds("b"), builds("c"), builds("d"), builds("e")).
			Begin("a").Then(waits("a", "waiting for arm64")).Begin("b").Begin("c").Begin("d").Then(waits("a", "")),
			`hold a: building []
hold b: building []
hold c: building []
hold d: building []
hold e: waiting-for-slot [a b c d]`},
		{"a build that waits for its builder does not count in a limit of the Tiltfile", up(same, builds("a"), k8s("b"), k8s("c")).
			Then(limited(1, builds("a"), k8s("b"), k8s("c"))).Begin("a").Then(waits("a", "waiting for arm64")),
			`start b: initial build
hold a: building []
hold c: waiting-for-slot [b]`},
		{"a deploy that waits for the API server counts in a limit of the Tiltfile", up(same, builds("a"), k8s("b")).
			Then(limited(1, builds("a"), k8s("b"))).Begin("a").
			Then(state.BuildProgressed{Resource: "a", Serial: 1, Progress: model.BuildProgress{Kind: model.StepApply, Waits: "trying again"}}),
			`hold a: building []
hold b: waiting-for-slot [a]`},
		{"a limit of the Tiltfile counts every update", up(same, k8s("a"), k8s("b"), k8s("c")).
			Then(limited(2, k8s("a"), k8s("b"), k8s("c"))).Begin("a").Then(applies("a")),
			`start b: initial build
hold a: building []
hold c: waiting-for-slot [a b]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, text(Decide(tc.state.View(), nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
