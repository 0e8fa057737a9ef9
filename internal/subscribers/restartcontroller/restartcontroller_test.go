package restartcontroller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine records the restarts in containers.
type engine struct {
	mu   sync.Mutex
	did  []string
	fail map[string]error
	hang string // the restart that does not end before its context does
}

func (e *engine) note(ctx context.Context, what string) error {
	e.mu.Lock()
	e.did = append(e.did, what)
	err, hang := e.fail[what], e.hang == what
	e.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

func (e *engine) Restart(ctx context.Context, c model.ContainerRef, _ logstore.Logger) error {
	return e.note(ctx, "process "+c.Pod+"/"+c.Name)
}

func (e *engine) RestartContainer(ctx context.Context, id string, gently bool) error {
	return e.note(ctx, fmt.Sprintf("container %s, gently %t", id, gently))
}

// pods is a cluster that may not answer to the deletion of a pod.
type pods struct {
	*k8stest.Fake
	hang string
}

// RemovePod implements Pods.
func (p *pods) RemovePod(ctx context.Context, req k8s.RemovePodRequest) error {
	if req.Name == p.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return p.Fake.RemovePod(ctx, req)
}

// fixture is a RestartController at work in a session with a service of Compose, and a Deployment with two supervised pods, a
// pod of an earlier deploy, one that has run to completion, and one that only its labels connect with the resource.
type fixture struct {
	*statetest.Alone
	engine  *engine
	cluster *pods
	logs    *logstore.Store
}

func start(t *testing.T) *fixture {
	f := &fixture{engine: &engine{fail: map[string]error{}}, cluster: &pods{Fake: k8stest.New()}, logs: statetest.Logs(t)}
	t.Cleanup(func() { _ = f.cluster.Close() })
	f.Alone = statetest.Start(t, New(f.cluster, f.engine, f.engine, f.logs))
	db := model.Manifest{Name: "db", AutoInit: true, Compose: &model.ComposeTarget{Service: "db"}}
	f.Then(statetest.Session, statetest.Loaded(statetest.K8s("web"), statetest.K8s("bare"), statetest.Local("gen"), db))
	for name, uid := range map[model.ManifestName]string{"web": "deployment", "bare": "uid-bare-1", "db": "db"} {
		f.Then(state.BuildStarted{Resource: name, Serial: 1}, state.BuildCompleted{Resource: name, Serial: 1, Deployed: true,
			Applied: []model.AppliedObject{{UID: uid}}})
	}
	set := k8s.OwnerRef{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "set", Controller: true}
	f.cluster.SetOwner(set, "deployment")
	f.cluster.SetOwner(k8s.OwnerRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "deployment"}, "")
	foreign := k8s.OwnerRef{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "other", UID: "other", Controller: true}
	f.cluster.SetOwner(foreign, "")
	f.pod("web", "web-1", set, nil)
	f.pod("web", "web-2", set, nil)
	f.pod("web", "old", set, func(p *state.Pod) { p.Current = false })
	f.pod("web", "done", set, func(p *state.Pod) { p.Phase = "Succeeded" })
	f.pod("web", "selected", foreign, func(p *state.Pod) { p.Selected = true })
	f.pod("web", "mistaken", foreign, nil)
	f.pod("bare", "bare-1", k8s.OwnerRef{}, nil)
	f.pod("db", "db-1", k8s.OwnerRef{}, func(p *state.Pod) { p.Engine, p.Containers[0].Runtime = "running", "docker" })
	return f
}

func (f *fixture) pod(resource, name string, owner k8s.OwnerRef, change func(*state.Pod)) {
	e := k8stest.RunningPod("default", name)
	if owner.UID != "" {
		e.Owners = []k8s.OwnerRef{owner}
	}
	e.Pod.Resource = model.ManifestName(resource)
	p := state.Pod{Pod: e.Pod, Current: true}
	p.Containers = slices.Clone(p.Containers)
	if change != nil {
		change(&p)
	}
	f.cluster.SetPod(e)
	f.Then(state.PodChanged{Pod: p}, state.SyncletChanged{ID: p.Containers[0].ID, Synclet: state.Synclet{Resource: p.Resource,
		Supervised: strings.HasPrefix(name, "web-"), Running: true}})
}

// restarts requests a restart and returns its end.
func (f *fixture) restarts(resource string, pods bool) state.Restart {
	f.Then(state.ResourcesRestarted{Names: []model.ManifestName{model.ManifestName(resource)}, Pods: pods})
	return f.of(resource)
}

func (f *fixture) of(resource string) state.Restart {
	r := state.Restarts.In(f.View()).Value(resource)
	slices.Sort(r.Done)
	return r
}

// left returns the pods that are still there.
func (f *fixture) left(t *testing.T) (names []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	_ = f.cluster.WatchPods(ctx, k8s.WatchRequest{}, func(e k8s.PodEvent) {
		if e.Synced {
			cancel()
		} else {
			names = append(names, e.Pod.Name)
		}
	})
	slices.Sort(names)
	return names
}

func TestRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		defer f.Stop()
		if r := f.restarts("web", false); r.Running() || r.Err != "" || !slices.Equal(r.Done, []string{"process in main of pod web-1", "process in main of pod web-2"}) {
			t.Errorf("processes: %+v", r)
		}
		if r := f.restarts("db", true); r.Running() || r.Err != "" || !slices.Equal(r.Done, []string{"container db-1"}) {
			t.Errorf("Compose: %+v", r)
		}
		slices.Sort(f.engine.did)
		if diff := cmp.Diff([]string{"container uid-db-1, gently true", "process web-1/main", "process web-2/main"}, f.engine.did); diff != "" {
			t.Errorf("restarted (-want +got):\n%s", diff)
		}
		r := f.restarts("web", true)
		if r.Running() || !strings.Contains(r.Err, "restart pod mistaken: delete pod mistaken: it belongs to none of the objects") ||
			!slices.Equal(r.Done, []string{"pod web-1", "pod web-2"}) {
			t.Errorf("pods: %+v", r)
		}
		if r := f.restarts("bare", true); r.Err != "" || !slices.Equal(r.Done, []string{"pod bare-1"}) {
			t.Errorf("a pod without a controller: %+v", r)
		}
		if state.Updates.In(f.View()).Value("bare").Lost == nil {
			t.Error("nothing applies the pod without a controller again")
		}
		if state.Updates.In(f.View()).Value("web").Lost != nil {
			t.Error("pods that their controller replaces count as lost")
		}
		if diff := cmp.Diff([]string{"db-1", "done", "mistaken", "old", "selected"}, f.left(t)); diff != "" {
			t.Errorf("pods that are left (-want +got):\n%s", diff)
		}
		if r := f.restarts("bare", true); r.Err != "" || len(r.Done) > 0 { // the pod is gone from the cluster, not from the store yet
			t.Errorf("a pod that is gone: %+v", r)
		}
		if r := f.restarts("gen", false); !r.Running() || slices.ContainsFunc(statetest.Texts(f.logs, "gen"), func(string) bool { return true }) {
			t.Errorf("a local resource is not this subscriber's: %+v", r)
		}
	})
}

func TestAFailedRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		defer f.Stop()
		f.engine.fail["process web-1/main"] = errors.New("no supervisor")
		r := f.restarts("web", false)
		if r.Running() || r.Err != "restart process in main of pod web-1: no supervisor" || !slices.Equal(r.Done, []string{"process in main of pod web-2"}) {
			t.Errorf("%+v", r)
		}
		if texts := statetest.Texts(f.logs, "web"); !slices.Contains(texts, "Restart failed: "+r.Err) {
			t.Errorf("the log: %q", texts)
		}
		f.Then(state.PodGone{Pod: model.Pod{UID: "uid-web-1"}}, state.PodGone{Pod: model.Pod{UID: "uid-web-2"}})
		if r := f.restarts("web", false); r.Err != "nothing was left to restart" {
			t.Errorf("without pods: %+v", r)
		}
	})
}

// TestAHangingRestart ends one that takes too long, and one that a newer restart overtakes.
func TestAHangingRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		defer f.Stop()
		f.engine.hang = "process web-1/main"
		if r := f.restarts("web", false); !r.Running() {
			t.Errorf("%+v", r)
		}
		r := f.restarts("web", true)
		if r.Running() || r.Serial != 2 || len(r.Done) != 2 {
			t.Errorf("the newer restart: %+v", r)
		}
		f.pod("web", "web-1", k8s.OwnerRef{}, nil)
		if r := f.restarts("web", false); !r.Running() {
			t.Errorf("%+v", r)
		}
		<-time.After(limit)
		synctest.Wait()
		if r := f.of("web"); r.Err != "restart process in main of pod web-1: no answer within 45s" {
			t.Errorf("%+v", r)
		}
		f.engine.hang = "container uid-db-1, gently true"
		f.restarts("db", true)
		<-time.After(liveupdate.QuietAfter)
		synctest.Wait()
		if texts := statetest.Texts(f.logs, "db"); !strings.Contains(strings.Join(texts, "\n"), "Nothing has come from this step for 3s: restart db-1") {
			t.Errorf("the log: %q", texts)
		}
		f.cluster.hang = "bare-1"
		f.restarts("bare", true)
		<-time.After(logstore.SayAfter)
		synctest.Wait()
		if texts := statetest.Texts(f.logs, "bare"); !strings.Contains(strings.Join(texts, "\n"), "Waiting for the cluster to delete pod bare-1…") {
			t.Errorf("the log: %q", texts)
		}
	})
}
