package clustermonitor

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestSeveralClusters: each declared cluster is followed on its own, also one that cannot be opened at first, until it is needed no more.
func TestSeveralClusters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, eu := &client{}, &client{}
		var opens atomic.Bool
		own.set(nil)
		eu.set(nil)
		s := New(own, model.Cluster{Context: "dev"}).With(func(on string) (Client, error) {
			if on != "ctx-eu" {
				t.Errorf("it opens %q", on)
			}
			if !opens.Load() {
				return nil, errors.New("no credentials")
			}
			return eu, nil
		})
		a := statetest.Start(t, s).Then(statetest.Session)
		check := func(what string, own, eu bool, why string) {
			t.Helper()
			synctest.Wait()
			c := state.ClusterOn(a.View(), "ctx-eu")
			if state.TheCluster(a.View()).Connected != own || c.Connected != eu || c.Err != why {
				t.Errorf("%s: own %v, eu %+v", what, state.TheCluster(a.View()).Connected, c)
			}
		}
		check("none is declared", true, false, "")
		loaded := statetest.Loaded(statetest.K8s("web"))
		loaded.Result.Clusters = []model.ClusterDeclaration{{Name: "eu", Context: "ctx-eu"}, {Name: "own", Context: "dev", Own: true}}
		a.Then(loaded)
		check("it cannot be opened", true, false, "no credentials")
		opens.Store(true)
		time.Sleep(pollMin)
		check("it can", true, true, "")
		eu.set(errors.New("gone"))
		time.Sleep(2*pollHealthy + pollAway)
		check("it does not answer", true, false, "gone")
		a.Then(statetest.Loaded(statetest.K8s("web")))
		synctest.Wait()
		if n := state.Clusters.In(a.View()).Len(); n != 1 {
			t.Errorf("%d clusters are left", n)
		}
	})
}
