package state_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// text renders an update in a line: pending changes, dirty images, and the other reasons for a build.
func text(u state.Update) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	pending := u.Pending()
	for _, id := range slices.SortedFunc(maps.Keys(pending), byName) {
		add("pending %s %v", id, pending[id])
	}
	for _, id := range slices.SortedFunc(maps.Keys(u.Changes), byName) {
		add("changed %s %v", id, state.PathsOf(u.Changes[id]))
	}
	if !u.Declared.IsZero() {
		add("declared")
	}
	if !u.Triggered.IsZero() {
		add("triggered")
	}
	if u.Current != nil {
		add("building %d", u.Current.Serial)
	}
	if u.Succeeded {
		add("succeeded")
	}
	if u.InPlaceBroken != "" {
		add("no live update")
	}
	return strings.Join(parts, "; ")
}

func byName(a, b model.TargetID) int { return strings.Compare(a.String(), b.String()) }

func failed(b *state.BuildCompleted)    { b.Err = "oops" }
func cancelled(b *state.BuildCompleted) { b.Cancelled = true }

// builtOnly is a build that made the image of resource a and failed afterwards.
func builtOnly(s *statetest.State) func(*state.BuildCompleted) {
	return func(b *state.BuildCompleted) {
		b.Err = "apply deployment/a: no"
		b.Images = map[string]model.ImageResult{"a": {Local: "a:2", Cluster: "a:2",
			StartedAt: state.Updates.In(s.View()).Value("a").Current.StartedAt}}
	}
}

func TestUpdate(t *testing.T) {
	base := func() *statetest.State {
		return statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("a", statetest.Image("a"), statetest.Image("b"))))
	}
	declare := func(change func(*model.Manifest)) state.TiltfileLoaded {
		m := statetest.K8s("a", statetest.Image("a"), statetest.Image("b"))
		change(&m)
		return statetest.Loaded(m)
	}
	trigger := state.ResourcesTriggered{Names: []model.ManifestName{"a"}}
	for _, tc := range []struct {
		name string
		make func(s *statetest.State) *statetest.State
		want string
	}{
		{"declared for the first time", func(s *statetest.State) *statetest.State { return s }, ""},
		{"a change", func(s *statetest.State) *statetest.State { return s.Then(statetest.Change("a", "/src/a/x")) },
			"pending image:a [/src/a/x]; changed image:a [/src/a/x]"},
		{"a change of somebody else's image", func(s *statetest.State) *statetest.State { return s.Then(statetest.Change("z", "/src/z/x")) }, ""},
		{"a change without files", func(s *statetest.State) *statetest.State { return s.Then(statetest.Change("a")) }, ""},
		{"a deploy takes in the change", func(s *statetest.State) *statetest.State {
			return s.Then(statetest.Change("a", "/src/a/x")).Deployed("a")
		}, "succeeded"},
		{"a change during the build stays", func(s *statetest.State) *statetest.State {
			return s.Deployed("a").Begin("a").Then(statetest.Change("a", "/src/a/x")).Finish("a", func(b *state.BuildCompleted) { b.Deployed = true })
		}, "pending image:a [/src/a/x]; changed image:a [/src/a/x]; succeeded"},
		{"a failed build no longer asks for the change, and it is not settled either", func(s *statetest.State) *statetest.State {
			return s.Then(statetest.Change("a", "/src/a/x")).Begin("a").Finish("a", failed)
		}, "changed image:a [/src/a/x]"},
		{"the next change asks alone, and both go into the image", func(s *statetest.State) *statetest.State {
			return s.Then(statetest.Change("a", "/src/a/x")).Begin("a").Finish("a", failed).Then(statetest.Change("a", "/src/a/y"))
		}, "pending image:a [/src/a/y]; changed image:a [/src/a/x /src/a/y]"},
		{"a cancelled build leaves everything as it was", func(s *statetest.State) *statetest.State {
			return s.Deployed("a").Then(statetest.Change("a", "/src/a/x"), trigger).Begin("a").Finish("a", cancelled)
		}, "pending image:a [/src/a/x]; changed image:a [/src/a/x]; triggered; succeeded"},
		{"a cancelled build that had made an image leaves its change too: nobody has deployed it", func(s *statetest.State) *statetest.State {
			s = s.Deployed("a").Then(statetest.Change("a", "/src/a/x")).Begin("a")
			return s.Finish("a", func(b *state.BuildCompleted) { builtOnly(s)(b); b.Err, b.Cancelled = "", true })
		}, "pending image:a [/src/a/x]; changed image:a [/src/a/x]; succeeded"},
		{"an image that was built and not deployed leaves its change to the containers, and rules out new live updates", func(s *statetest.State) *statetest.State {
			s = s.Deployed("a").Then(statetest.Change("a", "/src/a/x"), statetest.Change("b", "/src/b/x")).Begin("a")
			return s.Finish("a", builtOnly(s))
		}, "changed image:a [/src/a/x]; changed image:b [/src/b/x]; succeeded; no live update"},
		{"until the next deploy", func(s *statetest.State) *statetest.State {
			s = s.Deployed("a").Then(statetest.Change("a", "/src/a/x")).Begin("a")
			return s.Finish("a", builtOnly(s)).Deployed("a")
		}, "succeeded"},
		{"a trigger", func(s *statetest.State) *statetest.State { return s.Deployed("a").Then(trigger) }, "triggered; succeeded"},
		{"a trigger during the build stays", func(s *statetest.State) *statetest.State {
			return s.Begin("a").Then(trigger).Finish("a", failed)
		}, "triggered"},
		{"a failed build takes the trigger", func(s *statetest.State) *statetest.State {
			return s.Then(trigger).Begin("a").Finish("a", failed)
		}, ""},
		{"a declaration that matters", func(s *statetest.State) *statetest.State {
			return s.Deployed("a").Then(declare(func(m *model.Manifest) { m.K8s.Objects[0].JSON = "{}" }))
		}, "declared; succeeded"},
		{"the same again during a build that began before it", func(s *statetest.State) *statetest.State {
			return s.Deployed("a").Begin("a").Then(declare(func(m *model.Manifest) { m.K8s.Objects[0].JSON = "{}" })).Finish("a", failed)
		}, "declared; succeeded; no live update"},
		{"and built", func(s *statetest.State) *statetest.State {
			return s.Then(declare(func(m *model.Manifest) { m.K8s.Objects[0].JSON = "{}" })).Deployed("a")
		}, "succeeded"},
		{"a declaration that does not matter", func(s *statetest.State) *statetest.State {
			return s.Deployed("a").Then(declare(func(m *model.Manifest) { m.Labels = []string{"x"} }))
		}, "succeeded"},
		{"a deploy that failed rules out live updates, which would pass for the end of it", func(s *statetest.State) *statetest.State {
			return s.Deployed("a").Then(declare(func(m *model.Manifest) { m.K8s.Objects[0].JSON = "{}" })).Begin("a").
				Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Err = "deploy", "rejected" })
		}, "succeeded; no live update"},
		{"until it worked", func(s *statetest.State) *statetest.State {
			return s.Deployed("a").Then(declare(func(m *model.Manifest) { m.K8s.Objects[0].JSON = "{}" })).Begin("a").
				Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Err = "deploy", "rejected" }).Deployed("a")
		}, "succeeded"},
		{"a live update that failed does not", func(s *statetest.State) *statetest.State {
			return s.Deployed("a").Then(statetest.Change("a", "/src/a/x")).Begin("a").
				Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Err = "synclet", "exit code 1" })
		}, "changed image:a [/src/a/x]; succeeded"},
		{"a Tiltfile that fails changes nothing", func(s *statetest.State) *statetest.State {
			return s.Deployed("a").Then(state.TiltfileLoaded{Err: "syntax"})
		}, "succeeded"},
		{"an answer of another build does not count", func(s *statetest.State) *statetest.State {
			return s.Begin("a").Then(state.BuildCompleted{Resource: "a", Serial: 7, Deployed: true})
		}, "building 1"},
		{"a live update that failed for good", func(s *statetest.State) *statetest.State {
			return s.Deployed("a").Then(statetest.Change("a", "/src/a/x")).Begin("a").Finish("a", func(b *state.BuildCompleted) {
				b.Err, b.InPlaceBroken = "build", "no tar"
			})
		}, "changed image:a [/src/a/x]; succeeded; no live update"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := tc.make(base())
			if diff := cmp.Diff(tc.want, text(state.Updates.In(s.View()).Value("a"))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestImagesThatAreDeclaredInAnotherWayAreDirty(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("a", statetest.Image("a"), statetest.Image("b")))).Deployed("a")
	changed := statetest.Image("b")
	changed.Docker = &model.DockerBuild{Context: "/elsewhere"}
	live := statetest.Image("a")
	live.LiveUpdate = model.LiveUpdate{}
	s.Then(statetest.Loaded(statetest.K8s("a", live, changed)))
	u := state.Updates.In(s.View()).Value("a")
	if u.Dirty(live) || !u.Dirty(changed) {
		t.Errorf("a is dirty: %v, want false; b is dirty: %v, want true", u.Dirty(live), u.Dirty(changed))
	}
}

func TestSynced(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("a", statetest.Image("a")))).Deployed("a")
	pod := statetest.Pod("a", "p", "c1", "a:1")
	s.Then(pod, statetest.Change("a", "/src/a/x")).Begin("a").
		Finish("a", func(b *state.BuildCompleted) { b.Mode, b.Synced = "exec", []string{"c1"} })
	u := state.Updates.In(s.View()).Value("a")
	if u.Lanes["c1"].Has.IsZero() || !u.Dirty(statetest.Image("a")) || u.Pending() != nil {
		t.Errorf("after a live update: %s, synced %v; the image still lacks the change", text(u), u.Lanes)
	}
	s.Then(state.PodGone{Pod: pod.Pod.Pod})
	if u := state.Updates.In(s.View()).Value("a"); len(u.Lanes) > 0 {
		t.Errorf("after the pod has gone: %v", u.Lanes)
	}
}

// TestForgetsContainers: the state of a container goes when its pod no longer has it, whatever the reason, and stays when
// anything else about the pod changes.
func TestForgetsContainers(t *testing.T) {
	pod := statetest.Pod("a", "p", "c1", "a:1")
	side := model.Container{Name: "side", ID: "s1", Init: true, Sidecar: true, State: model.ContainerRunning}
	pod.Pod.InitContainers = []model.Container{side}
	changed := func(change func(*state.Pod)) state.PodChanged {
		p := pod
		p.Pod.Containers, p.Pod.InitContainers = slices.Clone(p.Pod.Containers), slices.Clone(p.Pod.InitContainers)
		change(&p.Pod)
		return p
	}
	for _, tc := range []struct {
		name string
		then store.Action
		want []string
	}{
		{"it gets unready", changed(func(p *state.Pod) { p.Ready, p.Containers[0].State = false, model.ContainerWaiting }), []string{"c1", "other", "s1"}},
		{"a container has been restarted", changed(func(p *state.Pod) { p.Containers[0].ID = "c2" }), []string{"other", "s1"}},
		{"a sidecar has been restarted", changed(func(p *state.Pod) { p.InitContainers[0].ID = "s2" }), []string{"c1", "other"}},
		{"it belongs to another resource", changed(func(p *state.Pod) { p.Resource = "b" }), []string{"other"}},
		{"it is gone", state.PodGone{Pod: pod.Pod.Pod}, []string{"other"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("a", statetest.Image("a")), statetest.K8s("b"))).Deployed("a").
				Then(pod, statetest.Pod("a", "q", "other", "a:1"), statetest.Change("a", "/src/a/x")).
				Begin("a").Finish("a", func(b *state.BuildCompleted) {
				b.Mode, b.Synced, b.Stuck, b.Sending = "synclet", []string{"c1"}, []string{"s1"}, map[string]state.Sending{"other": {Pod: "q"}}
			}).Then(tc.then)
			if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(state.Updates.In(s.View()).Value("a").Lanes))); diff != "" {
				t.Errorf("known (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGoneWhileBehind: if a container disappears during an update that is behind, that update has ended, and the build has not
// failed.
func TestGoneWhileBehind(t *testing.T) {
	pod := statetest.Pod("a", "p", "c1", "a:1")
	restarted := statetest.Pod("a", "p", "c2", "a:1")
	row := model.ContainerUpdate{Pod: "p", Container: "main", ID: "c1", Mode: "synclet", Behind: true}
	failed := row
	failed.Behind, failed.Err = false, "broken pipe"
	for name, gone := range map[string]store.Action{"its pod is gone": state.PodGone{Pod: pod.Pod.Pod}, "it was restarted": restarted} {
		s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("a", statetest.Image("a")))).Deployed("a").
			Then(pod, statetest.Change("a", "/src/a/x")).Begin("a").Finish("a", func(b *state.BuildCompleted) {
			b.Mode, b.Sending, b.Containers = "synclet", map[string]state.Sending{"c1": {Pod: "p"}}, []model.ContainerUpdate{row}
		}).Then(gone, state.LaneEnded{Resource: "a", Serial: 2, Update: failed, Fault: "broken pipe"})
		u := state.Updates.In(s.View()).Value("a")
		if diff := cmp.Diff([]model.ContainerUpdate{failed}, u.Builds[0].Containers); diff != "" || u.Builds[0].Err != "" || len(u.Lanes) > 0 {
			t.Errorf("%s: error %q, known %v, containers (-want +got):\n%s", name, u.Builds[0].Err, u.Lanes, diff)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.Local("a")))
	for range 30 {
		s.Begin("a").Finish("a", nil)
	}
	u := state.Updates.In(s.View()).Value("a")
	if len(u.Builds) != 20 || u.Builds[0].Serial != 30 || u.Builds[19].Serial != 11 {
		t.Errorf("%d builds, newest %d", len(u.Builds), u.Builds[0].Serial)
	}
	last, ok := s.Begin("a").Finish("a", cancelled).View(), true
	if b, has := state.Updates.In(last).Value("a").Last(); has != ok || b.Serial != 30 {
		t.Errorf("the newest build that was not cancelled: %d", b.Serial)
	}
}

func TestProgressKeepsTheMode(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.Local("a"))).Begin("a")
	s.Then(state.BuildProgressed{Resource: "a", Serial: 1, Mode: "exec", Stage: "one"},
		state.BuildProgressed{Resource: "a", Serial: 1, Stage: "two"}, state.BuildProgressed{Resource: "a", Serial: 9, Stage: "late"})
	if b := state.Updates.In(s.View()).Value("a").Current; b.Mode != "exec" || b.Stage != "two" {
		t.Errorf("%+v", b)
	}
	far := model.BuildProgress{Kind: model.StepBuild, Image: "a", Nth: 1, Images: 2, Step: 2, Steps: 3}
	s.Then(state.BuildProgressed{Resource: "a", Serial: 1, Stage: "1/3 Building", Progress: far})
	if b := state.Updates.In(s.View()).Value("a").Current; b.Progress != far || b.Activity() != "1/3 Building, image 1 of 2, step 2 of 3" {
		t.Errorf("%+v", b)
	}
	s.Then(state.BuildProgressed{Resource: "a", Serial: 1, Stage: "3/3 Deploying"})
	if b := state.Updates.In(s.View()).Value("a").Current; b.Progress != (model.BuildProgress{}) || b.Activity() != "3/3 Deploying" {
		t.Errorf("the progress of a step outlives it: %+v", b)
	}
	s.Then(state.BuildProgressed{Resource: "a", Serial: 1, Stage: "1/3 Building", Progress: far})
	s.Finish("a", func(b *state.BuildCompleted) { b.Mode = "local" })
	if b := state.Updates.In(s.View()).Value("a").Builds[0]; b.Progress != (model.BuildProgress{}) {
		t.Errorf("an update that has ended has progress: %+v", b.Progress)
	}
	if b := state.Updates.In(s.View()).Value("a").Builds[0]; b.Mode != "local" || b.Stage != "" || b.Duration(time.Time{}) <= 0 {
		t.Errorf("%+v", b)
	}
}

// rows renders the resources in their order, with phase and finalizers.
func rows(v store.View) string {
	var out []string
	for _, e := range state.InOrder(v) {
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

func TestNeedsBuild(t *testing.T) {
	k8s := func() model.Manifest { return statetest.K8s("a", statetest.Image("a")) }
	restarted := func() model.Manifest {
		m := k8s()
		m.Images[0].LiveUpdate.RestartProcess = &model.RestartProcess{File: "/a"}
		return m
	}
	local := func() model.Manifest { return statetest.Local("a") }
	compose := func() model.Manifest { return statetest.Compose("a") }
	for _, tc := range []struct {
		name   string
		make   func() model.Manifest
		change func(*model.Manifest)
		want   bool
	}{
		{"nothing", k8s, func(*model.Manifest) {}, false},
		{"labels", k8s, func(m *model.Manifest) { m.Labels = []string{"x"} }, false},
		{"links", k8s, func(m *model.Manifest) { m.Links = []model.Link{{URL: "u"}} }, false},
		{"dependencies", k8s, func(m *model.Manifest) { m.ResourceDeps = []model.ManifestName{"b"} }, false},
		{"trigger mode", k8s, func(m *model.Manifest) { m.TriggerMode = model.TriggerManual }, false},
		{"auto_init", k8s, func(m *model.Manifest) { m.AutoInit = false }, false},
		{"port forwards", k8s, func(m *model.Manifest) { m.K8s.PortForwards = []model.PortForward{{LocalPort: 1}} }, false},
		{"pod readiness", k8s, func(m *model.Manifest) { m.K8s.PodReadiness = model.PodIgnore }, false},
		{"selectors", k8s, func(m *model.Manifest) { m.K8s.ExtraPodSelectors = []map[string]string{{"a": "b"}} }, false},
		{"live update steps", k8s, func(m *model.Manifest) { m.Images[0].LiveUpdate = model.LiveUpdate{} }, false},
		{"restarting the process", k8s, func(m *model.Manifest) { m.Images[0].LiveUpdate.RestartProcess = &model.RestartProcess{} }, true},
		{"another file that restarts it", restarted, func(m *model.Manifest) { m.Images[0].LiveUpdate.RestartProcess = &model.RestartProcess{File: "/b"} }, true},
		{"no more restarting the process", restarted, func(m *model.Manifest) { m.Images[0].LiveUpdate.RestartProcess = nil }, true},
		{"what restarts the process", restarted, func(m *model.Manifest) {
			m.Images[0].LiveUpdate.RestartProcess = &model.RestartProcess{File: "/a", Triggers: []string{"/src"}}
		}, false},
		{"watched files", k8s, func(m *model.Manifest) { m.Images[0].Watch = model.WatchSpec{} }, false},
		{"objects", k8s, func(m *model.Manifest) { m.K8s.Objects[0].JSON = "{}" }, true},
		{"a Dockerfile", k8s, func(m *model.Manifest) { m.Images[0].Docker = &model.DockerBuild{Contents: "FROM b"} }, true},
		{"an entrypoint", k8s, func(m *model.Manifest) { m.Images[0].Entrypoint = []string{"x"} }, true},
		{"another image", k8s, func(m *model.Manifest) { m.Images = append(m.Images, statetest.Image("b")) }, true},
		{"a command", local, func(m *model.Manifest) { m.Local.Update.Argv = []string{"false"} }, true},
		{"a server", local, func(m *model.Manifest) { m.Local.Serve.Argv = []string{"serve"} }, true},
		{"a server's environment", local, func(m *model.Manifest) { m.Local.Serve.Env = []string{"A=1"} }, true},
		{"a server's folder", local, func(m *model.Manifest) { m.Local.Serve.Dir = "/x" }, true},
		{"a probe", local, func(m *model.Manifest) { m.Local.Readiness = &model.Probe{} }, false},
		{"allow_parallel", local, func(m *model.Manifest) { m.Local.AllowParallel = true }, false},
		{"a service", compose, func(m *model.Manifest) { m.Compose.Hash = "2" }, true},
		{"a service's project", compose, func(m *model.Manifest) { m.Compose.Project.Name = "other" }, true},
		{"a service's image", compose, func(m *model.Manifest) { m.Compose.ImageTarget = "a" }, true},
		{"the text of Compose files", compose, func(m *model.Manifest) { m.Compose.Project.Files = []model.ComposeFile{{Content: "x"}} }, false},
		{"a service's watched files", compose, func(m *model.Manifest) { m.Compose.Watch.Paths = []string{"/x"} }, false},
		{"up --wait", compose, func(m *model.Manifest) { m.Compose.Project.Wait = true }, false},
		{"local deps", local, func(m *model.Manifest) { m.Local.Watch.Paths = []string{"/x"} }, false},
	} {
		was, is := tc.make(), tc.make()
		tc.change(&is)
		if got := state.NeedsBuild(was, is); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
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

func TestPods(t *testing.T) {
	failing := statetest.Pod("a", "p", "c", "i")
	failing.Pod.Containers[0].State, failing.Pod.Containers[0].Reason = model.ContainerWaiting, "CrashLoopBackOff"
	s := statetest.New(statetest.Session)
	since := s.Now
	s.Then(failing)
	failing.Pod.Status = "CrashLoopBackOff"
	s.Then(failing)
	if got := state.Pods.In(s.View()).Value("uid-p").FailingSince; !got.Equal(since) {
		t.Errorf("failing since %s, want %s", got, since)
	}
	version := state.Pods.In(s.View())
	before, _ := version.Get("uid-p")
	s.Then(failing)
	if after, _ := state.Pods.In(s.View()).Get("uid-p"); after.Version != before.Version {
		t.Error("the same fact again made a new version")
	}
	s.Then(statetest.Pod("a", "p", "c", "i"))
	if got := state.Pods.In(s.View()).Value("uid-p").FailingSince; !got.IsZero() {
		t.Errorf("still failing since %s", got)
	}
}

// TestCrashLoop: between two failures a container runs, and the loop continues until a run lasts.
func TestCrashLoop(t *testing.T) {
	s := statetest.New(statetest.Session)
	start := s.Now
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	pod := statetest.Pod("a", "p", "c", "i")
	c := &pod.Pod.Containers[0]
	c.State, c.StartedAt = model.ContainerRunning, at(0)
	end := func(seconds int) {
		c.State, c.Reason, c.ExitCode, c.FinishedAt = model.ContainerTerminated, "Error", 1, at(seconds)
	}
	wait := func(int) {
		c.LastReason, c.LastExitCode, c.LastStartedAt, c.LastFinishedAt = c.Reason, c.ExitCode, c.StartedAt, c.FinishedAt
		c.State, c.Reason, c.ExitCode, c.StartedAt, c.FinishedAt = model.ContainerWaiting, "CrashLoopBackOff", 0, time.Time{}, time.Time{}
	}
	run := func(seconds int) {
		c.State, c.Reason, c.StartedAt, c.Restarts = model.ContainerRunning, "", at(seconds), c.Restarts+1
	}
	nothing := func(int) {}
	for _, step := range []struct {
		at      int
		change  func(seconds int)
		since   int // -1 for none
		looping bool
	}{
		{0, nothing, -1, false},
		{2, end, -1, false},
		{2, wait, 2, false},
		{12, run, 2, true},
		{16, end, 2, false}, // after 4 s
		{17, wait, 2, false},
		{37, run, 2, true},
		{48, nothing, 2, true}, // three times as long
		{49, nothing, -1, false},
		{60, end, -1, false}, // 23 s: a failure of its own
		{60, wait, 60, false},
		{100, run, 60, true},
	} {
		s.Now = at(step.at)
		step.change(step.at)
		next := pod
		next.Pod.Containers = slices.Clone(pod.Pod.Containers)
		s.Then(next)
		got := state.Pods.In(s.View()).Value("uid-p")
		since := -1
		if !got.LoopingSince.IsZero() {
			since = int(got.LoopingSince.Sub(start) / time.Second)
		}
		if _, looping := state.Relapse(got); since != step.since || looping != step.looping {
			t.Errorf("after %d s: looping since %d s, runs again in the loop: %t; want %d, %t", step.at, since, looping, step.since, step.looping)
		}
	}
}

// TestDeployMakesPodsOld: the pods of an earlier template stop being current as soon as the deploy is known.
func TestDeployMakesPodsOld(t *testing.T) {
	pod := func(resource, name, hash string) state.PodChanged {
		p := statetest.Pod(resource, name, "c-"+name, resource+":1")
		p.Pod.TemplateHash = hash
		return p
	}
	s := statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(statetest.K8s("a"), statetest.K8s("b"))).
		Then(pod("a", "old", "hash-before"), pod("a", "same", "hash-a"), pod("a", "bare", ""), pod("b", "other", "hash-before")).
		Begin("a").Finish("a", nil)
	current := func() (names []string) {
		for e := range state.Pods.In(s.View()).Entries() {
			if e.Value.Current {
				names = append(names, e.Value.Name)
			}
		}
		slices.Sort(names)
		return names
	}
	if diff := cmp.Diff([]string{"bare", "old", "other", "same"}, current()); diff != "" {
		t.Errorf("after a build that deployed nothing (-want +got):\n%s", diff)
	}
	s.Deployed("a")
	if diff := cmp.Diff([]string{"bare", "other", "same"}, current()); diff != "" {
		t.Errorf("after the deploy (-want +got):\n%s", diff)
	}
}

func TestPodsOfSorts(t *testing.T) {
	at := func(s int) time.Time { return statetest.Epoch.Add(time.Duration(s) * time.Second) }
	pod := func(name string, current, deleting bool, created int) state.PodChanged {
		p := statetest.Pod("a", name, name, "i")
		p.Pod.Current, p.Pod.Deleting, p.Pod.CreatedAt = current, deleting, at(created)
		return p
	}
	s := statetest.New(statetest.Session, pod("old", false, false, 1), pod("going", true, true, 3), pod("first", true, false, 2),
		pod("second", true, false, 4), statetest.Pod("b", "other", "c", "i"))
	var got []string
	for _, p := range state.PodsOf(s.View(), "a") {
		got = append(got, p.Name)
	}
	if diff := cmp.Diff([]string{"second", "first", "going", "old"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPodFailure(t *testing.T) {
	container := func(st model.ContainerState, reason string, code int, message string) model.Pod {
		return model.Pod{Phase: "Running", Containers: []model.Container{{Name: "main", State: st, Reason: reason, ExitCode: code, Message: message}}}
	}
	last := func(code int, reason string) model.Pod {
		p := container(model.ContainerWaiting, "CrashLoopBackOff", 0, "back-off 10s")
		p.Containers[0].LastReason, p.Containers[0].LastExitCode = reason, code
		return p
	}
	phase := func(phase, status string, p model.Pod) model.Pod {
		p.Phase, p.Status = phase, status
		return p
	}
	for _, tc := range []struct {
		name string
		pod  model.Pod
		want string
	}{
		{"running", container(model.ContainerRunning, "", 0, ""), ""},
		{"creating", container(model.ContainerWaiting, "ContainerCreating", 0, ""), ""},
		{"completed", container(model.ContainerTerminated, "Completed", 0, ""), ""},
		{"crashing", container(model.ContainerWaiting, "CrashLoopBackOff", 0, "back-off 10s"), "container main: CrashLoopBackOff (back-off 10s)"},
		{"crashing, with how it ended", last(137, "OOMKilled"), "container main: CrashLoopBackOff, exit code 137 (OOMKilled)"},
		{"ends well again and again", last(0, "Completed"), "container main: CrashLoopBackOff, ended with exit code 0 (it is meant to keep running)"},
		{"ended badly", container(model.ContainerTerminated, "OOMKilled", 137, ""), "container main: OOMKilled, exit code 137"},
		{"says why it ended", container(model.ContainerTerminated, "Error", 3, "no database"), "container main: Error, exit code 3 (no database)"},
		{"cannot be pulled", container(model.ContainerWaiting, "ErrImagePull", 0, "not found"), "container main: ErrImagePull (not found)"},
		{"not restarted", phase("Failed", "Error", container(model.ContainerTerminated, "Error", 3, "")), "container main: Error, exit code 3"},
		{"not restarted, with a reason of its own", phase("Failed", "DeadlineExceeded", container(model.ContainerTerminated, "Error", 143, "")),
			"pod failed: DeadlineExceeded; container main: Error, exit code 143"},
		{"failed", model.Pod{Phase: "Failed", Status: "Evicted", Message: "disk"}, "pod failed: Evicted (disk)"},
	} {
		got, failing := state.PodFailure(tc.pod)
		if got != tc.want || failing != (tc.want != "") {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestNotReady reports why a pod is not ready: the container, the probe, and its last answer.
func TestNotReady(t *testing.T) {
	readiness := model.ContainerProbe{Kind: model.ProbeReadiness, Calls: "httpGet :8080/health"}
	startup := model.ContainerProbe{Kind: model.ProbeStartup, Calls: "exec test -e /up"}
	liveness := model.ContainerProbe{Kind: model.ProbeLiveness, Calls: "tcpSocket :8080"}
	pod := func(change func(p *state.Pod, c *model.Container)) store.Action {
		p := statetest.Pod("a", "p", "c", "i")
		p.Pod.Ready, p.Pod.Containers[0].Ready, p.Pod.Containers[0].Started = false, false, true
		change(&p.Pod, &p.Pod.Containers[0])
		return p
	}
	probed := func(probes ...model.ContainerProbe) store.Action {
		return pod(func(_ *state.Pod, c *model.Container) { c.Probes = probes })
	}
	ready := pod(func(p *state.Pod, c *model.Container) {
		p.Ready, c.Ready, c.Probes = true, true, []model.ContainerProbe{readiness}
	})
	crashed := func(restarts int) store.Action {
		return pod(func(_ *state.Pod, c *model.Container) {
			c.State, c.Reason, c.LastReason, c.LastExitCode, c.Restarts = model.ContainerWaiting, "CrashLoopBackOff", "Error", 137, restarts
			c.Probes = []model.ContainerProbe{liveness}
		})
	}
	failed := func(kind model.ProbeKind, answer string) store.Action {
		return state.ProbeFailed{Pod: "uid-p", Failure: state.ProbeFailure{Container: "main", Kind: kind, Answer: answer}}
	}
	for _, tc := range []struct {
		name    string
		actions []store.Action
		want    string
	}{
		{"ready", []store.Action{ready}, ""},
		{"no probes", []store.Action{probed()}, ""},
		{"nothing answered", []store.Action{probed(liveness, readiness)}, "container main: readiness probe httpGet :8080/health has not succeeded yet"},
		{"refused", []store.Action{probed(readiness), failed(model.ProbeReadiness, "503"), failed(model.ProbeReadiness, "connection refused")},
			"container main: readiness probe httpGet :8080/health fails: connection refused"},
		{"what others answer does not count", []store.Action{probed(readiness, liveness), failed(model.ProbeLiveness, "connection refused")},
			"container main: readiness probe httpGet :8080/health has not succeeded yet"},
		{"a pod that is not known", []store.Action{failed(model.ProbeReadiness, "503"), probed(readiness)},
			"container main: readiness probe httpGet :8080/health has not succeeded yet"},
		{"ready since", []store.Action{probed(readiness), failed(model.ProbeReadiness, "503"), ready, probed(readiness)},
			"container main: readiness probe httpGet :8080/health has not succeeded yet"},
		{"not started", []store.Action{pod(func(_ *state.Pod, c *model.Container) {
			c.Started, c.Probes = false, []model.ContainerProbe{startup, readiness}
		}),
			failed(model.ProbeStartup, "exit code 1")}, "container main: startup probe exec test -e /up fails: exit code 1"},
		{"started, and not ready", []store.Action{probed(startup, readiness), failed(model.ProbeReadiness, "503")},
			"container main: readiness probe httpGet :8080/health fails: 503"},
		{"the pod says why itself", []store.Action{pod(func(p *state.Pod, c *model.Container) { p.Message, c.State = "0/1 nodes are available", "" })},
			"0/1 nodes are available"},
		{"a container waits", []store.Action{pod(func(_ *state.Pod, c *model.Container) {
			c.State, c.Reason, c.Message = model.ContainerWaiting, "CreateContainerConfigError", "no such Secret"
		})}, "container main: CreateContainerConfigError (no such Secret)"},
		{"an init container runs", []store.Action{pod(func(p *state.Pod, c *model.Container) {
			p.InitContainers, c.State = []model.Container{{Name: "migrate", Init: true, State: model.ContainerRunning}}, model.ContainerWaiting
		})}, "container migrate is still running, and the pod waits for its end"},
		{"ended by its liveness probe", []store.Action{ready, failed(model.ProbeLiveness, "timed out"), crashed(0)},
			"container main: CrashLoopBackOff, exit code 137 (Error); liveness probe tcpSocket :8080 failed: timed out"},
		{"ended by itself, later", []store.Action{ready, failed(model.ProbeLiveness, "timed out"), crashed(1)},
			"container main: CrashLoopBackOff, exit code 137 (Error)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := statetest.New(append([]store.Action{statetest.Session}, tc.actions...)...)
			p := state.Pods.In(s.View()).Value("uid-p")
			got, failing := state.Trouble(p)
			if !failing {
				got = state.NotReady(p)
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestReadyOnce checks that later events keep the record of the resources that have been ready, and of the last successful
// update.
func TestReadyOnce(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.Local("a"), statetest.Local("b")))
	s.Begin("a").Finish("a", nil).Then(state.ResourcesReady{Names: []model.ManifestName{"a", "gone"}})
	for range 30 {
		s.Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Err = "no" })
	}
	s.Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Cancelled = true })
	if a, b := state.Updates.In(s.View()).Value("a"), state.Updates.In(s.View()).Value("b"); !a.WasReady || a.SucceededSerial != 1 || b.WasReady {
		t.Errorf("a: ready %v, succeeded with %d; b: ready %v", a.WasReady, a.SucceededSerial, b.WasReady)
	}
	s.Begin("a").Finish("a", nil)
	if a := state.Updates.In(s.View()).Value("a"); a.SucceededSerial != a.Serial {
		t.Errorf("update %d succeeded, noted is %d", a.Serial, a.SucceededSerial)
	}
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
		if state.NeedsCluster(v) != tc.cluster || state.NeedsEngine(v) != tc.engine {
			t.Errorf("%d resources: cluster %v, engine %v", len(tc.manifests), state.NeedsCluster(v), state.NeedsEngine(v))
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

// TestReadyAt checks the time at which a deploy was ready for the first time: only the newest deploy counts, and only once.
func TestReadyAt(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.Local("a")))
	ready := state.ResourcesReady{Names: []model.ManifestName{"a"}}
	deployed := func(b *state.BuildCompleted) {
		b.Deployed, b.Steps = true, []model.BuildStep{{Kind: model.StepRun, Took: time.Second}}
	}
	history := func() (out []bool) {
		for _, b := range state.Updates.In(s.View()).Value("a").Builds {
			out = append(out, !b.ReadyAt.IsZero())
		}
		return out
	}
	check := func(what string, awaits bool, want ...bool) {
		t.Helper()
		if diff := cmp.Diff(want, history()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		if got := state.Updates.In(s.View()).Value("a").AwaitsReady(); got != awaits {
			t.Errorf("%s: awaits %v", what, got)
		}
	}
	s.Begin("a").Finish("a", deployed)
	check("deployed", true, false)
	s.Then(ready)
	check("ready", false, true)
	at := state.Updates.In(s.View()).Value("a").Builds[0].ReadyAt
	s.Then(ready)
	if again := state.Updates.In(s.View()).Value("a").Builds[0].ReadyAt; !again.Equal(at) {
		t.Errorf("ready at %s, then at %s", at, again)
	}
	s.Begin("a").Finish("a", deployed).Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Mode = "synclet" })
	check("deployed again, then in place", true, false, false, true)
	s.Begin("a").Finish("a", deployed).Then(ready)
	check("a newer deploy", false, true, false, false, true)
	if steps := state.Updates.In(s.View()).Value("a").Builds[0].Steps; len(steps) != 1 || steps[0].Kind != model.StepRun {
		t.Errorf("steps: %+v", steps)
	}
}
