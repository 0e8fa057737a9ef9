package servicewatcher

import (
	"slices"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func service(name, uid, url string) k8s.ServiceEvent {
	return k8s.ServiceEvent{Service: model.Service{Namespace: "default", Name: name, UID: uid, URL: url},
		Labels: map[string]string{deploy.LabelManagedBy: deploy.ManagedByHone}}
}

func deployed(uids ...string) state.BuildCompleted {
	b := state.BuildCompleted{Resource: "web", Serial: 1, Deployed: true}
	for _, uid := range uids {
		b.Applied = append(b.Applied, model.AppliedObject{ObjectID: model.ObjectID{Kind: "Service", Namespace: "default", Name: uid}, UID: uid})
	}
	return b
}

func TestServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := k8stest.New()
		a := statetest.Start(t, New(cluster))
		check := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for e := range state.Services.In(a.View()).Refs() {
				got = append(got, e.ID+" of "+string(e.Value.Resource)+" at "+e.Value.URL)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want, got))
			}
		}
		cluster.SetService(service("web", "u1", ""))
		cluster.SetService(service("foreign", "u2", "http://x"))
		a.Then(statetest.Session, statetest.Loaded(statetest.K8s("web")))
		check("before the deploy")
		a.Then(state.BuildStarted{Resource: "web", Serial: 1}, deployed("u1"))
		check("deployed", "u1 of web at ")
		cluster.SetService(service("web", "u1", "http://10.0.0.1"))
		check("reachable", "u1 of web at http://10.0.0.1")
		cluster.SetService(service("late", "u3", "http://y"))
		a.Then(state.BuildStarted{Resource: "web", Serial: 1}, deployed("u3"))
		check("another one applied", "u3 of web at http://y")
		cluster.DeleteService("default", "late")
		check("deleted")
		e := service("chart", "u4", "http://z")
		e.Labels = nil
		cluster.SetService(e)
		foreign := deployed("u4")
		foreign.Applied[0].Foreign = true
		a.Then(state.BuildStarted{Resource: "web", Serial: 1}, foreign)
		check("applied by a command, without labels", "u4 of web at http://z")
	})
}

func TestWithoutAClusterNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { statetest.Start(t, New(nil)).Then(statetest.Session) })
}
