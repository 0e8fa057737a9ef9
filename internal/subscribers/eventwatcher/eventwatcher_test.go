package eventwatcher

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// warning is a new event about an object.
func warning(kind, name, uid, message string) k8s.KubeEvent {
	return k8s.KubeEvent{UID: message, Type: "Warning", Message: message, ObjectUID: uid, LastSeen: time.Now(), Count: 1,
		Object: k8s.KubeEventObject{Kind: kind, Namespace: "default", Name: name}}
}

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster, logs := k8stest.New(), statetest.Logs(t)
		early := warning("Deployment", "web", "uid-web", "of an earlier session")
		cluster.AddEvent(early)
		time.Sleep(time.Minute)
		a := statetest.Start(t, New(cluster, logs))
		a.Then(statetest.Connected()...)
		a.Then(statetest.Session, statetest.Loaded(statetest.K8s("web")),
			state.BuildStarted{Resource: "web", Serial: 1},
			state.BuildCompleted{Resource: "web", Serial: 1, Deployed: true, Applied: []model.AppliedObject{
				{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"}, UID: "uid-web"},
				{ObjectID: model.ObjectID{Kind: "Namespace", Name: "all"}, UID: "uid-all"}}})
		check := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, statetest.Texts(logs, "web")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		check("what was said before the session")
		one := "[event: deployment default/web] quota"
		cluster.AddEvent(warning("Deployment", "web", "uid-web", "quota"))
		check("a warning", one)
		normal := warning("Deployment", "web", "uid-web", "scaled up")
		normal.Type = "Normal"
		cluster.AddEvent(normal)
		cluster.AddEvent(warning("Deployment", "foreign", "uid-foreign", "not ours"))
		check("what is no warning, and what is not ours", one)

		cluster.AddEvent(warning("Pod", "web-1", "uid-p", "no such image"))
		cluster.AddEvent(warning("ReplicaSet", "web", "uid-rs", "forbidden"))
		check("a pod that has not been seen yet", one)
		pod := statetest.Pod("web", "p", "c", "i")
		pod.Pod.Owner = "uid-rs"
		a.Then(pod)
		all := []string{one, "[event: pod default/web-1] no such image", "[event: replicaset default/web] forbidden"}
		check("now it has", all...)

		cluster.AddEvent(warning("Pod", "web-2", "uid-q", "too late"))
		synctest.Wait()
		time.Sleep(waitForOwner)
		a.Then(statetest.Pod("web", "other", "d", "i"), statetest.Pod("web", "q", "e", "i"))
		check("an event does not wait for ever", all...)
	})
}

func TestRepeatedEventsAreToldEverMoreRarely(t *testing.T) {
	news, told := dedup{}, []int{}
	pass := func(e k8s.KubeEvent) {
		if n := news.pass(e); n > 0 {
			told = append(told, n)
		}
	}
	check := func(what string, want ...int) {
		t.Helper()
		if diff := cmp.Diff(want, told, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: told at (-want +got):\n%s", what, diff)
		}
		told = told[:0]
	}
	for count := 1; count <= 20; count++ {
		pass(k8s.KubeEvent{UID: "back-off", ObjectUID: "p", Count: count})
	}
	check("one that is repeated", 1, 2, 4, 8, 16)
	pass(k8s.KubeEvent{UID: "back-off", ObjectUID: "p", Count: 20})
	check("the same again")
	pass(k8s.KubeEvent{UID: "another", ObjectUID: "p", Count: 1})
	check("another", 1)
	for port := 40000; port < 40009; port++ {
		pass(k8s.KubeEvent{UID: fmt.Sprint(port), ObjectUID: "p", Reason: unhealthy, Count: 1,
			Message: fmt.Sprintf("Readiness probe failed: read tcp 10.0.0.1:%d->10.0.0.5:80: connection reset", port)})
	}
	pass(k8s.KubeEvent{UID: "many", ObjectUID: "p", Reason: unhealthy, Count: 7,
		Message: "(combined from similar events): Readiness probe failed: read tcp 10.0.0.1:5->10.0.0.5:80: connection reset"})
	check("one failure of a probe in many words", 1, 2, 4, 8, 16)
	pass(k8s.KubeEvent{UID: "503", ObjectUID: "p", Reason: unhealthy, Count: 1, Message: "Readiness probe failed: HTTP probe failed with statuscode: 503"})
	check("another failure", 1)
	news.calm("p")
	pass(k8s.KubeEvent{UID: "back-off", ObjectUID: "p", Count: 21})
	check("after it was well", 21)
}

// tale is the log of web, whose Deployment has the UID uid-web and whose pod uid-p.
type tale struct {
	*statetest.Alone
	t       *testing.T
	cluster *k8stest.Fake
	told    func() []string
	seen    int
}

func newTale(t *testing.T) *tale {
	cluster, logs := k8stest.New(), statetest.Logs(t)
	f := &tale{t: t, cluster: cluster, Alone: statetest.Start(t, New(cluster, logs))}
	f.told = func() (out []string) {
		for _, l := range logs.Tail(logstore.Filter{Resources: []model.ManifestName{"web"}}, 1000) {
			out = append(out, l.Level.String()+" "+l.Text)
		}
		return out
	}
	f.Then(statetest.Session)
	return f
}

// deployed reports that an update has applied the Deployment.
func (f *tale) deployed() {
	f.Then(statetest.Loaded(statetest.K8s("web")), state.BuildStarted{Resource: "web", Serial: 1},
		state.BuildCompleted{Resource: "web", Serial: 1, Deployed: true, Applied: []model.AppliedObject{
			{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"}, UID: "uid-web"}}})
}

// pod changes the pod.
func (f *tale) pod(change func(*state.Pod)) {
	p := statetest.Pod("web", "p", "c", "i")
	p.Pod.Ready, p.Pod.CreatedAt = false, time.Now()
	if row := state.Pods.In(f.View()).Ref("uid-p"); row != nil {
		p.Pod = row.Value
	}
	change(&p.Pod)
	f.Then(p)
}

// says is an event of the pod's container.
func (f *tale) says(kind, reason, message string) {
	e := k8s.KubeEvent{UID: reason + message, Type: kind, Reason: reason, Message: message, ObjectUID: "uid-p", FirstSeen: time.Now(), LastSeen: time.Now(), Count: 1,
		Object: k8s.KubeEventObject{Kind: "Pod", Namespace: "default", Name: "p", FieldPath: "spec.containers{main}"}}
	f.cluster.AddEvent(e)
	synctest.Wait()
}

// wants checks the lines logged since the last call.
func (f *tale) wants(what string, want ...string) {
	f.t.Helper()
	synctest.Wait()
	all := f.told()
	if diff := cmp.Diff(want, all[f.seen:], cmpopts.EquateEmpty()); diff != "" {
		f.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
	f.seen = len(all)
}

const (
	assigned  = "Successfully assigned default/p to node-1"
	pullsIt   = `Pulling image "registry/web:1"`
	pulledIt  = `Successfully pulled image "registry/web:1" in %s (%s including waiting). Image size: 2000000 bytes.`
	isPresent = `Container image "registry/web:1" already present on machine`
	refuses   = `Readiness probe failed: Get "http://10.0.0.5:80/": dial tcp 10.0.0.5:80: connect: connection refused`
)

// pulls checks the pulls of images among the events of the session.
func (f *tale) pulls(want ...string) {
	f.t.Helper()
	var got []string
	for e := range state.Events.In(f.View()).Refs() {
		if p, ok := e.Value.What.(state.ImagePulled); ok {
			got = append(got, fmt.Sprint(p.Resource, " ", p.Image, " ", p.Took))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.t.Errorf("pulls (-want +got):\n%s", diff)
	}
}

// TestTales checks how Kubernetes' work on a pod is described for people.
func TestTales(t *testing.T) {
	took := func(d string) string { return fmt.Sprintf(pulledIt, d, d) }
	same := func(*state.Pod) {}
	ready := func(p *state.Pod) { p.Ready = true }
	for _, tc := range []struct {
		name string
		run  func(f *tale)
	}{
		{"an image that is there", func(f *tale) {
			f.deployed()
			f.pod(same)
			f.says("Normal", scheduled, assigned)
			f.says("Normal", pulled, isPresent)
			f.says("Normal", "Created", "Created container: main")
			f.says("Normal", "Started", "Started container main")
			time.Sleep(time.Minute)
			f.pod(ready)
			f.wants("nothing to tell")
		}},
		{"an image that is pulled quickly", func(f *tale) {
			f.deployed()
			f.pod(same)
			f.says("Normal", scheduled, assigned)
			f.says("Normal", pulling, pullsIt)
			time.Sleep(slowPull / 2)
			f.says("Normal", pulled, took("321ms"))
			f.pod(ready)
			f.wants("one line", "info [event: pod default/p] "+took("321ms"))
			f.pulls("web registry/web:1 321ms")
			f.says("Normal", pulling, pullsIt+" ")
			f.says("Normal", pulled, took("322ms"))
			time.Sleep(time.Minute)
			f.wants("and once for the image")
			f.pulls("web registry/web:1 321ms", "web registry/web:1 322ms")
		}},
		{"an image that takes long", func(f *tale) {
			f.deployed()
			f.pod(same)
			f.says("Normal", scheduled, assigned)
			f.says("Normal", pulling, pullsIt)
			f.wants("at first")
			time.Sleep(slowPull)
			f.wants("while it is pulled", "info [event: pod default/p] "+assigned, "info [event: pod default/p] "+pullsIt)
			time.Sleep(41 * time.Second)
			f.says("Normal", pulled, took("42.1s"))
			f.wants("when it is there", "info [event: pod default/p] "+took("42.1s"))
			f.pod(ready)
			f.wants("and the pod ready", "info pod p is ready, 42s after it was created")
			f.pod(ready)
			f.wants("once")
		}},
		{"an image that was pulled before it was known whose pod it is", func(f *tale) {
			f.says("Normal", scheduled, assigned)
			f.says("Normal", pulling, pullsIt)
			time.Sleep(10 * time.Second)
			f.says("Normal", pulled, took("1m2.5s"))
			f.deployed()
			f.wants("not known")
			f.pod(same)
			f.wants("known", "info [event: pod default/p] "+assigned, "info [event: pod default/p] "+pullsIt, "info [event: pod default/p] "+took("1m2.5s"))
		}},
		{"an image that cannot be pulled", func(f *tale) {
			f.deployed()
			f.pod(same)
			f.says("Normal", pulling, pullsIt)
			f.says("Warning", "Failed", "not found")
			time.Sleep(time.Minute)
			f.wants("no more than that", "warn [event: pod default/p] not found")
		}},
		{"a probe that fails and then succeeds", func(f *tale) {
			f.deployed()
			f.pod(func(p *state.Pod) { p.CreatedAt = time.Now() })
			time.Sleep(12 * time.Second)
			f.says("Warning", unhealthy, refuses)
			f.wants("fails", "warn [event: pod default/p] "+refuses)
			want := []state.ProbeFailure{{Container: "main", Kind: model.ProbeReadiness, At: time.Now(),
				Answer: strings.TrimPrefix(refuses, "Readiness probe failed: ")}}
			if diff := cmp.Diff(want, state.Pods.In(f.View()).Value("uid-p").Unhealthy); diff != "" {
				f.t.Errorf("noted (-want +got):\n%s", diff)
			}
			f.pod(ready)
			f.wants("succeeds", "info pod p is ready, 12s after it was created")
			f.pod(func(p *state.Pod) { p.Ready = false })
			f.wants("is not ready any more")
		}},
		{"a probe that fails once, while the pod stays ready", func(f *tale) {
			f.deployed()
			f.pod(ready)
			f.says("Warning", unhealthy, refuses)
			f.pod(ready)
			f.wants("fails", "warn [event: pod default/p] "+refuses)
			f.pod(func(p *state.Pod) { p.Ready = false })
			f.pod(ready)
			f.wants("was away", "info pod p is ready again")
		}},
		{"a probe that ends its container", func(f *tale) {
			f.deployed()
			f.pod(func(p *state.Pod) {
				p.Ready = true
				p.Containers = append(p.Containers[:1:1], model.Container{Name: "other"})
			})
			f.says("Warning", unhealthy, "Liveness probe failed: cat: can't open '/up':\nno such file\n")
			f.says("Normal", killing, "Container main failed liveness probe, will be restarted")
			f.says("Normal", killing, "Stopping container main")
			f.wants("both", "warn [event: pod default/p, container main] Liveness probe failed: cat: can't open '/up': no such file",
				"warn [event: pod default/p, container main] Container main failed liveness probe, will be restarted")
		}},
		{"a pod that goes", func(f *tale) {
			f.deployed()
			f.pod(func(p *state.Pod) { p.Deleting = true })
			f.says("Warning", unhealthy, refuses)
			time.Sleep(waitForOwner)
			f.pod(func(p *state.Pod) { p.Deleting = false })
			f.wants("its probes fail, of course")
		}},
		{"a pod of an earlier update", func(f *tale) {
			f.deployed()
			f.pod(func(p *state.Pod) { p.Current = false })
			f.says("Warning", unhealthy, refuses)
			f.wants("it does not count")
			f.pod(func(p *state.Pod) { p.Current = true })
			f.wants("it is of the newest, as was not known", "warn [event: pod default/p] "+refuses)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { tc.run(newTale(t)) })
		})
	}
}

// TestRollouts reports the progress of a slow rollout.
func TestRollouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTale(t)
		f.deployed()
		how := func(group, kind, health, message string) {
			f.Then(state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: model.ObjectID{Group: group, Kind: kind, Namespace: "default", Name: "web"},
				UID: "uid-" + kind, Resource: "web", Health: health, Message: message}}})
		}
		how("apps", "Deployment", model.HealthInProgress, "Updated: 1/5")
		time.Sleep(slowRollout / 2)
		how("apps", "Deployment", model.HealthInProgress, "Updated: 2/5")
		how("batch", "Job", model.HealthInProgress, "active 1")
		f.wants("soon")
		time.Sleep(slowRollout / 2)
		f.wants("late", "info [rollout: deployment default/web] 2 of 5 updated")
		time.Sleep(time.Hour)
		f.wants("nothing new")
		how("apps", "Deployment", model.HealthInProgress, "Available: 3/5")
		f.wants("further", "info [rollout: deployment default/web] 3 of 5 available")
		how("apps", "Deployment", model.HealthInProgress, "Available: 4/5")
		f.wants("not each step")
		how("apps", "Deployment", model.HealthCurrent, "Deployment is available. Replicas: 5")
		f.wants("through", "info [rollout: deployment default/web] rolled out after 1h0m10s")

		how("apps", "Deployment", model.HealthInProgress, "Deployment generation is 3, but latest observed generation is 2")
		time.Sleep(slowRollout)
		f.wants("what only Kubernetes wants to know")
		how("apps", "Deployment", model.HealthInProgress, "Replicas: 0/1")
		f.wants("though it is late", "info [rollout: deployment default/web] 0 of 1 created")
		f.Then(state.ObjectGone{UID: "uid-Deployment"})
		time.Sleep(time.Hour)
		f.wants("gone")
	})
}

func TestWithoutAClusterNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { statetest.Start(t, New(nil, nil)).Then(statetest.Session) })
}

// TestWatchesThatDoNotWork writes to the logs of the resources concerned that a watch does not work, and that it works
// again.
func TestWatchesThatDoNotWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster, logs := k8stest.New(), statetest.Logs(t)
		cluster.Forbid("events", "default")
		a := statetest.Start(t, New(cluster, logs))
		a.Then(statetest.Session, statetest.Loaded(statetest.K8s("web"), statetest.K8s("idle")),
			state.BuildStarted{Resource: "web", Serial: 1},
			state.BuildCompleted{Resource: "web", Serial: 1, Deployed: true, Applied: []model.AppliedObject{
				{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"}, UID: "uid-web"}}})
		synctest.Wait()
		got := statetest.Texts(logs, "web")
		if len(got) == 0 || !strings.HasPrefix(got[0], `cannot watch events in namespace "default": `) || !strings.Contains(strings.Join(got, "\n"), "kubectl create role") {
			t.Errorf("forbidden: %q", got)
		}
		cluster.Allow("events")
		synctest.Wait()
		after := statetest.Texts(logs, "web")
		if diff := cmp.Diff(append(got, `can watch events in namespace "default" again`), after); diff != "" {
			t.Errorf("allowed (-want +got):\n%s", diff)
		}
		if idle := statetest.Texts(logs, "idle"); len(idle) > 0 {
			t.Errorf("written to the log of a resource without objects: %q", idle)
		}
		if r := runtimeOf(a.View(), "web"); r.Status == buildcontrol.RuntimeError {
			t.Errorf("an error for want of events: %+v", r)
		}
	})
}

// runtimeOf returns the runtime state of a resource in v.
func runtimeOf(v store.View, name model.ManifestName) buildcontrol.RuntimeState {
	r := state.Resources.In(v).Value(string(name))
	return buildcontrol.Runtime(v, r.Manifest, state.Updates.In(v).Value(string(name)), state.PodsOf(v, name))
}
