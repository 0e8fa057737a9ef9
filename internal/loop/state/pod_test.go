package state_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

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
	before := version.Ref("uid-p")
	s.Then(failing)
	if after := state.Pods.In(s.View()).Ref("uid-p"); after.Version != before.Version {
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
		for e := range state.Pods.In(s.View()).Refs() {
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

// TestApplied: the set is the same one until a resource has applied other objects.
func TestApplied(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("a"), statetest.K8s("b")))
	s.Deployed("a")
	first := state.Applied(s.View())
	if len(first.Of) != 1 || first.Of[0].Resource != "a" || len(first.Of[0].Objects) == 0 {
		t.Fatalf("%+v", first)
	}
	s.Then(statetest.Pod("a", "p", "c", "i"))
	s.Begin("b")
	if now := state.Applied(s.View()); now != first {
		t.Errorf("after another change: %+v", now)
	}
	s.Finish("b", func(b *state.BuildCompleted) {
		b.Deployed, b.Applied = true, []model.AppliedObject{{ObjectID: model.ObjectID{Kind: "ConfigMap", Name: "b"}, UID: "b"}}
	})
	if now := state.Applied(s.View()); len(now.Of) != 2 || now.Of[1].Resource != "b" {
		t.Errorf("after another deploy: %+v", now)
	}
}

// TestByResource changes pods at random, and reads the groups in some of the snapshots, sometimes in an older one: they agree with the
// pods.
func TestByResource(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s := statetest.New(statetest.Session)
	var views []store.View
	for range 500 {
		for range random.IntN(4) {
			p := statetest.Pod(fmt.Sprint("r", random.IntN(4)), fmt.Sprint("p", random.IntN(12)), "c", "i")
			p.Pod.Current, p.Pod.CreatedAt = random.IntN(2) == 0, statetest.Epoch.Add(time.Duration(random.IntN(3))*time.Second)
			if random.IntN(3) == 0 {
				s.Then(state.PodGone{Pod: p.Pod.Pod})
			} else {
				s.Then(p)
			}
		}
		views = append(views, s.View())
		if random.IntN(3) == 0 {
			continue // a snapshot without a reader
		}
		for _, v := range []store.View{s.View(), views[random.IntN(len(views))], s.View()} {
			want := map[model.ManifestName]map[string]state.Pod{}
			for e := range state.Pods.In(v).Refs() {
				if want[e.Value.Resource] == nil {
					want[e.Value.Resource] = map[string]state.Pod{}
				}
				want[e.Value.Resource][e.ID] = e.Value
			}
			got := map[model.ManifestName]map[string]state.Pod{}
			for name, g := range state.PodsByResource.In(v) {
				got[name] = map[string]state.Pod{}
				for _, p := range g.Values() {
					got[name][p.UID] = p
				}
				if sorted := statetest.New(statetest.Session); !slices.Equal(names(g.Values()), names(again(sorted, g.Values(), name))) {
					t.Fatalf("the pods of %s are in the order %v", name, names(g.Values()))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	}
}

// again puts pods into an empty store, and returns the pods of their resource.
func again(s *statetest.State, pods []state.Pod, name model.ManifestName) []state.Pod {
	for _, p := range pods {
		s.Then(state.PodChanged{Pod: p})
	}
	return state.PodsOf(s.View(), name)
}

func names(pods []state.Pod) (out []string) {
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return out
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
