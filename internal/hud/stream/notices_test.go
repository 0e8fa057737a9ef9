package stream

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
)

// TestNewsOfClusters checks which lines the stream prints about clusters, and that each comes once.
func TestNewsOfClusters(t *testing.T) {
	refused := func(on, err string) store.Action { return state.ClusterReported{On: on, Err: err, Starting: true} }
	loaded := func() state.TiltfileLoaded { return statetest.Loaded(statetest.K8s("near"), statetest.K8s("far")) }
	s := statetest.New(statetest.Session)
	n := newNoticed()
	for _, step := range []struct {
		name string
		then store.Action
		want []string
	}{
		{"its own is starting", refused("", "503"), []string{"Waiting for the cluster: 503"}},
		{"it says so again", refused("", "503"), nil},
		{"it answers", statetest.Connected()[0], nil},
		{"a Tiltfile on one cluster", loaded(), nil},
		{"a Tiltfile on two", statetest.OnEu(loaded(), "far"), []string{"This session works on the clusters hone-dev/default and eu/shop"}},
		{"the other one is starting", refused(statetest.Eu, "no leader"), []string{"Waiting for cluster eu: no leader"}},
		{"it says so again", refused(statetest.Eu, "no leader"), nil},
		{"for another reason", refused(statetest.Eu, "503"), []string{"Waiting for cluster eu: 503"}},
		{"the same Tiltfile", statetest.OnEu(loaded(), "far"), nil},
	} {
		var got []string
		for _, news := range n.news(s.Then(step.then).View()) {
			got = append(got, news.text)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}
