package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

func TestClusters(t *testing.T) {
	one := statetest.New(statetest.Session).Then(statetest.Connected()...).Then(state.TiltfileStarted{}, statetest.Loaded(statetest.K8s("near"), statetest.K8s("far"), statetest.Local("gen")))
	clusters := func(s *statetest.State) map[string]string {
		out := map[string]string{}
		for _, r := range Rows(s.View()) {
			out[r.Name] = r.Cluster
		}
		return out
	}
	if got := Session(one.View(), "1").Clusters; got != nil {
		t.Errorf("one cluster: %+v", got)
	}
	if diff := cmp.Diff(map[string]string{"(Tiltfile)": "", "near": "", "far": "", "gen": ""}, clusters(one)); diff != "" {
		t.Errorf("one cluster (-want +got):\n%s", diff)
	}
	l := statetest.OnEu(statetest.Loaded(statetest.K8s("near"), statetest.K8s("far"), statetest.Local("gen")), "far")
	own := api.Cluster{Name: "hone-dev", Context: "hone-dev", Namespace: "default", Connected: true, Needed: true}
	eu := api.Cluster{Name: "eu", Context: statetest.Eu, Namespace: "shop", Needed: true}
	away := eu
	away.Error = "connection refused"
	starting := away
	starting.Starting = true
	s := one.Then(state.TiltfileStarted{}, l)
	for _, step := range []struct {
		name string
		then state.ClusterReported
		want api.Cluster
	}{
		{"not asked yet", state.ClusterReported{Cluster: model.Cluster{Context: "hone-dev", Namespace: "default"}, Connected: true}, eu},
		{"it is starting", state.ClusterReported{On: statetest.Eu, Err: "connection refused", Starting: true}, starting},
		{"it is away", state.ClusterReported{On: statetest.Eu, Err: "connection refused"}, away},
	} {
		s = s.Then(step.then)
		if diff := cmp.Diff([]api.Cluster{own, step.want}, Session(s.View(), "1").Clusters); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	if diff := cmp.Diff(map[string]string{"(Tiltfile)": "", "near": "hone-dev", "far": "eu", "gen": ""}, clusters(s)); diff != "" {
		t.Errorf("two clusters (-want +got):\n%s", diff)
	}
}
