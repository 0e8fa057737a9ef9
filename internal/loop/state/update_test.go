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
		{"a registry", k8s, func(m *model.Manifest) { m.K8s.Registry.Host = "localhost:5000" }, true},
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
