package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Cluster is the one entry of table clusters.
type Cluster struct {
	model.Cluster
	Contact
	// Starting is set while it has never been usable but reports that it may be soon: it is starting or overloaded. The
	// session then waits for it.
	Starting bool
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
		was := d.Value(Only)
		next := Cluster{Cluster: a.Cluster, Contact: was.reported(a.Connected, a.Err, a.Problem, a.Heard, d.Now()), Starting: a.Starting}
		if d.Ref(Only) == nil || was != next {
			d.Put(Only, next)
		}
	})
	// An update that cannot reach the cluster notices the outage before ClusterMonitor does, which then checks at once.
	store.On(Clusters, func(d *store.Draft[Cluster], a BuildCompleted) {
		if a.ClusterErr == "" {
			return
		}
		d.Update(Only, func(c Cluster) Cluster {
			c.Contact = c.missed(a.ClusterErr, d.Now())
			return c
		})
	})
}

// TheCluster returns the cluster in v.
func TheCluster(v store.View) Cluster { return Clusters.In(v).Value(Only) }
