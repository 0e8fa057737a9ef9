package state

import (
	"time"

	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Cluster is the one entry of table clusters.
type Cluster struct {
	model.Cluster
	Connected bool
	// Ever is set once it has answered.
	Ever bool
	// Err is why the cluster does not answer, empty when it does or was not asked yet.
	Err string
	// Since is when Connected or Err last changed.
	Since time.Time
}

// ClusterReported says whether the cluster answers, and what it is.
type ClusterReported struct {
	Cluster   model.Cluster
	Connected bool
	Err       string
}

func init() {
	store.On(Clusters, func(d *store.Draft[Cluster], a ClusterReported) {
		was, ok := d.Get(Only)
		next := Cluster{Cluster: a.Cluster, Connected: a.Connected, Ever: was.Value.Ever || a.Connected, Err: a.Err, Since: d.Now()}
		if ok && was.Value.Connected == next.Connected && was.Value.Err == next.Err {
			next.Since = was.Value.Since
			if was.Value == next {
				return
			}
		}
		d.Put(Only, next)
	})
	// An update that could not reach the cluster tells before ClusterMonitor can, which then asks at once.
	store.On(Clusters, func(d *store.Draft[Cluster], a BuildCompleted) {
		if a.ClusterErr == "" {
			return
		}
		d.Update(Only, func(c Cluster) Cluster {
			if c.Connected {
				c.Connected, c.Err, c.Since = false, a.ClusterErr, d.Now()
			}
			return c
		})
	})
}

// TheCluster returns the cluster as of v.
func TheCluster(v store.View) Cluster { return Clusters.In(v).Value(Only) }
