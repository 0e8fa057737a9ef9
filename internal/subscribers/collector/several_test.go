package collector

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// on is a resource of one Deployment in a declared cluster.
func on(context, name string) model.Manifest {
	m := statetest.K8s(name)
	m.K8s.Cluster = context
	return m
}

// TestSeveralClusters: each cluster is collected on its own, and holds up only itself. A resource that moves stays where it is until it is
// ready in its new cluster.
func TestSeveralClusters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, eu := &cluster{memory: ledgerWith(t, "old", "web")}, &cluster{memory: ledgerWith(t, "former")}
		var opens atomic.Bool
		s := New(own, nil, nil, statetest.Logs(t), Options{}).With(func(_ context.Context, on string) (Cluster, error) {
			if on != "eu" {
				t.Errorf("it opens %q", on)
			}
			if !opens.Load() {
				return nil, errors.New("no credentials")
			}
			return eu, nil
		})
		a := statetest.Start(t, s)
		loaded := func(manifests ...model.Manifest) state.TiltfileLoaded {
			l := statetest.Loaded(manifests...)
			l.Result.Clusters = []model.ClusterDeclaration{{Name: "europe", Context: "eu", Namespace: "shop"}}
			return l
		}
		check := func(what, inOwn, inEU string, done bool) {
			t.Helper()
			synctest.Wait()
			c := state.TheSession(a.View()).Collection
			if own.log() != inOwn || eu.log() != inEU || c.Done != done {
				t.Errorf("%s: removed %q and %q, want %q and %q; done %v, want %v", what, own.log(), eu.log(), inOwn, inEU, c.Done, done)
			}
		}
		a.Then(statetest.Session, connected(), loaded(statetest.K8s("web")))
		check("nothing is known of the other", "old", "", false)
		a.Then(state.ClusterReported{On: "eu", Err: "no credentials"})
		check("the other cannot be opened", "old", "", true) // one that does not answer does not count
		a.Then(state.ClusterReported{On: "eu", Connected: true})
		opens.Store(true)
		time.Sleep(retry)
		check("it can be opened", "old", "former", true)

		a.Then(loaded(on("eu", "web")))
		check("a resource moves", "old", "former", true)
		a.Then(state.BuildStarted{Resource: "web", Serial: 1}, state.BuildCompleted{Resource: "web", Serial: 1, Cluster: "eu", Deployed: true, Mode: "deploy",
			Applied: []model.AppliedObject{{Cluster: "eu", UID: "d", ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Name: "web"}}}})
		check("it is deployed", "old", "former", true)
		a.Then(state.ResourcesReady{Names: []model.ManifestName{"web"}})
		check("it is ready", "old web", "former", true)

		a.Then(loaded())
		check("it leaves", "old web", "former web", true)
	})
}
