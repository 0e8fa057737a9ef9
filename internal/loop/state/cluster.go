package state

import (
	"cmp"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Cluster is the one entry of table clusters.
type Cluster struct {
	model.Cluster
	Connected bool
	// Ever is set once it has answered.
	Ever bool
	// Err is why the cluster does not answer, empty when it does or has not been contacted yet.
	Err string
	// Problem is Err in structured form; empty if unknown.
	Problem Problem
	// Since is the time at which Connected or Err last changed.
	Since time.Time
	// Starting is set while it has never been usable but reports that it may be soon: it is starting or overloaded. The
	// session then waits for it.
	Starting bool
	// Lost is the time since which it has not answered, for any reason; zero while it answers, and before it was contacted.
	Lost time.Time
}

// ClusterReported reports which cluster it is, and whether it answers.
type ClusterReported struct {
	Cluster   model.Cluster
	Connected bool
	Err       string
	// Starting is as in Cluster.
	Starting bool
	// Problem is Err in structured form; empty if unknown.
	Problem Problem
	// Heard is the time at which something last arrived from a cluster that no longer answers; zero if that is unknown.
	Heard time.Time
}

func init() {
	store.On(Clusters, func(d *store.Draft[Cluster], a ClusterReported) {
		was, ok := d.Get(Only)
		next := Cluster{Cluster: a.Cluster, Connected: a.Connected, Ever: was.Value.Ever || a.Connected, Err: a.Err, Problem: a.Problem, Starting: a.Starting, Since: d.Now()}
		if ok && was.Value.Connected == next.Connected && was.Value.Err == next.Err {
			next.Since = was.Value.Since
		}
		if next.Lost = lostSince(was.Value.Lost, next.Connected, next.Err, cmp.Or(a.Heard, d.Now())); !ok || was.Value != next {
			d.Put(Only, next)
		}
	})
	// An update that cannot reach the cluster notices the outage before ClusterMonitor does, which then checks at once.
	store.On(Clusters, func(d *store.Draft[Cluster], a BuildCompleted) {
		if a.ClusterErr == "" {
			return
		}
		d.Update(Only, func(c Cluster) Cluster {
			if c.Connected {
				c.Connected, c.Err, c.Problem, c.Since, c.Lost = false, a.ClusterErr, Problem{}, d.Now(), d.Now()
			}
			return c
		})
	})
}

// lostSince returns the time since which the cluster or the engine has not answered, given the value before and the time for a
// new one.
func lostSince(was time.Time, connected bool, err string, at time.Time) time.Time {
	switch {
	case connected || err == "":
		return time.Time{}
	case was.IsZero():
		return at
	}
	return was
}

// TheCluster returns the cluster in v.
func TheCluster(v store.View) Cluster { return Clusters.In(v).Value(Only) }
