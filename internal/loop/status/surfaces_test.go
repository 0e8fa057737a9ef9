package status_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/api/page"
	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/api/server"
	"github.com/hone-dev/hone/internal/api/tables"
	"github.com/hone-dev/hone/internal/cli/cireport"
	"github.com/hone-dev/hone/internal/client/objects/condition"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// answer is the answer of one place about the state of a resource. Fields that the place does not have are empty; they are left
// out of the comparison.
type answer struct {
	state, update, runtime string
	// ready, current and failed are the answers of a wait for the conditions Ready, UpToDate and Failed.
	ready, current, failed string
	err                    string
	// pod is the name of the pod that stands for the resource.
	pod string
}

// fill takes over the fields that other has and a lacks.
func (a answer) fill(other answer) answer {
	for _, f := range []struct{ is, from *string }{{&a.state, &other.state}, {&a.update, &other.update}, {&a.runtime, &other.runtime}, {&a.ready, &other.ready},
		{&a.current, &other.current}, {&a.failed, &other.failed}, {&a.pod, &other.pod}} {
		if *f.is == "" {
			*f.is = *f.from
		}
	}
	return a
}

// surfaces are the places that show the state of a resource.
var surfaces = map[string]func(t *testing.T, v store.View, name string) answer{
	"screen": func(_ *testing.T, v store.View, name string) answer {
		for _, r := range view.Build(v, v.Snapshot.At, 0).Rows {
			if string(r.Name) == name {
				return answer{state: string(r.Status), err: r.Err(), pod: r.Pod}
			}
		}
		return answer{}
	},
	"page": func(_ *testing.T, v store.View, name string) answer {
		for _, r := range page.Rows(v) {
			if r.Name == name {
				return answer{state: r.Status, runtime: r.Runtime.Status, err: r.Error}
			}
		}
		return answer{}
	},
	"view": func(_ *testing.T, v store.View, name string) answer {
		for _, r := range server.View(v, "").Resources {
			if r.Name == name {
				return answer{state: r.Status, update: r.UpdateStatus, runtime: r.RuntimeStatus, err: r.Error}
			}
		}
		return answer{}
	},
	"object": func(t *testing.T, v store.View, name string) answer {
		st := object(t, v, name).Status
		a := answer{state: st.State, update: st.UpdateStatus, runtime: st.RuntimeStatus}
		if st.State == "failed" {
			a.err = st.Message
		}
		if st.K8sResourceInfo != nil {
			a.pod = st.K8sResourceInfo.PodName
		}
		return a
	},
	"wait": func(t *testing.T, v store.View, name string) answer {
		doc, err := json.Marshal(object(t, v, name))
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(doc); err != nil {
			t.Fatal(err)
		}
		var a answer
		for name, to := range map[string]*string{"Ready": &a.ready, "UpToDate": &a.current, "Failed": &a.failed} {
			c, err := condition.Parse("condition=" + name)
			if err != nil {
				t.Fatal(err)
			}
			met, _ := c.Met(u)
			*to = fmt.Sprint(met)
			if f := c.Hopeless(u); f != nil && f.Of == "" {
				a.err = f.Why
			}
		}
		return a
	},
	"table": func(_ *testing.T, v store.View, name string) answer {
		for _, k := range tables.All(state.Schema) {
			if k.Plural != state.Updates.Name() {
				continue
			}
			for i := range k.Items(v) {
				if i.Name == name {
					return answer{update: fmt.Sprint(k.Columns[0].Value(i.Make()))}
				}
			}
		}
		return answer{}
	},
	"report": func(_ *testing.T, v store.View, name string) answer {
		for _, r := range cireport.Summarize(v, &cireport.Tally{}, cireport.Outcome{At: v.Snapshot.At}).Resources {
			if r.Name != name {
				continue
			}
			a := answer{update: r.UpdateStatus, runtime: r.RuntimeStatus}
			if r.Problem != nil && r.Status != "unfinished" {
				a.err = r.Problem.Summary
			}
			return a
		}
		return answer{}
	},
}

// object returns a resource as an object of the API.
func object(t *testing.T, v store.View, name string) *v1alpha1.UIResource {
	for _, k := range projection.All() {
		if k.Name != "UIResource" {
			continue
		}
		for i := range k.Items(v) {
			if i.Name == name {
				return i.Make().(*v1alpha1.UIResource)
			}
		}
	}
	t.Fatalf("there is no object %s", name)
	return nil
}

// up is a session whose cluster and engine answer, with the given resources.
func up(manifests ...model.Manifest) *statetest.State {
	return statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(manifests...)).Then(statetest.Connected()...)
}

// held is session up whose resources a subscriber holds.
func held(m model.Manifest) *statetest.State {
	return statetest.New(statetest.Session).Hold("holder").Then(state.TiltfileStarted{}, statetest.Loaded(m)).Then(statetest.Connected()...)
}

// with returns a manifest with changes.
func with(m model.Manifest, change func(*model.Manifest)) model.Manifest {
	if m.K8s != nil {
		k := *m.K8s
		m.K8s = &k
	}
	if m.Local != nil {
		l := *m.Local
		m.Local = &l
	}
	change(&m)
	return m
}

// k8s is session up with a resource that was deployed and whose pod runs, after some more actions.
func k8s(m model.Manifest, more ...store.Action) *statetest.State {
	return up(m).Deployed("a").Then(statetest.Healthy("a"), statetest.Pod("a", "p", "c1", "a:1")).Then(more...)
}

// pod is the resource's pod with changes.
func pod(change func(p *state.Pod, c *model.Container)) state.PodChanged {
	p := statetest.Pod("a", "p", "c1", "a:1")
	change(&p.Pod, &p.Pod.Containers[0])
	return p
}

// evicted is the resource's pod after its node has evicted it, and leaving while it crashes and is being deleted.
var (
	evicted = pod(func(p *state.Pod, c *model.Container) {
		p.Owner, p.Phase, p.Status, p.Message, p.Ready = "replicas", "Failed", "Evicted", "The node was low on resource: memory.", false
		c.Ready, c.State, c.ExitCode, c.Reason = false, model.ContainerTerminated, 137, "Error"
	})
	leaving = pod(func(p *state.Pod, c *model.Container) {
		p.Owner, p.Deleting = "replicas", true
		crashed(p, c)
	})
)

// replacement is a newer pod with the same owner.
func replacement(change func(p *state.Pod, c *model.Container)) state.PodChanged {
	p := statetest.Pod("a", "p2", "c2", "a:1")
	p.Pod.Owner, p.Pod.CreatedAt = "replicas", statetest.Epoch
	change(&p.Pod, &p.Pod.Containers[0])
	return p
}

func ready(*state.Pod, *model.Container) {}

func crashed(p *state.Pod, c *model.Container) {
	p.Ready, p.Status = false, "Error"
	c.Ready, c.State, c.Reason, c.ExitCode = false, model.ContainerTerminated, "Error", 1
}

// ended reports that the process in a container has ended under the synclet.
func ended(container string) state.SyncletChanged {
	return state.SyncletChanged{ID: container, Synclet: state.Synclet{Resource: "a", Container: "main", Supervised: true, ExitCode: 3}}
}

func failing(reason string, is model.ContainerState, restarts int) state.PodChanged {
	return pod(func(p *state.Pod, c *model.Container) {
		p.Ready, p.Status = false, reason
		c.Ready, c.State, c.Reason, c.Restarts, c.LastReason, c.ExitCode = false, is, reason, restarts, "Error", 1
	})
}

func serving(change func(*state.Process)) state.ProcessChanged {
	p := state.Process{Resource: "a", State: state.ProcessRunning, PID: 7, Build: 1, Ready: true}
	change(&p)
	return state.ProcessChanged{Process: p}
}

func forward(f state.Forward) state.ForwardChanged {
	f.Resource, f.Spec, f.URL = "a", model.PortForward{LocalPort: 8080}, "http://localhost:8080/"
	return state.ForwardChanged{ID: "a/8080", Forward: f}
}

// gone reports that an object was deleted, and whether the session applies it again.
func gone(uid string, again bool, reason string) state.ResourceDrifted {
	return state.ResourceDrifted{Resource: "a", Objects: []state.ObjectDrift{{Object: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "a"},
		UID: uid, What: state.DriftDeleted, Keep: again, Reason: reason}}}
}

func broken(err string) func(*state.BuildCompleted) {
	return func(b *state.BuildCompleted) { b.Mode, b.Err = "image", err }
}

// TestOneAnswer asks every place that shows a resource for the same resource in each state: all give one answer.
func TestOneAnswer(t *testing.T) {
	app := statetest.K8s("a", statetest.Image("a"))
	server := with(statetest.Local("a"), func(m *model.Manifest) { m.Local.Serve = model.Cmd{Argv: []string{"serve"}} })
	onlyServer := with(server, func(m *model.Manifest) { m.Local.Update = model.Cmd{} })
	manual := with(app, func(m *model.Manifest) { m.TriggerMode = model.TriggerManual })
	later := with(app, func(m *model.Manifest) { m.AutoInit = false })
	ported := with(app, func(m *model.Manifest) { m.K8s.PortForwards = []model.PortForward{{LocalPort: 8080}} })
	job := with(app, func(m *model.Manifest) { m.K8s.PodReadiness = model.PodSucceeded })
	change := statetest.Change("a", "/src/a/Dockerfile")
	away := state.ClusterReported{Cluster: model.Cluster{Context: "hone-dev"}, Err: "connection refused"}
	down := state.ObjectsTakenDown{By: "hone down (pid 42)"}
	asking := statetest.Session
	asking.Session.Confirmation.Asked = true
	compose := func(more ...store.Action) *statetest.State {
		p := statetest.Pod("a", "shop-a-1", "c1", "a:1")
		p.Pod.UID, p.Pod.Engine = "c1", "docker"
		return up(statetest.Compose("a")).Deployed("a").Then(p).Then(more...)
	}
	for _, tc := range []struct {
		name  string
		state *statetest.State
		// want is "state update runtime", the words of the conditions that are met, the pod if that matters, and the error.
		want string
	}{
		{"declared, before the cluster answers", statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(app)), "waiting pending none"},
		{"before the first build", up(app), "updating pending none"},
		{"the first build", up(app).Begin("a"), "updating in_progress none"},
		{"the first build failed", up(app).Begin("a").Finish("a", broken("no such image")), "failed error none +failed: no such image"},
		{"the first build failed, and is tried again", up(app).Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Err, b.Passing = "503", true }), "failed error none: 503"},
		{"the first build was cancelled", up(app).Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Cancelled = true }), "updating pending none"},
		{"deployed, not rolled out yet", up(app).Deployed("a"), "waiting ok pending +current"},
		{"rolled out", k8s(app), "ok ok ok +ready +current"},
		{"with warnings", up(app).Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Deployed, b.Warnings = true, 2 }), "warning ok ok +ready +current"},
		{"the pod is not ready", k8s(app, pod(func(p *state.Pod, c *model.Container) { p.Ready, c.Ready = false, false })), "waiting ok pending +current"},
		{"the pod crashed once", k8s(app, failing("Error", model.ContainerTerminated, 0)), "failed ok error +current: pod p: container main: Error, exit code 1"},
		{"a crash loop", k8s(app, failing("CrashLoopBackOff", model.ContainerWaiting, 3)),
			"failed ok error +current +failed: pod p: container main: CrashLoopBackOff, ended with exit code 0 (it is meant to keep running)"},
		{"a crash loop that runs again", k8s(app, failing("CrashLoopBackOff", model.ContainerWaiting, 3), pod(func(_ *state.Pod, c *model.Container) {
			c.Restarts, c.LastReason, c.StartedAt = 4, "Error", statetest.Epoch.Add(time.Hour)
		})), "warning ok ok +ready +current"},
		{"an image that cannot be pulled", k8s(app, failing("ImagePullBackOff", model.ContainerWaiting, 0)), "failed ok error +current +failed: pod p: container main: ImagePullBackOff"},
		{"an update runs", k8s(app, change).Begin("a"), "updating in_progress ok +ready"},
		{"an update is due", k8s(app, change), "updating pending ok +ready"},
		{"an update failed", k8s(app, change).Begin("a").Finish("a", broken("exit code 1")), "failed error ok +ready +failed: exit code 1"},
		{"an update failed, and a file changed", k8s(manual, change).Begin("a").Finish("a", broken("exit code 1")).Then(change), "failed pending ok +ready: exit code 1"},
		{"manual, changed", k8s(manual, change), "waiting pending ok +ready"},
		{"manual, triggered", k8s(manual, change, state.ResourcesTriggered{Names: []model.ManifestName{"a"}}), "updating pending ok +ready"},
		{"paused, changed", k8s(app, state.SessionPaused{}, change), "waiting pending ok +ready"},
		{"another process deploys", k8s(app, state.DeployLockTaken{ID: 1, By: "hone ci (pid 42)"}, change), "waiting pending ok +ready"},
		{"unconfirmed", statetest.New(asking, state.TiltfileStarted{}, statetest.Loaded(app)).Then(statetest.Connected()...), "waiting pending none"},
		{"never started", up(later), "idle none none"},
		{"never started, a file changed", up(later).Then(change), "idle none none"},
		{"never started, triggered", up(later).Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}}), "updating pending none"},
		{"disabled", k8s(app, state.ResourcesSwitched{Off: []model.ManifestName{"a"}}), "idle none none"},
		{"taken down", k8s(app, down), "idle none none"},
		{"taken down after an update failed", k8s(app, change).Begin("a").Finish("a", broken("exit code 1")).Then(down), "idle none none"},
		{"taken down, triggered", k8s(app, down, state.ResourcesTriggered{Names: []model.ManifestName{"a"}}), "updating pending none"},
		{"waits for a resource", up(with(app, func(m *model.Manifest) { m.ResourceDeps = []model.ManifestName{"b"} }), with(statetest.Local("b"), func(m *model.Manifest) { m.AutoInit = false })),
			"waiting pending none"},
		{"waits for a resource that has failed", up(with(app, func(m *model.Manifest) { m.ResourceDeps = []model.ManifestName{"b"} }), statetest.Local("b")).Begin("b").Finish("b", broken("exit code 3")),
			"waiting pending none"},
		{"the cluster is away", k8s(app, away), "unknown ok unknown +current"},
		{"the cluster is away, and a file changed", k8s(app, away, change), "unknown pending unknown"},
		{"pods cannot be watched", k8s(app, state.ClusterWatchFailed{ID: "pods", Watch: state.ClusterWatch{Resources: []model.ManifestName{"a"}, Blinds: true, Problem: state.Problem{Summary: "cannot watch pods"}}}),
			"failed ok error +current +failed: cannot watch pods"},
		{"an object is lost", k8s(app, state.ObjectsLost{UIDs: map[model.ManifestName][]string{"a": {"uid-a"}}}), "updating pending ok +ready"},
		{"an object was deleted, and is applied again", k8s(app, gone("uid-a", true, "")), "updating pending ok +ready"},
		{"an object was deleted in a paused session", k8s(app, state.SessionPaused{}, gone("uid-a", true, "")), "waiting pending ok +ready"},
		{"an object was deleted, and stays so", k8s(app, gone("uid-a", false, "again and again")),
			"failed ok error +current +failed: deployment/default/a was deleted (again and again); a trigger deploys the resource again"},
		{"an object that was applied before is gone", k8s(app, gone("uid-other", false, "")), "warning ok ok +ready +current"},
		{"a Job was deleted before its end", k8s(app, state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: model.ObjectID{Group: "batch", Kind: "Job", Namespace: "default", Name: "a"},
			UID: "uid-a", Resource: "a", Health: model.HealthDeleted, Message: "was deleted before its end"}}}),
			"failed ok error +current +failed: job/default/a was deleted before its end; a trigger runs it again"},
		{"an object has drifted", k8s(app, state.ResourceDrifted{Resource: "a", Objects: []state.ObjectDrift{{What: state.DriftChanged}}}), "warning ok ok +ready +current"},
		{"a port is open", k8s(ported, forward(state.Forward{State: state.ForwardReady, Pod: "default/p:80"})), "ok ok ok +ready +current"},
		{"a port is taken", k8s(ported, forward(state.Forward{State: state.ForwardFailed, Err: "port 8080 is taken by pid 77"})),
			"failed ok ok +current +failed: port 8080: port 8080 is taken by pid 77"},
		{"a port is refused by a ready pod", k8s(ported, forward(state.Forward{State: state.ForwardFailed, Pod: "default/p:80", Err: "connection refused"})),
			"failed ok ok +current +failed: port 8080: connection refused"},
		{"a port is refused by a pod that is not ready", k8s(ported, pod(func(p *state.Pod, c *model.Container) { p.Ready, c.Ready = false, false }),
			forward(state.Forward{State: state.ForwardFailed, Pod: "default/p:80", Err: "connection refused"})), "waiting ok pending +current"},
		{"a job runs", up(job).Deployed("a").Then(statetest.Healthy("a"), pod(func(p *state.Pod, _ *model.Container) { p.Ready = false })), "waiting ok pending +current"},
		{"a job is complete", up(job).Deployed("a").Then(statetest.Healthy("a"), pod(func(p *state.Pod, _ *model.Container) { p.Ready, p.Phase, p.Status = false, "Succeeded", "Completed" })),
			"ok ok ok +ready +current"},
		{"the process in the container has ended", k8s(app, ended("c1")),
			"failed ok error +current +failed: pod p: the process in main ended with exit code 3; the next change restarts it"},
		{"a pod follows an evicted one", k8s(app, evicted, replacement(ready)), "ok ok ok @p2 +ready +current"},
		{"a pod follows an evicted one, and its process has ended", k8s(app, evicted, replacement(ready), ended("c2")),
			"failed ok error @p2 +current +failed: pod p2: the process in main ended with exit code 3; the next change restarts it"},
		{"a pod follows one that crashes and is being deleted", k8s(app, leaving, replacement(ready)), "ok ok ok @p2 +ready +current"},
		{"its process has ended, and it follows one that crashes and is being deleted", k8s(app, leaving, replacement(ready), ended("c2")),
			"failed ok error @p2 +current +failed: pod p2: the process in main ended with exit code 3; the next change restarts it"},
		{"two pods crash", k8s(app, failing("Error", model.ContainerTerminated, 0), replacement(crashed)), "failed ok error @p2 +current: pod p2: container main: Error, exit code 1"},
		{"the older of two pods crashes", k8s(app, failing("Error", model.ContainerTerminated, 0), replacement(ready)), "failed ok error @p +current: pod p: container main: Error, exit code 1"},
		{"a command ran", up(statetest.Local("a")).Deployed("a"), "ok ok not_applicable +ready +current"},
		{"a command failed", up(statetest.Local("a")).Begin("a").Finish("a", broken("exit code 3")), "failed error not_applicable +failed: exit code 3"},
		{"a server starts", up(server).Deployed("a"), "waiting ok pending +current"},
		{"a server is not ready", up(server).Deployed("a").Then(serving(func(p *state.Process) { p.Ready, p.Detail = false, "connection refused" })), "waiting ok pending +current"},
		{"a server runs", up(server).Deployed("a").Then(serving(func(*state.Process) {})), "ok ok ok +ready +current"},
		{"a server has ended", up(server).Deployed("a").Then(serving(func(p *state.Process) {
			p.State, p.Ready, p.ExitCode, p.Err = state.ProcessFailed, false, 5, "exit code 5"
		})),
			"failed ok error +current +failed: exit code 5"},
		{"a server without a command", up(onlyServer).Deployed("a").Then(serving(func(*state.Process) {})), "ok not_applicable ok +ready +current"},
		{"a service of Compose runs", compose(), "ok ok ok +ready +current"},
		{"it leaves the Tiltfile", held(app).Then(statetest.Loaded()), "waiting pending none"},
		{"the engine is away", compose(state.EngineReported{Err: "connection refused"}), "unknown ok unknown +current"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := tc.state.View()
			want := parse(tc.want)
			for name, ask := range surfaces {
				got := ask(t, v, "a")
				if want.pod == "" {
					got.pod = ""
				}
				full := got.fill(want)
				if got.err == "" && (name == "wait" && want.failed == "false" || name == "table") {
					full.err = want.err
				}
				if diff := cmp.Diff(want, full, cmp.AllowUnexported(answer{})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// parse reads the expected answer of a case.
func parse(s string) answer {
	words, err, _ := strings.Cut(s, ": ")
	f := strings.Fields(words)
	a := answer{state: f[0], update: f[1], runtime: f[2], ready: "false", current: "false", failed: "false", err: err}
	for _, word := range f[3:] {
		if name, is := strings.CutPrefix(word, "@"); is {
			a.pod = name
			continue
		}
		*map[string]*string{"+ready": &a.ready, "+current": &a.current, "+failed": &a.failed}[word] = "true"
	}
	return a
}
