package sessioncontroller

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a SessionController at work.
type fixture struct {
	*statetest.Alone
	t    *testing.T
	logs *logstore.Store
}

func start(t *testing.T, s state.Session) *fixture {
	s.Tiltfile = "/src/Tiltfile"
	f := &fixture{t: t, logs: statetest.Logs(t)}
	f.Alone = statetest.Start(t, New(s, f.logs))
	synctest.Wait()
	f.Then(state.CollectionReported{Local: true}, state.ClusterReported{})
	return f
}

// goes checks that the session continues.
func (f *fixture) goes(when string) {
	f.t.Helper()
	synctest.Wait()
	if e := state.TheSession(f.View()).Ended; e != nil {
		f.t.Fatalf("%s: the session has ended: %q", when, e.Failure)
	}
}

// ends checks that the session has ended with a failure that holds the given text; "" stands for success.
func (f *fixture) ends(when, failure string) {
	f.t.Helper()
	time.Sleep(time.Millisecond) // the store's stamps run a few ns ahead of a clock that stands still
	synctest.Wait()
	e := state.TheSession(f.View()).Ended
	switch {
	case e == nil:
		f.t.Errorf("%s: the session has not ended", when)
	case failure == "" && e.Failure != "" || !strings.Contains(e.Failure, failure):
		f.t.Errorf("%s: the session has ended with %q, want %q", when, e.Failure, failure)
	case !f.Ended():
		f.t.Errorf("%s: the subscriber keeps running", when)
	}
}

// built says that a resource was built: successfully, if failure is empty.
func (f *fixture) built(name, failure string) {
	u := state.Updates.In(f.View()).Value(name)
	done := state.BuildCompleted{Resource: model.ManifestName(name), Serial: u.Serial + 1, At: time.Now(), Err: failure, Deployed: failure == ""}
	if state.Resources.In(f.View()).Value(name).Manifest.IsK8s() && failure == "" {
		id := model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: name}
		if state.Resources.In(f.View()).Value(name).Manifest.K8s.PodReadiness == model.PodSucceeded {
			id.Group, id.Kind = "batch", "Job"
		}
		done.Applied = []model.AppliedObject{{ObjectID: id, UID: "uid-" + name}}
	}
	f.Then(state.BuildStarted{Resource: model.ManifestName(name), Serial: u.Serial + 1, At: f.Store.Snapshot().At}, done)
}

// loaded is a Tiltfile with settings for ci.
func loaded(ci model.CISettings, manifests ...model.Manifest) state.TiltfileLoaded {
	l := statetest.Loaded(manifests...)
	l.Result.CI = ci
	return l
}

func crashing(pod string) state.PodChanged {
	p := statetest.Pod("web", pod, "c", "i")
	p.Pod.Ready = false
	p.Pod.Containers[0].State, p.Pod.Containers[0].Reason = model.ContainerWaiting, "CrashLoopBackOff"
	return p
}

// exited is a supervised process that has ended, and is tried again after a while.
func exited(again time.Duration) state.SyncletChanged {
	return state.SyncletChanged{ID: "c", Synclet: state.Synclet{Resource: "web", Container: "main", Supervised: true, ExitCode: 3, Again: again}}
}

// attempt is a pod of a job.
func attempt(pod, phase string) state.PodChanged {
	p := statetest.Pod("web", pod, "c-"+pod, "i")
	p.Pod.Ready, p.Pod.Phase, p.Pod.Status, p.Pod.Owner, p.Pod.CreatedAt = false, phase, phase, "uid-web", time.Now()
	return p
}

// jobSays is the status of the job in Kubernetes.
func jobSays(health, message string) state.ObjectsChanged {
	return state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: model.ObjectID{Group: "batch", Kind: "Job", Namespace: "default", Name: "web"},
		UID: "uid-web", Resource: "web", Health: health, Message: message}}}
}

// serving is the status of the server of srv, which has just started.
func serving(is state.ProcessState, ready bool) state.ProcessChanged {
	return state.ProcessChanged{Process: state.Process{Resource: "srv", State: is, Ready: ready, Build: 1, StartedAt: time.Now()}}
}

func connected() []store.Action {
	return []store.Action{state.ClusterReported{Connected: true}, state.EngineReported{Connected: true}}
}
