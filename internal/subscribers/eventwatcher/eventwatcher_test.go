package eventwatcher

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/buildcontrol"
	"github.com/hone-dev/hone/internal/k8s"
	"github.com/hone-dev/hone/internal/k8s/k8stest"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/state/statetest"
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
	news, told := thinning{}, []int{}
	for count := 1; count <= 20; count++ {
		if news.pass(k8s.KubeEvent{UID: "back-off", Count: count}) {
			told = append(told, count)
		}
	}
	if diff := cmp.Diff([]int{1, 2, 4, 8, 16}, told); diff != "" {
		t.Errorf("told at (-want +got):\n%s", diff)
	}
	if !news.pass(k8s.KubeEvent{UID: "another", Count: 1}) {
		t.Error("another event is news")
	}
}

func TestWithoutAClusterNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { statetest.Start(t, New(nil, nil)).Then(statetest.Session) })
}

// TestWatchesThatDoNotWork writes into the logs of whom it concerns that a watch does not work, and that it does again.
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
			t.Errorf("said to one that has no objects: %q", idle)
		}
		if r := buildcontrol.RuntimeOf(a.View(), "web"); r.Status == buildcontrol.RuntimeError {
			t.Errorf("an error for want of events: %+v", r)
		}
	})
}
