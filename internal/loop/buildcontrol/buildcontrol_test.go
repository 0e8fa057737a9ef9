package buildcontrol

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// text renders a plan: the updates that start, with their reasons, then each hold.
func text(p Plan) string {
	var lines []string
	for _, c := range p.Start {
		s := fmt.Sprintf("start %s: %s", c.Name, c.Reason)
		if len(c.Files) > 0 {
			s += " " + strings.Join(c.Files, " ")
		}
		if c.InPlace {
			s += " (in place)"
		}
		if c.BuildOnly() {
			s += " (images only)"
		}
		lines = append(lines, s)
	}
	for _, n := range slices.Sorted(maps.Keys(p.Holds)) {
		h := p.Holds[n]
		s := fmt.Sprintf("hold %s: %s %v", n, h.Reason, h.On)
		if h.Built {
			s += " (built)"
		}
		lines = append(lines, s)
	}
	return strings.Join(lines, "\n")
}

func manifests(change func(m map[string]*model.Manifest), ms ...model.Manifest) []model.Manifest {
	by := map[string]*model.Manifest{}
	for i := range ms {
		by[string(ms[i].Name)] = &ms[i]
	}
	change(by)
	return ms
}

func same(map[string]*model.Manifest) {}

// up is a session in which the given manifests are declared and everything answers.
func up(change func(m map[string]*model.Manifest), ms ...model.Manifest) *statetest.State {
	s := statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(manifests(change, ms...)...))
	return s.Then(statetest.Connected()...)
}

// tiltfileChanged is a change of the Tiltfile.
func tiltfileChanged() state.FilesChanged {
	return state.FilesChanged{Changes: []state.FileChange{{Target: model.TargetID{Type: model.TargetConfigs}, Paths: []string{"/src/Tiltfile"}}}}
}

// toRegistry declares a resource whose images go to a registry, and its object if that is another one.
func toRegistry(host string, object ...string) state.TiltfileLoaded {
	m := statetest.K8s("a", statetest.Image("a"))
	m.K8s.Registry.Host = host
	for _, text := range object {
		m.K8s.Objects[0].JSON = text
	}
	return statetest.Loaded(m)
}

// TestTriggerModes goes through the four ways in which trigger_mode and auto_init combine, for a local resource.
func TestTriggerModes(t *testing.T) {
	change := state.FilesChanged{Changes: []state.FileChange{{Target: statetest.Local("a").DeployID(), Paths: []string{"/src/dep"}}}}
	trigger := state.ResourcesTriggered{Names: []model.ManifestName{"a"}}
	for _, tc := range []struct {
		mode     model.TriggerMode
		autoInit bool
		// want are the decisions at the start, after a change before the first build, after the trigger, after the build, and after
		// another change.
		want []string
	}{
		{model.TriggerAuto, true, []string{"start a: initial build", "start a: initial build, files changed /src/dep",
			"start a: initial build, files changed, triggered /src/dep", "", "start a: files changed /src/dep"}},
		{model.TriggerAuto, false, []string{"", "", "start a: files changed, triggered /src/dep", "", "start a: files changed /src/dep"}},
		{model.TriggerManual, true, []string{"start a: initial build", "start a: initial build, files changed /src/dep",
			"start a: initial build, files changed, triggered /src/dep", "", "hold a: manual []"}},
		{model.TriggerManual, false, []string{"", "", "start a: files changed, triggered /src/dep", "", "hold a: manual []"}},
	} {
		t.Run(fmt.Sprintf("%s, auto_init=%v", tc.mode, tc.autoInit), func(t *testing.T) {
			s := up(func(m map[string]*model.Manifest) { m["a"].TriggerMode, m["a"].AutoInit = tc.mode, tc.autoInit }, statetest.Local("a"))
			got := []string{text(Decide(s.View(), nil))}
			note := func() { got = append(got, text(Decide(s.View(), nil))) }
			s.Then(change)
			note()
			s.Then(trigger)
			note()
			s.Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Deployed = true })
			note()
			s.Then(change)
			note()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNewlyReady checks that each resource that becomes ready is named once.
func TestNewlyReady(t *testing.T) {
	s := up(func(m map[string]*model.Manifest) {
		m["srv"].Local.Serve = model.Cmd{Argv: []string{"serve"}}
		m["user"].ResourceDeps = []model.ManifestName{"srv"}
	}, statetest.Local("srv"), statetest.Local("user"), statetest.Local("other"))
	check := func(when string, want ...model.ManifestName) {
		t.Helper()
		if diff := cmp.Diff(want, NewlyReady(s.View())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	s.Begin("srv").Finish("srv", nil).Begin("other").Finish("other", nil)
	check("built", "other")
	s.Then(state.ResourcesReady{Names: []model.ManifestName{"other"}}, serves("srv", 1, false))
	check("not ready")
	s.Then(serves("srv", 1, true))
	check("ready", "srv")
	s.Then(state.ResourcesReady{Names: []model.ManifestName{"srv"}})
	check("known")
}

func TestDecide(t *testing.T) {
	k8s, local, image := statetest.K8s, statetest.Local, statetest.Image
	for _, tc := range []struct {
		name  string
		state *statetest.State
		want  string
	}{
		{"nothing before the Tiltfile", statetest.New(statetest.Session), ""},
		{"locals first, then uncategorized, then deploy-only, then the rest; no more than there are slots",
			up(same, k8s("uncategorized"), k8s("web", image("web")), k8s("redis"), local("gen")),
			`start gen: initial build
start uncategorized: initial build
hold redis: waiting-for-uncategorized [uncategorized]
hold web: waiting-for-uncategorized [uncategorized]`},
		{"exclusive locals run one at a time", up(same, local("a"), local("b")), `start a: initial build
hold b: waiting-for-local [a]`},
		{"an exclusive local waits for parallel ones", up(func(m map[string]*model.Manifest) { m["a"].Local.AllowParallel = true }, local("a"), local("b")),
			`start a: initial build
hold b: is-unparallelizable-local [a]`},
		{"parallel locals run together", up(func(m map[string]*model.Manifest) {
			m["a"].Local.AllowParallel, m["b"].Local.AllowParallel = true, true
		}, local("a"), local("b")), "start a: initial build\nstart b: initial build"},
		{"resources that build the same image wait for each other", up(same, k8s("a", image("x")), k8s("b", image("x"))),
			"start a: initial build\nhold b: building-component [a]"},
		{"a dependency must be ready first", up(func(m map[string]*model.Manifest) { m["b"].ResourceDeps = []model.ManifestName{"a"} }, k8s("a"), k8s("b")),
			"start a: initial build\nhold b: waiting-for-dep [a]"},
		{"a disabled resource wants nothing, and holds nobody that depends on it", up(func(m map[string]*model.Manifest) {
			m["b"].ResourceDeps = []model.ManifestName{"a"}
		}, k8s("uncategorized"), k8s("a"), k8s("b")).Then(state.ResourcesSwitched{Off: []model.ManifestName{"uncategorized", "a"}}),
			"start b: initial build"},
		{"one that is enabled again begins as if it were new", up(same, k8s("a"), k8s("b")).Deployed("a").Deployed("b").
			Then(state.ResourcesSwitched{Off: []model.ManifestName{"a"}}, state.ResourcesSwitched{On: []model.ManifestName{"a"}}),
			"start a: initial build"},
		{"a chosen trigger mode", up(same, k8s("a", image("a"))).Deployed("a").
			Then(state.TriggerModeChosen{Names: []model.ManifestName{"a"}, Mode: model.TriggerManual}, statetest.Change("a", "/src/a/x")),
			"hold a: manual []"},
		{"a deployed dependency that is not ready yet", up(func(m map[string]*model.Manifest) { m["b"].ResourceDeps = []model.ManifestName{"a"} }, k8s("a"), k8s("b")).
			Deployed("a"), "hold b: waiting-for-dep [a]"},
		{"a ready dependency", up(func(m map[string]*model.Manifest) { m["b"].ResourceDeps = []model.ManifestName{"a"} }, k8s("a"), k8s("b")).
			Deployed("a").Then(statetest.Healthy("a")), "start b: initial build"},
		{"a server that is not ready yet", up(func(m map[string]*model.Manifest) {
			m["a"].Local.Serve, m["b"].ResourceDeps = model.Cmd{Argv: []string{"serve"}}, []model.ManifestName{"a"}
		}, local("a"), local("b")).Begin("a").Finish("a", nil).Then(serves("a", 1, false)), "hold b: waiting-for-dep [a]"},
		{"a ready server", up(func(m map[string]*model.Manifest) {
			m["a"].Local.Serve, m["b"].ResourceDeps = model.Cmd{Argv: []string{"serve"}}, []model.ManifestName{"a"}
		}, local("a"), local("b")).Begin("a").Finish("a", nil).Then(serves("a", 1, true)), "start b: initial build"},
		{"a server that was ready once", up(func(m map[string]*model.Manifest) {
			m["a"].Local.Serve, m["b"].ResourceDeps = model.Cmd{Argv: []string{"serve"}}, []model.ManifestName{"a"}
		}, local("a"), local("b")).Begin("a").Finish("a", nil).
			Then(serves("a", 1, true), state.ResourcesReady{Names: []model.ManifestName{"a"}}, serves("a", 1, false)), "start b: initial build"},
		{"a dependency that was ready once and is updated", up(func(m map[string]*model.Manifest) { m["b"].ResourceDeps = []model.ManifestName{"a"} }, k8s("a"), k8s("b")).
			Deployed("a").Then(state.ResourcesReady{Names: []model.ManifestName{"a"}}).Begin("a"), "start b: initial build"},
		{"dependencies count for the first build only, also if that has failed", up(func(m map[string]*model.Manifest) { m["b"].ResourceDeps = []model.ManifestName{"a"} }, local("a"), k8s("b", image("b"))).
			Begin("a").Finish("a", nil).Begin("b").Finish("b", func(b *state.BuildCompleted) { b.Err = "no" }).
			Begin("a").Then(statetest.Change("b", "/src/b/x")), "start b: files changed /src/b/x"},
		{"a server needs no turn among commands", up(func(m map[string]*model.Manifest) {
			m["srv"].Local = &model.LocalTarget{Serve: model.Cmd{Argv: []string{"serve"}}, AllowParallel: true}
		}, local("a"), local("srv")), "start a: initial build\nstart srv: initial build"},
		{"an exclusive local holds all others", up(func(m map[string]*model.Manifest) { m["b"].Local.AllowParallel = true }, local("a"), local("b"), k8s("c")).
			Begin("a"), "start c: initial build\nhold a: building []\nhold b: waiting-for-local [a]"},
		{"dependencies count for the first build only", up(func(m map[string]*model.Manifest) { m["b"].ResourceDeps = []model.ManifestName{"a"} }, k8s("a"), k8s("b", image("b"))).
			Deployed("a").Then(statetest.Healthy("a")).Deployed("b").Then(statetest.Healthy("b"), statetest.Change("b", "/src/b/x")).Begin("a"),
			"hold b: waiting-for-deploy []"},
		{"the cluster must answer", statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(k8s("a"), local("l"))),
			"start l: initial build\nhold a: waiting-for-cluster []"},
		{"so must the engine, for images", statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(k8s("a", image("a")), k8s("b")),
			state.ClusterReported{Connected: true}), "start b: initial build\nhold a: waiting-for-engine []"},
		{"a Compose service needs the engine", statetest.New(statetest.Session, state.TiltfileStarted{},
			statetest.Loaded(statetest.Compose("db"))), "hold db: waiting-for-engine []"},
		{"a Compose service needs no cluster, nor what is applied to it first", statetest.New(statetest.Session, state.TiltfileStarted{}, state.EngineReported{Connected: true},
			statetest.Loaded(k8s("uncategorized"), statetest.Compose("db"))), "start db: initial build\nhold uncategorized: waiting-for-cluster []"},
		{"a failed Compose service is not tried again by itself", up(same, statetest.Compose("db")).Begin("db").
			Finish("db", func(b *state.BuildCompleted) { b.Err = "not yet" }), ""},
		{"a change of its files tries a Compose service again", up(same, statetest.Compose("db", image("i"))).Begin("db").
			Finish("db", func(b *state.BuildCompleted) { b.Err = "not yet" }).
			Then(state.FilesChanged{Changes: []state.FileChange{{Target: model.TargetID{Type: model.TargetCompose, Name: "db"}, Paths: []string{"/src/x"}}}}),
			"start db: files changed /src/x"},
		{"no auto_init waits for the user", up(func(m map[string]*model.Manifest) { m["a"].AutoInit = false }, local("a")), ""},
		{"until the user asks", up(func(m map[string]*model.Manifest) { m["a"].AutoInit = false }, local("a")).
			Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}}), "start a: triggered"},
		{"changes before the first build of a resource without auto_init do not start it", up(func(m map[string]*model.Manifest) { m["a"].AutoInit = false }, k8s("a", image("a"))).
			Then(statetest.Change("a", "/src/a/x")), ""},
		{"manual keeps changes", up(func(m map[string]*model.Manifest) { m["a"].TriggerMode = model.TriggerManual }, k8s("a", image("a"))).
			Deployed("a").Then(statetest.Healthy("a"), statetest.Change("a", "/src/a/x")), "hold a: manual []"},
		{"manual, triggered", up(func(m map[string]*model.Manifest) { m["a"].TriggerMode = model.TriggerManual }, k8s("a", image("a"))).
			Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}}),
			"start a: files changed, triggered /src/a/x (in place)"},
		{"auto, triggered: a rebuild, whatever is pending", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}}),
			"start a: files changed, triggered /src/a/x"},
		{"a rebuild", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}, Rebuild: true}), "start a: triggered, from scratch"},
		{"a rebuild with pending changes, manual", up(func(m map[string]*model.Manifest) { m["a"].TriggerMode = model.TriggerManual }, k8s("a", image("a"))).
			Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}, Rebuild: true}),
			"start a: files changed, triggered, from scratch /src/a/x"},
		{"a change goes into a running container", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x", "/src/a/y")),
			"start a: files changed /src/a/x /src/a/y (in place)"},
		{"a change below an image with steps goes into its container", up(layered, k8s("a", image("base"), image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("base", "/src/base/x")),
			"start a: files changed /src/base/x (in place)"},
		{"unless another image on the same base has no steps", up(func(m map[string]*model.Manifest) {
			layered(m)
			m["a"].Images[2].LiveUpdate, m["a"].Images[2].DependsOn = model.LiveUpdate{}, []string{"base"}
		}, k8s("a", image("base"), image("a"), image("b"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("base", "/src/base/x")), "start a: files changed /src/base/x"},
		{"or a container runs the base itself", up(layered, k8s("a", image("base"), image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Pod("a", "q", "d1", "base:1"), statetest.Change("base", "/src/base/x")),
			"start a: files changed /src/base/x"},
		{"a container that restarted lacks what was copied", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "exec", []string{"c1"} }).
			Then(statetest.Pod("a", "p", "c2", "a:1")),
			"start a: container started /src/a/x (in place)"},
		{"a container that has it all", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "exec", []string{"c1"} }), ""},
		{"a container that nothing helps is left alone", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x")).Begin("a").Finish("a", full), ""},
		{"until something else changes", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x")).Begin("a").Finish("a", full).
			Then(statetest.Change("a", "/src/a/y")), "start a: files changed /src/a/y (in place)"},
		{"or another one runs", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x")).Begin("a").Finish("a", full).
			Then(statetest.Pod("a", "p", "c2", "a:1")), "start a: container started /src/a/x (in place)"},
		{"an update that could not reach the cluster waits for it", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Cancelled, b.ClusterErr = true, "refused" }), "hold a: waiting-for-cluster []"},
		{"and goes on then", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Cancelled, b.ClusterErr = true, "refused" }).
			Then(statetest.Connected()...), "start a: files changed /src/a/x (in place)"},
		{"an image build that the engine broke off waits for it", up(same, k8s("a", image("a"))).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Cancelled, b.EngineErr = true, "refused" }), "hold a: waiting-for-engine []"},
		{"a failure that may pass is left alone", up(same, k8s("a", image("a"))).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Err, b.Passing = "refused", true }), ""},
		{"until its time has come", up(same, k8s("a", image("a"))).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Err, b.Passing = "refused", true }).
			Then(state.RetryDue{Resource: "a", Serial: 1}), "start a: trying again"},
		{"also where updates wait for the user, who has asked for it", up(func(m map[string]*model.Manifest) { m["a"].TriggerMode = model.TriggerManual },
			k8s("a", image("a"))).Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Err, b.Passing = "refused", true }).
			Then(state.RetryDue{Resource: "a", Serial: 1}), "start a: trying again"},
		{"a second replica that lacks it", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "exec", []string{"c1"} }).
			Then(statetest.Pod("a", "q", "d1", "a:1")),
			"start a: container started /src/a/x (in place)"},
		{"pods of an older deploy do not count", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Change("a", "/src/a/x")).Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:0")), ""},
		{"in place is not tried after it broke", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Err, b.InPlaceBroken = "x", "tar is missing" }).
			Then(statetest.Change("a", "/src/a/y")), "start a: files changed /src/a/y"},
		{"a failed build waits for the next change", up(same, k8s("a", image("a"))).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Err = "no" }), ""},
		{"after a deploy that failed, a file that could be copied asks for the next one", failedDeploy().Then(statetest.Change("a", "/src/a/x")),
			"start a: files changed /src/a/x"},
		{"and so does one that was only noticed, once it has settled", failedDeploy().Then(state.FilesNoticed{Changes: statetest.Change("a", "/src/a/x").Changes}), ""},
		{"a container that starts meanwhile gets what the others had", failedDeploy().Then(statetest.Pod("a", "p", "c2", "a:1")), "start a: container started /src/a/w (in place)"},
		{"a cancelled build goes on", up(same, k8s("a", image("a"))).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Cancelled = true }), "start a: initial build"},
		{"a change during a build leads to another", up(same, k8s("a", image("a"))).Begin("a").Then(statetest.Change("a", "/src/a/x")).
			Finish("a", func(b *state.BuildCompleted) { b.Err = "no" }), "start a: files changed /src/a/x"},
		{"a new declaration", up(same, k8s("a")).Deployed("a").Then(statetest.Healthy("a"), statetest.Loaded(manifests(func(m map[string]*model.Manifest) {
			m["a"].K8s.Objects[0].JSON = "{}"
		}, k8s("a"))...)), "start a: config changed"},
		{"another registry", up(same, k8s("a", image("a"))).Deployed("a").Then(toRegistry("localhost:5000")), "start a: config changed, registry changed"},
		{"another registry and new objects", up(same, k8s("a", image("a"))).Deployed("a").Then(toRegistry("localhost:5000"), toRegistry("localhost:5000", "{}")),
			"start a: config changed, registry changed"},
		{"the images are there", up(same, k8s("a", image("a"))).Deployed("a").Then(toRegistry("localhost:5000")).Deployed("a").Then(statetest.Healthy("a")), ""},
		{"the old registry again, before a build", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Healthy("a"), toRegistry("localhost:5000"), toRegistry("")), ""},
		{"the old registry again, but new objects", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Healthy("a"), toRegistry("localhost:5000"), toRegistry("", "{}")), "start a: config changed"},
		{"another builder is no reason", up(same, k8s("a", image("a"))).Deployed("a").Then(statetest.Healthy("a"), state.TiltfileLoaded{
			Result: model.Tiltfile{Manifests: []model.Manifest{k8s("a", image("a"))}, Builder: model.Builder{At: model.BuilderInCluster}}}), ""},
		{"a new port is no reason", up(same, k8s("a")).Deployed("a").Then(statetest.Healthy("a"), statetest.Loaded(manifests(func(m map[string]*model.Manifest) {
			m["a"].K8s.PortForwards = []model.PortForward{{LocalPort: 1}}
		}, k8s("a"))...)), ""},
		{"paused: a change waits", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), state.SessionPaused{}, statetest.Change("a", "/src/a/x")), "hold a: paused []"},
		{"paused: so does one that could be copied before the tree settles", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), state.SessionPaused{}, state.FilesNoticed{Changes: statetest.Change("a", "/src/a/x").Changes}), "hold a: paused []"},
		{"another deploys: everything waits, also what is asked for", up(same, k8s("a", image("a")), local("l")).Deployed("a").
			Then(state.DeployLockTaken{ID: 1, By: "hone ci"}, state.ResourcesTriggered{Names: []model.ManifestName{"a"}}), "hold a: waiting-for-turn []\nhold l: waiting-for-turn []"},
		{"another has deployed, and a third still does", up(same, local("l")).
			Then(state.DeployLockTaken{ID: 1, By: "hone ci"}, state.DeployLockTaken{ID: 2, By: "hone deploy"}, state.DeployLockReleased{ID: 1}), "hold l: waiting-for-turn []"},
		{"all others have deployed", up(same, local("l")).
			Then(state.DeployLockTaken{ID: 1, By: "hone ci"}, state.DeployLockTaken{ID: 2, By: "hone deploy"}, state.DeployLockReleased{ID: 1}, state.DeployLockReleased{ID: 2}), "start l: initial build"},
		{"paused: so does the first build", up(same, k8s("a"), local("l")).Then(state.SessionPaused{}), "hold a: paused []\nhold l: paused []"},
		{"paused: a container that starts without earlier changes waits", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Change("a", "/src/a/x"), state.SessionPaused{}, statetest.Pod("a", "p", "c1", "a:1")), "hold a: paused []"},
		{"paused: a manual resource waits for its trigger", up(func(m map[string]*model.Manifest) { m["a"].TriggerMode = model.TriggerManual }, k8s("a", image("a"))).
			Deployed("a").Then(state.SessionPaused{}, statetest.Change("a", "/src/a/x")), "hold a: manual []"},
		{"paused: a trigger takes all changes of its resource", up(same, k8s("a", image("a")), k8s("b", image("b"))).Deployed("a").Deployed("b").
			Then(statetest.Pod("a", "p", "c1", "a:1"), state.SessionPaused{}, statetest.Change("a", "/src/a/x"), statetest.Change("a", "/src/a/y"),
				statetest.Change("b", "/src/b/x"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}}),
			"start a: files changed, triggered /src/a/x /src/a/y\nhold b: paused []"},
		{"paused: a trigger does not wait for changes of the Tiltfile", up(same, k8s("a")).Deployed("a").Then(state.SessionPaused{}, tiltfileChanged(),
			state.ResourcesTriggered{Names: []model.ManifestName{"a"}}), "start a: triggered"},
		{"paused: but for an evaluation that the user requests", up(same, k8s("a")).Deployed("a").Then(state.SessionPaused{}, tiltfileChanged(),
			state.ResourcesTriggered{Names: []model.ManifestName{"a", model.TiltfileName}}), "hold a: tiltfile-reload [(Tiltfile)]"},
		{"resumed: the Tiltfile first", up(same, k8s("a", image("a"))).Deployed("a").Then(state.SessionPaused{}, tiltfileChanged(), statetest.Change("a", "/src/a/x"),
			state.SessionResumed{}), "hold a: tiltfile-reload [(Tiltfile)]"},
		{"resumed: all changes as one update", up(same, k8s("a", image("a"))).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), state.SessionPaused{}, statetest.Change("a", "/src/a/x"), statetest.Change("a", "/src/a/y"), state.SessionResumed{}),
			"start a: files changed /src/a/x /src/a/y (in place)"},
		{"paused: what others change waits", up(same, k8s("a")).Deployed("a").Then(state.SessionPaused{},
			drifted(true)), "hold a: paused []"},
		{"what others change of objects that are kept", up(same, k8s("a")).Deployed("a").Then(
			drifted(true)), "start a: changed by others"},
		{"and of others", up(same, k8s("a")).Deployed("a").Then(
			drifted(false)), ""},
		{"what others change of a manual resource", up(func(m map[string]*model.Manifest) { m["a"].TriggerMode = model.TriggerManual }, k8s("a", image("a"))).Deployed("a").Then(
			drifted(true)), "start a: changed by others"},
		{"but not with changes of the user", up(func(m map[string]*model.Manifest) { m["a"].TriggerMode = model.TriggerManual }, k8s("a", image("a"))).Deployed("a").Then(
			statetest.Change("a", "/src/a/x"),
			drifted(true)), "hold a: manual []"},
		{"a session that asks: the first build waits", asking(k8s("a"), local("l")), "hold a: waiting-for-confirmation []\nhold l: waiting-for-confirmation []"},
		{"asks: until the user agrees", asking(k8s("a"), local("l")).Then(agreed("a")), "start a: initial build\nhold l: waiting-for-confirmation []"},
		{"asks: what waits is not agreed to by a trigger", asking(k8s("a")).Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}}), "hold a: waiting-for-confirmation []"},
		{"asks: nor by a trigger from scratch", asking(local("l")).Then(agreed("l")).Deployed("l").Then(dep("x"), state.ResourcesTriggered{Names: []model.ManifestName{"l"}, Rebuild: true}), "hold l: waiting-for-confirmation []"},
		{"asks: nor by taking back what others changed", asking(local("l")).Then(agreed("l")).Deployed("l").Then(dep("x"), state.ResourcesRestored{Names: []model.ManifestName{"l"}}), "hold l: waiting-for-confirmation []"},
		{"asks: a trigger after the agreement", asking(k8s("a")).Then(agreed("a"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}}), "start a: initial build, triggered"},
		{"asks: a trigger of what is up to date does not wait", asking(k8s("a")).Then(agreed("a")).Deployed("a").Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}}), "start a: triggered"},
		{"asks: nor does the trigger of a manual resource whose containers take its changes", asking(manual(k8s("a", image("a")))).Then(agreed("a")).Deployed("a").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}}),
			"start a: files changed, triggered /src/a/x (in place)"},
		{"asks: a change waits", asking(local("l")).Then(agreed("l")).Deployed("l").Then(dep("x")), "hold l: waiting-for-confirmation []"},
		{"asks: a change after the agreement waits again", asking(local("l")).Then(agreed("l")).Deployed("l").Then(dep("x"), agreed("l"), dep("y")), "hold l: waiting-for-confirmation []"},
		{"asks: one before it does not", asking(local("l")).Then(agreed("l")).Deployed("l").Then(dep("x"), dep("y"), agreed("l")), "start l: files changed /src/x /src/y"},
		{"asks: an agreement is used up", asking(local("l")).Then(agreed("l")).Deployed("l").Then(dep("x"), agreed("l")).Deployed("l").Then(dep("y")), "hold l: waiting-for-confirmation []"},
		{"asks: what others change waits, too", asking(k8s("a")).Then(agreed("a")).Deployed("a").Then(drifted(true)), "hold a: waiting-for-confirmation []"},
		{"asks: containers are brought up to date", asking(k8s("a", image("a"))).Then(agreed("a")).Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x")),
			"start a: files changed /src/a/x (in place)"},
		{"paused: an object that is lost waits", up(same, k8s("a")).Deployed("a").Then(state.SessionPaused{},
			state.ObjectsLost{UIDs: map[model.ManifestName][]string{"a": {"uid-a"}}}), "hold a: paused []"},
		{"paused: unless the user has restarted its pods", up(same, k8s("a")).Deployed("a").Then(state.SessionPaused{},
			state.ResourcesRestarted{Names: []model.ManifestName{"a"}, Pods: true}, state.ObjectsLost{UIDs: map[model.ManifestName][]string{"a": {"uid-a"}}}),
			"start a: objects went missing"},
		{"the Tiltfile first", up(same, k8s("a")).Then(state.ResourcesTriggered{Names: []model.ManifestName{model.TiltfileName}}),
			"hold a: tiltfile-reload [(Tiltfile)]"},
		{"the oldest change first", up(same, k8s("a", image("a")), k8s("b", image("b"))).Deployed("a").Deployed("b").
			Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Pod("b", "q", "d1", "b:1"), statetest.Change("b", "/src/b/x"), statetest.Change("a", "/src/a/x")),
			"start b: files changed /src/b/x (in place)\nstart a: files changed /src/a/x (in place)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, text(Decide(tc.state.View(), nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// failedDeploy is a resource whose newest declaration the cluster has refused, while its earlier containers keep running.
func failedDeploy() *statetest.State {
	s := up(same, statetest.K8s("a", statetest.Image("a"))).Deployed("a").
		Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/w")).Begin("a").
		Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "exec", []string{"c1"} })
	return s.Then(statetest.Loaded(manifests(func(m map[string]*model.Manifest) { m["a"].K8s.Objects[0].JSON = "{}" },
		statetest.K8s("a", statetest.Image("a")))...)).Begin("a").
		Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Err = "deploy", "rejected" })
}

// layered puts the second image of a on the first, which has no steps of its own.
func layered(m map[string]*model.Manifest) {
	m["a"].Images[0].LiveUpdate = model.LiveUpdate{}
	m["a"].Images[1].DependsOn = []string{"base"}
}

// custom is a resource that a command deploys from /chart and whose containers called main get the changed files of /chart/src.
func custom(name string, change func(d *model.CustomDeploy)) model.Manifest {
	d := model.CustomDeploy{Apply: model.Cmd{Argv: []string{"apply"}}, ContainerSelector: "main",
		Watch:      model.WatchSpec{Paths: []string{"/chart"}},
		LiveUpdate: model.LiveUpdate{StopPaths: []string{"/chart/src/stop"}, Syncs: []model.Sync{{LocalPath: "/chart/src", RemotePath: "/app"}}}}
	if change != nil {
		change(&d)
	}
	return model.Manifest{Name: model.ManifestName(name), AutoInit: true, K8s: &model.K8sTarget{CustomDeploy: &d}}
}

func chartChange(name string, paths ...string) state.FilesChanged {
	return state.FilesChanged{Changes: []state.FileChange{{Target: model.TargetID{Type: model.TargetK8s, Name: name}, Paths: paths}}}
}

func TestDecideCustomDeploy(t *testing.T) {
	pod := statetest.Pod("a", "p", "c1", "gcr.io/team/web:v1")
	image := func(ref string) func(*model.CustomDeploy) {
		return func(d *model.CustomDeploy) { d.ContainerSelector, d.ImageSelector = "", ref }
	}
	deployed := func(change func(*model.CustomDeploy), actions ...store.Action) *statetest.State {
		return up(same, custom("a", change)).Deployed("a").Then(actions...)
	}
	applied := func(b *state.BuildCompleted) { b.Deployed, b.Copies = true, true }
	fellBack := func(b *state.BuildCompleted) {
		applied(b)
		b.FellBack, b.Stuck = "no tar", []string{"c1"}
	}
	failed := func(b *state.BuildCompleted) { b.FellBack, b.InPlaceBroken, b.Err = "no tar", "no tar", "no" }
	both := chartChange("a", "/chart/src/x", "/chart/values.yaml")
	for _, tc := range []struct {
		name  string
		state *statetest.State
		want  string
	}{
		{"first", up(same, custom("a", nil)), "start a: initial build"},
		{"deployed", deployed(nil, pod), ""},
		{"a file under a sync", deployed(nil, pod, chartChange("a", "/chart/src/x")), "start a: files changed /chart/src/x (in place)"},
		{"waits for the container", deployed(nil, chartChange("a", "/chart/src/x")), "hold a: waiting-for-deploy []"},
		{"a file of the chart", deployed(nil, pod, chartChange("a", "/chart/values.yaml")), "start a: files changed /chart/values.yaml"},
		{"does not wait for a container", deployed(nil, chartChange("a", "/chart/values.yaml")), "start a: files changed /chart/values.yaml"},
		{"a stop path", deployed(nil, pod, chartChange("a", "/chart/src/stop")), "start a: files changed /chart/src/stop"},
		{"both", deployed(nil, pod, chartChange("a", "/chart/src/x", "/chart/values.yaml")), "start a: files changed /chart/src/x /chart/values.yaml"},
		{"without a live update", deployed(func(d *model.CustomDeploy) { d.LiveUpdate = model.LiveUpdate{} }, pod, chartChange("a", "/chart/src/x")),
			"start a: files changed /chart/src/x"},
		{"the container restarted", deployed(nil, pod, chartChange("a", "/chart/src/x")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "exec", []string{"c1"} }).
			Then(statetest.Pod("a", "p", "c2", "gcr.io/team/web:v1")), "start a: container started /chart/src/x (in place)"},
		{"applied again, where nothing is copied", deployed(nil, pod, both).Deployed("a"), ""},
		{"applied again: each container gets the file", deployed(nil, pod, both).Begin("a").Finish("a", applied), "start a: container started /chart/src/x (in place)"},
		{"applied again, and the container restarts", deployed(nil, pod, both).Begin("a").Finish("a", applied).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "exec", []string{"c1"} }).
			Then(statetest.Pod("a", "p", "c2", "gcr.io/team/web:v1")), "start a: container started /chart/src/x (in place)"},
		{"applied after an update in place failed", deployed(nil, pod, chartChange("a", "/chart/src/x")).Begin("a").Finish("a", fellBack), ""},
		{"the next pod gets the files", deployed(nil, pod, chartChange("a", "/chart/src/x")).Begin("a").Finish("a", fellBack).
			Then(statetest.Pod("a", "p", "c2", "gcr.io/team/web:v1")), "start a: container started /chart/src/x (in place)"},
		{"it does not take them, either: by itself, only a part tries again", deployed(nil, pod, chartChange("a", "/chart/src/x")).Begin("a").Finish("a", fellBack).
			Then(statetest.Pod("a", "p", "c2", "gcr.io/team/web:v1")).Begin("a").Finish("a", failed), "start a: container started /chart/src/x (in place)"},
		{"and later it gets all at once", deployed(nil, pod, chartChange("a", "/chart/src/x")).Begin("a").Finish("a", failed).
			Then(chartChange("a", "/chart/src/y")).Begin("a").Finish("a", applied), "start a: container started /chart/src/x /chart/src/y (in place)"},
		{"a failed apply is not patched in place", deployed(nil, pod, chartChange("a", "/chart/src/x", "/chart/values.yaml")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Err = "no" }), ""},
		{"by image", deployed(image("gcr.io/team/web"), pod, chartChange("a", "/chart/src/x")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Mode = "exec" }), "start a: container started /chart/src/x (in place)"},
		{"by image and tag", deployed(image("gcr.io/team/web:v1"), pod, chartChange("a", "/chart/src/x")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Mode = "exec" }), "start a: container started /chart/src/x (in place)"},
		{"by another tag", deployed(image("gcr.io/team/web:v2"), pod, chartChange("a", "/chart/src/x")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Mode = "exec" }), ""},
		{"by another image", deployed(image("web"), pod, chartChange("a", "/chart/src/x")).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Mode = "exec" }), ""},
		{"new steps are no reason", deployed(nil, pod, statetest.Loaded(custom("a", image("x")))), ""},
		{"a new command is", deployed(nil, pod, statetest.Loaded(custom("a", func(d *model.CustomDeploy) { d.Apply.Argv = []string{"other"} }))),
			"start a: config changed"},
		{"first contact", deployed(func(d *model.CustomDeploy) { d.LiveUpdate.InitialSync = true }, pod), "start a: container started (in place)"},
		{"no second first contact", deployed(func(d *model.CustomDeploy) { d.LiveUpdate.InitialSync = true }, pod).Begin("a").
			Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "exec", []string{"c1"} }), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, text(Decide(tc.state.View(), nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecideCountsBuildsThatTheViewLacks(t *testing.T) {
	s := up(same, statetest.K8s("a"))
	if got := text(Decide(s.View(), map[model.ManifestName]Underway{"a": {}})); got != "hold a: building []" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkDecide300(b *testing.B) {
	var ms []model.Manifest
	for i := range 300 {
		ms = append(ms, statetest.K8s(fmt.Sprintf("r%03d", i)))
	}
	v := up(same, ms...).View()
	b.ReportAllocs()
	for b.Loop() {
		decide(v, nil)
	}
}

// full is the end of an update in place that failed for a permanent reason.
func full(b *state.BuildCompleted) {
	b.Mode, b.Err, b.Stuck = "synclet", "the disk is full", []string{"c1"}
}

// drifted reports that others have changed an object of resource a, which the session keeps as declared or not.
func drifted(kept bool) state.ResourceDrifted {
	return state.ResourceDrifted{Resource: "a", Objects: []state.ObjectDrift{{Object: model.ObjectID{Kind: "ConfigMap", Name: "c"}, What: state.DriftChanged, Keep: kept}}}
}

// asking is up in a session that asks.
func asking(ms ...model.Manifest) *statetest.State {
	session := statetest.Session
	session.Session.Confirmation.Asked = true
	return statetest.New(session, state.TiltfileStarted{}, statetest.Loaded(ms...)).Then(statetest.Connected()...)
}

// manual returns a manifest whose updates wait for a trigger.
func manual(m model.Manifest) model.Manifest {
	m.TriggerMode = model.TriggerManual
	return m
}

func agreed(names ...model.ManifestName) state.ChangesConfirmed {
	return state.ChangesConfirmed{Names: names}
}

// dep is a change of a file that local resource l depends on.
func dep(name string) state.FilesChanged {
	return state.FilesChanged{Changes: []state.FileChange{{Target: statetest.Local("l").DeployID(), Paths: []string{"/src/" + name}}}}
}
