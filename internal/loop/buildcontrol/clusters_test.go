package buildcontrol_test

import (
	"testing"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestSeveralClusters: a resource waits for its own cluster only, and for the objects without a workload there.
func TestSeveralClusters(t *testing.T) {
	in := func(on string, m model.Manifest) model.Manifest {
		m.K8s.Cluster = on
		return m
	}
	loaded := statetest.Loaded(statetest.K8s("web"), statetest.K8s("uncategorized"), in("ctx-eu", statetest.K8s("web:eu")), in("ctx-eu", statetest.K8s("uncategorized:eu")))
	loaded.Result.Clusters = []model.ClusterDeclaration{{Name: "eu", Context: "ctx-eu", Namespace: "shop"}}
	answers := func(on string, connected bool) state.ClusterReported {
		return state.ClusterReported{On: on, Cluster: model.Cluster{Context: "c" + on}, Connected: connected, Err: map[bool]string{false: "gone"}[connected]}
	}
	s := statetest.New(statetest.Session, state.TiltfileStarted{}, loaded, state.EngineReported{Connected: true}, answers("", true), answers("ctx-eu", false))
	check := func(what string, starts []string, holds map[model.ManifestName]string) {
		t.Helper()
		plan := buildcontrol.Decide(s.View(), nil)
		got := map[string]bool{}
		for _, c := range plan.Start {
			got[string(c.Name)] = true
		}
		for _, name := range starts {
			if !got[name] {
				t.Errorf("%s: %s does not start: %v", what, name, plan.Holds[model.ManifestName(name)])
			}
		}
		if len(got) != len(starts) {
			t.Errorf("%s: %v start, want %v", what, got, starts)
		}
		for name, want := range holds {
			if hold := plan.Holds[name].String(); hold != want {
				t.Errorf("%s: %s %s, want: %s", what, name, hold, want)
			}
		}
	}
	check("eu does not answer", []string{"uncategorized"}, map[model.ManifestName]string{
		"web": "waits for uncategorized to be applied", "web:eu": "waits for uncategorized:eu to be applied", "uncategorized:eu": "waits for cluster eu to answer"})
	s.Deployed("uncategorized")
	check("one's own objects are applied", []string{"web"}, map[model.ManifestName]string{"web:eu": "waits for uncategorized:eu to be applied"})
	s.Then(answers("", false), answers("ctx-eu", true))
	check("eu answers alone", []string{"uncategorized:eu"}, map[model.ManifestName]string{"web": "waits for the cluster to answer"})
	s.Deployed("uncategorized:eu")
	check("its objects are applied", []string{"web:eu"}, nil)
	if arch := state.NamespaceOn(s.View(), "ctx-eu", "default"); arch != "shop" {
		t.Errorf("objects without a namespace are in %s", arch)
	}
}

// TestServedBySeveral: the declarations are unknown while a cluster that answers has not named its APIs, and only then.
func TestServedBySeveral(t *testing.T) {
	loaded := statetest.Loaded(statetest.K8s("web"))
	loaded.Result.Clusters = []model.ClusterDeclaration{{Name: "eu", Context: "ctx-eu", Namespace: "shop"}}
	loaded.Result.ServedBy = map[string]model.Capabilities{"ctx-eu": {}}
	s := statetest.New(statetest.Session, loaded).Then(statetest.Connected()...)
	unknown := func(what string, want bool) {
		t.Helper()
		if got := state.TheTiltfile(s.View()).Unsaid(s.View()); got != want {
			t.Errorf("%s: unknown %v, want %v", what, got, want)
		}
	}
	unknown("it does not answer", false)
	s.Then(state.ClusterReported{On: "ctx-eu", Connected: true})
	unknown("it answers", true)
	if _, ask := state.TheTiltfile(s.View()).AskAgain(s.View(), "ctx-eu"); !ask {
		t.Error("it is not asked again")
	}
	s.Then(state.ServedReported{On: "ctx-eu", AskedAt: s.Now, Served: model.Capabilities{KubeVersion: "v1.34.4"}})
	if !state.TheTiltfile(s.View()).More {
		t.Error("the Tiltfile is not evaluated again")
	}
}
