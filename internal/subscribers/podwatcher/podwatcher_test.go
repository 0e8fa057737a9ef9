package podwatcher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a PodWatcher at work on a cluster in memory.
type fixture struct {
	*statetest.Alone
	t       *testing.T
	cluster *k8stest.Fake
}

func start(t *testing.T, manifests ...model.Manifest) fixture {
	f := fixture{t: t, cluster: k8stest.New()}
	f.Alone = statetest.Start(t, New(f.cluster))
	f.Then(statetest.Session, statetest.Loaded(manifests...))
	f.Then(statetest.Connected()...)
	return f
}

// applied says that a build of the resource applied the given objects.
func (f fixture) applied(name string, objects ...model.AppliedObject) {
	serial := state.Updates.In(f.View()).Value(name).Serial + 1
	f.Then(state.BuildStarted{Resource: model.ManifestName(name), Serial: serial},
		state.BuildCompleted{Resource: model.ManifestName(name), Serial: serial, Deployed: true, At: time.Now(), Applied: objects})
}

func object(group, kind, uid, hash string) model.AppliedObject {
	return model.AppliedObject{ObjectID: model.ObjectID{Group: group, Kind: kind, Namespace: "default", Name: "x"}, UID: uid, TemplateHash: hash}
}

// pod is a running pod with the given template hash (none for ""), labels and owner.
func pod(name, hash string, labels map[string]string, owners ...k8s.OwnerRef) k8s.PodEvent {
	e := k8stest.RunningPod("default", name)
	e.Pod.UID, e.Pod.TemplateHash, e.Owners = "uid-"+name, hash, owners
	e.Labels = map[string]string{}
	for k, v := range labels {
		e.Labels[k] = v
	}
	if hash != "" {
		e.Labels[deploy.LabelManagedBy] = deploy.ManagedByHone
	}
	return e
}

func owner(kind, uid string) k8s.OwnerRef {
	return k8s.OwnerRef{Kind: kind, UID: uid, Controller: true}
}

func (f fixture) want(what string, want ...string) {
	f.t.Helper()
	synctest.Wait()
	var got []string
	for e := range state.Pods.In(f.View()).Refs() {
		s := fmt.Sprintf("%s of %s", e.Value.Name, e.Value.Resource)
		if !e.Value.Current {
			s += " (old)"
		}
		got = append(got, s)
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want, got))
	}
}

func TestNewestDeploy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("web"))
		f.cluster.SetPod(pod("web-1", "h1", nil, owner("ReplicaSet", "rs1")))
		f.cluster.SetPod(pod("foreign", "", nil))
		f.want("before the deploy")
		f.applied("web", object("apps", "Deployment", "d", "h1"))
		f.want("deployed", "web-1 of web")
		f.cluster.SetOwner(owner("ReplicaSet", "rs1"), "d")
		f.cluster.SetOwner(owner("Deployment", "d"), "")
		f.applied("web", object("apps", "Deployment", "d", "h2"))
		f.cluster.SetPod(pod("web-2", "h2", nil, owner("ReplicaSet", "rs2")))
		f.want("deployed again: the old pod is of an earlier template", "web-1 of web (old)", "web-2 of web")
		f.cluster.DeletePod("default", "web-1")
		f.want("rolled out", "web-2 of web")
		if got := state.Pods.In(f.View()).Value("uid-web-2").Owner; got != "rs2" {
			t.Errorf("controlled by %q, want rs2", got)
		}
		f.Then(statetest.Loaded())
		f.want("no longer declared")
	})
}

// TestEqualTemplates distinguishes the pods of two resources whose templates are identical.
func TestEqualTemplates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("one"), statetest.K8s("two"))
		for _, n := range []string{"1", "2"} {
			f.cluster.SetOwner(owner("ReplicaSet", "rs"+n), "d"+n)
			f.cluster.SetOwner(owner("Deployment", "d"+n), "")
			f.cluster.SetPod(pod("p"+n, "same", nil, owner("ReplicaSet", "rs"+n)))
		}
		f.applied("one", object("apps", "Deployment", "d1", "same"))
		f.applied("two", object("apps", "Deployment", "d2", "same"))
		f.want("both deployed", "p1 of one", "p2 of two")
	})
}

// TestSelectorsOnly takes the pods that the selectors name, and not the pods of the applied objects.
func TestSelectorsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := statetest.K8s("web")
		m.K8s.SelectorsOnly, m.K8s.ExtraPodSelectors = true, []map[string]string{{"app": "mine"}}
		f := start(t, m)
		f.cluster.SetPod(pod("own", "h1", nil, owner("ReplicaSet", "rs1")))
		f.cluster.SetPod(pod("named", "", map[string]string{"app": "mine"}))
		f.applied("web", object("apps", "Deployment", "d", "h1"))
		f.want("deployed", "named of web")
	})
}

func TestOwnership(t *testing.T) {
	managedBy := map[string]string{deploy.LabelManagedBy: deploy.ManagedByHone}
	for _, tc := range []struct {
		name   string
		change func(m *model.Manifest)
		object model.AppliedObject
		// owners are the owners that the cluster knows, each as uid and parent.
		owners [][2]string
		pod    k8s.PodEvent
		want   []string
	}{
		{"a pod of its own", nil, object("", "Pod", "uid-p", ""), nil, pod("p", "", managedBy), []string{"p of r"}},
		{"a job's pod", nil, object("batch", "Job", "j", "h"), nil, pod("p", "h", nil, owner("Job", "j")), []string{"p of r"}},
		{"a pod of the job that was replaced", nil, object("batch", "Job", "j2", "h"), nil, pod("p", "h", nil, owner("Job", "j1")), []string{"p of r (old)"}},
		{"a pod of a cron job's job", nil, object("batch", "CronJob", "cj", "h"), [][2]string{{"j", "cj"}, {"cj", ""}},
			pod("p", "h", nil, owner("Job", "j")), []string{"p of r"}},
		{"a pod of the stateful set that was replaced", nil, object("apps", "StatefulSet", "s2", "h"), nil,
			pod("p", "h", nil, owner("StatefulSet", "s1")), []string{"p of r (old)"}},
		{"an operator's pod, by its chain of owners", nil, object("example.com", "Database", "db", ""), [][2]string{{"s", "db"}, {"db", ""}},
			pod("p", "", nil, owner("StatefulSet", "s")), []string{"p of r"}},
		{"a pod of somebody else's operator", nil, object("example.com", "Database", "db", ""), [][2]string{{"s", "other"}},
			pod("p", "", nil, owner("StatefulSet", "s")), nil},
		{"selected by the Tiltfile", func(m *model.Manifest) { m.K8s.ExtraPodSelectors = []map[string]string{{"app": "p", "tier": "x"}} },
			object("", "ConfigMap", "c", ""), nil, pod("p", "", map[string]string{"app": "p", "tier": "x"}), []string{"p of r"}},
		{"selected in part", func(m *model.Manifest) { m.K8s.ExtraPodSelectors = []map[string]string{{"app": "p", "tier": "x"}} },
			object("", "ConfigMap", "c", ""), nil, pod("p", "", map[string]string{"app": "p"}), nil},
		{"an empty selector selects nothing", func(m *model.Manifest) { m.K8s.ExtraPodSelectors = []map[string]string{{}} },
			object("", "ConfigMap", "c", ""), nil, pod("p", "", map[string]string{"app": "p"}), nil},
		{"nobody's", nil, object("apps", "Deployment", "d", "h"), nil, pod("p", "other", nil, owner("ReplicaSet", "rs")), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := statetest.K8s("r")
				if tc.change != nil {
					tc.change(&m)
				}
				f := start(t, m)
				for _, o := range tc.owners {
					f.cluster.SetOwner(k8s.OwnerRef{Kind: "Any", UID: o[0]}, o[1])
				}
				f.applied("r", tc.object)
				f.cluster.SetPod(tc.pod)
				f.want(tc.name, tc.want...)
				f.cluster.DeletePod("default", "p")
				f.want("deleted")
			})
		})
	}
}

// TestLostLabel takes labels off a pod, and puts them back.
func TestLostLabel(t *testing.T) {
	managedBy := map[string]string{deploy.LabelManagedBy: deploy.ManagedByHone}
	rs := owner("ReplicaSet", "rs")
	for _, tc := range []struct {
		name      string
		object    model.AppliedObject
		is, after k8s.PodEvent
		want      []string
	}{
		{"a pod of its own", object("", "Pod", "uid-p", ""), pod("p", "", managedBy), pod("p", "", nil), []string{"p of r"}},
		{"a Deployment's, all of hone's labels", object("apps", "Deployment", "d", "h"), pod("p", "h", nil, rs), pod("p", "", nil, rs), []string{"p of r"}},
		{"a Deployment's, all labels: its ReplicaSet leaves it", object("apps", "Deployment", "d", "h"), pod("p", "h", nil, rs), pod("p", "", nil), nil},
		{"a Deployment's, the labels of its selector", object("apps", "Deployment", "d", "h"), pod("p", "h", nil, rs), pod("p", "h", nil), []string{"p of r (old)"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, statetest.K8s("r"))
				f.cluster.SetOwner(rs, "d")
				f.cluster.SetOwner(owner("Deployment", "d"), "")
				f.applied("r", tc.object)
				f.cluster.SetPod(pod("unlabelled", "", nil))
				f.cluster.SetPod(tc.is)
				f.want("labelled", "p of r")

				f.cluster.SetPod(tc.after)
				f.want("not labelled", tc.want...)
				restarted := tc.after
				restarted.Pod.Phase = "Failed"
				f.cluster.SetPod(restarted)
				f.want("failed", tc.want...)
				if p := state.Pods.In(f.View()).Ref("uid-p"); p != nil && p.Value.Phase != "Failed" {
					t.Errorf("is not followed: %+v", p.Value)
				}
				f.cluster.SetPod(tc.is)
				f.want("labelled again", "p of r")
				f.cluster.SetPod(tc.after)
				f.want("not labelled again", tc.want...)
				f.cluster.DeletePod("default", "p")
				f.want("deleted")
				f.cluster.SetPod(tc.is)
				f.cluster.DeletePod("default", "p")
				f.want("removed at once")
			})
		})
	}
}

// Objects that a command of the user applied do not carry hone's labels: their pods are found by their owners, and pods of
// an earlier rollout are older.
func TestForeignObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("chart"))
		old, young := owner("ReplicaSet", "rs1"), owner("ReplicaSet", "rs2")
		old.CreatedAt, young.CreatedAt = time.Unix(1, 0), time.Unix(2, 0)
		f.cluster.SetOwner(old, "d")
		f.cluster.SetOwner(young, "d")
		f.cluster.SetOwner(owner("Deployment", "d"), "")
		o := object("apps", "Deployment", "d", "")
		o.Foreign = true
		f.applied("chart", o)
		f.cluster.SetPod(pod("p1", "", nil, old))
		f.cluster.SetPod(pod("other", "", nil, owner("ReplicaSet", "rs9")))
		f.want("deployed", "p1 of chart")
		f.cluster.SetPod(pod("p2", "", nil, young))
		f.want("rolling out", "p1 of chart (old)", "p2 of chart")
		f.cluster.DeletePod("default", "p2")
		f.want("rolled back", "p1 of chart")
	})
}

// A pod may be seen by two watches. When one of them is no longer wanted, only the other one counts.
func TestAWatchThatEndsLeavesNoGhosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := statetest.K8s("r")
		m.K8s.ExtraPodSelectors = []map[string]string{{"app": "p"}}
		f := start(t, m)
		f.applied("r", object("apps", "Deployment", "d", "h"))
		f.cluster.SetPod(pod("p", "h", map[string]string{"app": "p"}, owner("ReplicaSet", "rs")))
		f.want("seen twice", "p of r")
		f.Then(statetest.Loaded(statetest.K8s("r")))
		f.want("seen once", "p of r")
		f.cluster.DeletePod("default", "p")
		f.want("deleted")
	})
}

func TestContainersOfAGonePodAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("web"))
		f.applied("web", object("apps", "Deployment", "d", "h"))
		e := pod("p", "h", nil)
		f.cluster.SetPod(e)
		synctest.Wait()
		id := e.Pod.Containers[0].ID
		f.Then(state.BuildStarted{Resource: "web", Serial: 2}, state.BuildCompleted{Resource: "web", Serial: 2, Synced: []string{id}})
		f.cluster.DeletePod("default", "p")
		synctest.Wait()
		if u := state.Updates.In(f.View()).Value("web"); len(u.Lanes) != 0 {
			t.Errorf("still known: %v", u.Lanes)
		}
	})
}

func TestWithoutAClusterNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		statetest.Start(t, New(nil)).Then(statetest.Session)
	})
}

func TestScopes(t *testing.T) {
	plain := statetest.K8s("r")
	foreign := object("apps", "Deployment", "d", "")
	foreign.Foreign = true
	for _, tc := range []struct {
		object model.AppliedObject
		want   string
	}{
		{object("apps", "Deployment", "d", "h"), deploy.ManagedSelector},
		{foreign, ""},
		{object("", "Pod", "p", ""), deploy.ManagedSelector},
		{object("", "ConfigMap", "c", ""), "none"},
		{object("networking.k8s.io", "Ingress", "i", ""), "none"},
		{object("example.com", "Database", "db", ""), ""},
		{model.AppliedObject{ObjectID: model.ObjectID{Group: "example.com", Kind: "Operator"}}, "none"},
	} {
		got := "none"
		for _, sc := range scopesFor(plain, tc.object) {
			got = sc.selector
		}
		if got != tc.want {
			t.Errorf("%s: watches %q, want %q", tc.object.Kind, got, tc.want)
		}
	}
	if got := selector(map[string]string{"b": "2", "a": "1"}); got != "a=1,b=2" {
		t.Errorf("selector: %s", got)
	}
}

// TestForbidden forbids to watch pods while two resources are deployed, and allows it again.
func TestForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.cluster.Forbid("pods", "default")
		f.Then(statetest.Loaded(statetest.K8s("api"), statetest.K8s("web"), statetest.K8s("config")))
		f.want("before the deploy")
		if n := state.ClusterWatches.In(f.View()).Len(); n != 0 {
			t.Errorf("%d watches fail already", n)
		}
		f.applied("web", object("apps", "Deployment", "d", "h1"))
		f.applied("api", object("apps", "Deployment", "e", "h2"))
		f.applied("config", object("", "ConfigMap", "c", ""))
		f.cluster.SetPod(pod("web-1", "h1", nil, owner("ReplicaSet", "rs")))
		f.want("forbidden")
		for _, name := range []model.ManifestName{"api", "web"} {
			r := runtimeOf(f.View(), name)
			if r.Status != buildcontrol.RuntimeError || r.FailingSince.IsZero() || r.Final ||
				!strings.HasPrefix(r.Err, `cannot watch pods in namespace "default": `) || !strings.Contains(r.Err, "kubectl create role") {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if r := runtimeOf(f.View(), "config"); r.Status == buildcontrol.RuntimeError {
			t.Errorf("config, which has no pods: %+v", r)
		}
		f.Then(statetest.Loaded(statetest.K8s("web"), statetest.K8s("config")))
		synctest.Wait()
		for e := range state.ClusterWatches.In(f.View()).Refs() {
			if !slices.Equal(e.Value.Resources, []model.ManifestName{"web"}) {
				t.Errorf("%s is for %v, want web alone", e.ID, e.Value.Resources)
			}
		}
		f.cluster.Allow("pods")
		f.want("allowed", "web-1 of web")
		if n := state.ClusterWatches.In(f.View()).Len(); n != 0 {
			t.Errorf("%d watches fail still", n)
		}
	})
}

// silent is a cluster that returns no owners for a while.
type silent struct {
	*k8stest.Fake
	mu     sync.Mutex
	refuse int // guarded by mu; how often it still does so
	err    error
}

// OwnerChain implements Client.
func (s *silent) OwnerChain(ctx context.Context, req k8s.OwnerRequest) ([]k8s.OwnerRef, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse > 0 {
		s.refuse--
		return nil, s.err
	}
	return s.Fake.OwnerChain(ctx, req)
}

// TestReplacedWhileTheWatchWasDown replaces pods while the watch is down. Afterwards the resource has the new pod, even if
// the API server needs a while before it returns owners, and no further event of the pod follows.
func TestReplacedWhileTheWatchWasDown(t *testing.T) {
	for _, tc := range []struct {
		name    string
		hash    string // the template's; none of an object that a command applied
		foreign bool
		err     error // the API server's answer about owners when it is back, three times
	}{
		{name: "known by its template", hash: "h"},
		{name: "known by its owners", foreign: true},
		{name: "the owners cannot be requested at once", foreign: true, err: errors.New("503")},
		{name: "the owners are not known at once", foreign: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := &silent{Fake: k8stest.New(), err: tc.err}
				f := fixture{t: t, cluster: cluster.Fake, Alone: statetest.Start(t, New(cluster))}
				f.Then(statetest.Session, statetest.Loaded(statetest.K8s("web")))
				for _, rs := range []string{"rs1", "rs2"} {
					f.cluster.SetOwner(owner("ReplicaSet", rs), "d")
				}
				f.cluster.SetOwner(owner("Deployment", "d"), "")
				o := object("apps", "Deployment", "d", tc.hash)
				o.Foreign = tc.foreign
				f.applied("web", o)
				f.cluster.SetPod(pod("web-1", tc.hash, nil, owner("ReplicaSet", "rs1")))
				f.want("deployed", "web-1 of web")
				f.cluster.SetDown(true)
				f.cluster.DeletePod("default", "web-1")
				f.cluster.SetPod(pod("web-2", tc.hash, nil, owner("ReplicaSet", "rs2")))
				f.want("while the watch is down", "web-1 of web")
				if tc.foreign {
					cluster.mu.Lock()
					cluster.refuse = 3
					cluster.mu.Unlock()
				}
				f.cluster.SetDown(false)
				time.Sleep(askAgainMost)
				f.want("back", "web-2 of web")
				if pods := state.PodsOf(f.View(), "web"); len(pods) != 1 || pods[0].Name != "web-2" {
					t.Errorf("the resource shows %+v", pods)
				}
			})
		})
	}
}

// TestOwnersThatAreGone requests an owner that does not exist less and less often.
func TestOwnersThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := &silent{Fake: k8stest.New(), refuse: 1000}
		f := fixture{t: t, cluster: cluster.Fake, Alone: statetest.Start(t, New(cluster))}
		f.Then(statetest.Session, statetest.Loaded(statetest.K8s("web")))
		o := object("apps", "Deployment", "d", "")
		o.Foreign = true
		f.applied("web", o)
		f.cluster.SetPod(pod("orphan", "", nil, owner("ReplicaSet", "rs9")))
		time.Sleep(time.Hour)
		f.want("an hour later")
		cluster.mu.Lock()
		asked := 1000 - cluster.refuse
		cluster.refuse = 1000
		cluster.mu.Unlock()
		if asked < 60 || asked > 70 {
			t.Errorf("asked %d times in an hour", asked)
		}
		f.cluster.DeletePod("default", "orphan")
		time.Sleep(time.Hour)
		cluster.mu.Lock()
		defer cluster.mu.Unlock()
		if asked := 1000 - cluster.refuse; asked > 0 {
			t.Errorf("asked %d times for the owner of a pod that is gone", asked)
		}
	})
}

// TestGoneDuringACrash has the watcher end and begin again while a pod is replaced.
func TestGoneDuringACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := k8stest.New()
		sub := New(cluster)
		s := store.New(state.Schema)
		rt := store.NewRuntime(s, sub)
		var all sync.WaitGroup
		defer all.Wait()
		loop, stop := context.WithCancel(t.Context())
		defer stop()
		all.Go(func() { s.Run(loop) })
		pods := func() (out []string) {
			synctest.Wait()
			for e := range state.Pods.In(s.Snapshot().All()).Refs() {
				out = append(out, e.Value.Name)
			}
			return out
		}
		run := func() (end func()) {
			ctx, cancel := context.WithCancel(loop)
			done := make(chan struct{})
			all.Go(func() { defer close(done); defer rt.Attach()(); _ = sub.Run(ctx, rt) })
			synctest.Wait()
			return func() { cancel(); <-done }
		}
		for _, a := range []store.Action{statetest.Session, statetest.Loaded(statetest.K8s("web")), state.BuildStarted{Resource: "web", Serial: 1},
			state.BuildCompleted{Resource: "web", Serial: 1, Deployed: true, Applied: []model.AppliedObject{object("apps", "Deployment", "d", "h")}}} {
			s.Dispatch(a)
		}
		cluster.SetPod(pod("web-1", "h", nil))
		cluster.SetPod(pod("web-2", "h", nil))
		end := run()
		if got := pods(); !slices.Equal(got, []string{"web-1", "web-2"}) {
			t.Errorf("deployed: %q", got)
		}
		end()
		cluster.DeletePod("default", "web-1")
		cluster.SetPod(pod("web-3", "h", nil))
		cluster.SetDown(true)
		end = run()
		defer func() { end() }()
		if got := pods(); !slices.Equal(got, []string{"web-1", "web-2"}) {
			t.Errorf("begun again, and nothing seen yet: %q", got)
		}
		cluster.SetDown(false)
		if got := pods(); !slices.Equal(got, []string{"web-2", "web-3"}) {
			t.Errorf("seen: %q", got)
		}
	})
}

// TestCrashLoopEnds: a crash loop is over once its container has run for long, although the cluster does not report that.
func TestCrashLoopEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, statetest.K8s("web"))
		f.applied("web", object("apps", "Deployment", "d", "h1"))
		p := pod("p", "h1", nil)
		c := &p.Pod.Containers[0]
		c.State, c.Reason, c.Restarts, c.LastReason = model.ContainerWaiting, "CrashLoopBackOff", 2, "Error"
		f.cluster.SetPod(p)
		synctest.Wait()
		p.Pod.Containers = slices.Clone(p.Pod.Containers)
		c = &p.Pod.Containers[0]
		c.State, c.Reason, c.StartedAt, c.Restarts = model.ContainerRunning, "", time.Now(), 3
		f.cluster.SetPod(p)
		for _, step := range []struct {
			wait    time.Duration
			looping bool
		}{{0, true}, {9 * time.Second, true}, {time.Second, false}, {time.Hour, false}} {
			time.Sleep(step.wait)
			synctest.Wait()
			if _, looping := state.Relapse(state.Pods.In(f.View()).Value("uid-p")); looping != step.looping {
				t.Errorf("after %s more: in the loop: %t", step.wait, looping)
			}
		}
	})
}

// runtimeOf returns the runtime state of a resource in v.
func runtimeOf(v store.View, name model.ManifestName) buildcontrol.RuntimeState {
	r := state.Resources.In(v).Value(string(name))
	return buildcontrol.Runtime(v, r.Manifest, state.Updates.In(v).Value(string(name)), state.PodsOf(v, name))
}

// TestWatchesAhead: the watch of the labelled pods begins before the first deploy, goes on after it, and has no dependent resource before.
func TestWatchesAhead(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("web"))).Then(statetest.Connected()...)
	b := newTracker(nil, map[string]state.Pod{})
	watch := scope{namespace: "default", selector: deploy.ManagedSelector}
	before := maps.Clone(b.Wanted(s.View()))
	if users, ok := before[watch]; !ok || len(before) != 1 || len(users) != 0 {
		t.Errorf("before the deploy: %v", before)
	}
	b.Take(watch, k8s.PodEvent{Synced: true})
	s.Then(state.BuildStarted{Resource: "web", Serial: 1}, state.BuildCompleted{Resource: "web", Serial: 1, Deployed: true, Applied: []model.AppliedObject{object("apps", "Deployment", "d", "h")}})
	after := b.Wanted(s.View())
	if len(after) != 1 || !slices.Equal(after[watch], []model.ManifestName{"web"}) || len(b.unsynced) != 0 {
		t.Errorf("after the deploy: %v, not complete yet: %v", after, b.unsynced)
	}
}
