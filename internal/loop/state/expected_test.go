package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestExpected(t *testing.T) {
	with := func(name string, objects ...model.K8sObject) model.Manifest {
		m := statetest.K8s(name)
		m.K8s.Objects = objects
		return m
	}
	object := func(apiVersion, kind, namespace string) model.K8sObject {
		return model.K8sObject{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: "x"}
	}
	manual := statetest.K8s("web")
	manual.AutoInit = false
	there := with("web", object("apps/v1", "Deployment", ""))
	there.K8s.Cluster = "eu"
	namespace := object("v1", "Namespace", "")
	namespace.Name = "made"
	cluster := func(connected bool) state.ClusterReported {
		return state.ClusterReported{On: "eu", Cluster: model.Cluster{Context: "eu", Namespace: "shop"}, Connected: connected}
	}
	job := object("batch/v1", "Job", "jobs")
	up := func(loaded state.TiltfileLoaded, then ...store.Action) *statetest.State {
		return statetest.New(statetest.Session, loaded).Then(statetest.Connected()...).Then(then...)
	}
	for _, tc := range []struct {
		name string
		when *statetest.State
		want string
	}{
		{"a Deployment", up(statetest.Loaded(statetest.K8s("web"))), "/default/apps/v1/Deployment"},
		{"once for all of a kind", up(statetest.Loaded(statetest.K8s("web"), with("api", object("apps/v1", "Deployment", "default"), job))),
			"/default/apps/v1/Deployment /jobs/batch/v1/Job"},
		{"deployed", up(statetest.Loaded(statetest.K8s("web"), with("job", job))).Then(
			state.BuildStarted{Resource: "web", Serial: 1},
			state.BuildCompleted{Resource: "web", Serial: 1, Deployed: true, Applied: []model.AppliedObject{{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Name: "web"}, UID: "u"}}}),
			"/jobs/batch/v1/Job"},
		{"only on request", up(statetest.Loaded(manual)), ""},
		{"no pods", up(statetest.Loaded(with("web", object("v1", "ConfigMap", "")))), ""},
		{"a kind that is not built in", up(statetest.Loaded(with("web", object("example.com/v1", "Deployment", "")))), ""},
		{"a namespace of the project", up(statetest.Loaded(with("ns", namespace), with("web", object("v1", "Pod", "made"), job))), "/jobs/batch/v1/Job"},
		{"no cluster", statetest.New(statetest.Loaded(statetest.K8s("web"))), ""},
		{"another cluster", up(statetest.Loaded(there), cluster(true)), "eu/shop/apps/v1/Deployment"},
		{"one that does not answer", up(statetest.Loaded(there), cluster(false)), ""},
		{"not Kubernetes", up(statetest.Loaded(statetest.Local("web"))), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, k := range state.Expected(tc.when.View()).Kinds {
				got = append(got, fmt.Sprintf("%s/%s/%s/%s", k.Cluster, k.Namespace, k.APIVersion, k.Kind))
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// TestExpectedIsKept: a change that concerns no expected kind leaves the set as it is. Subscribers then have nothing to do.
func TestExpectedIsKept(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("api"), statetest.K8s("web"))).Then(statetest.Connected()...)
	before := state.Expected(s.View())
	s.Then(statetest.Change("web", "/src/x")).Deployed("api")
	if after := state.Expected(s.View()); after != before {
		t.Errorf("%v is another set than %v", after, before)
	}
}
