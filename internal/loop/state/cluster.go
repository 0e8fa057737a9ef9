package state

import (
	"cmp"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Cluster is an entry of table clusters. The session's own cluster has the id Only, a declared one the id of ClusterID.
type Cluster struct {
	model.Cluster
	// Declared is set for a cluster that the Tiltfile declares beside the session's own.
	Declared bool
	Contact
	// Starting is set while it has never been usable but reports that it may be soon: it is starting or overloaded. The
	// session then waits for it.
	Starting bool
}

// ClusterReported reports which cluster it is, and whether it answers.
type ClusterReported struct {
	// On is the context of a declared cluster, as in model.K8sTarget; empty for the session's own.
	On        string
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

// ClusterLeft reports that a declared cluster is not needed any more.
type ClusterLeft struct{ On string }

// ClusterID returns the id of a cluster in table clusters, given its context, as in model.K8sTarget.
func ClusterID(on string) string {
	if on == "" {
		return Only
	}
	return "context " + on
}

func init() {
	store.On(Clusters, func(d *store.Draft[Cluster], a ClusterReported) {
		id := ClusterID(a.On)
		was := d.Value(id)
		next := Cluster{Cluster: a.Cluster, Declared: a.On != "", Contact: was.reported(a.Connected, a.Err, a.Problem, a.Heard, d.Now()), Starting: a.Starting}
		if d.Ref(id) == nil || was != next {
			d.Put(id, next)
		}
	})
	store.On(Clusters, func(d *store.Draft[Cluster], a ClusterLeft) { d.Delete(ClusterID(a.On)) })
	// An update that cannot reach the cluster notices the outage before ClusterMonitor does, which then checks at once.
	store.On(Clusters, func(d *store.Draft[Cluster], a BuildCompleted) {
		if a.ClusterErr == "" {
			return
		}
		d.Update(ClusterID(a.Cluster), func(c Cluster) Cluster {
			c.Contact = c.missed(a.ClusterErr, d.Now())
			return c
		})
	})
}

// TheCluster returns the session's own cluster in v.
func TheCluster(v store.View) Cluster { return Clusters.In(v).Value(Only) }

// ClusterOn returns a cluster in v by its context, as in model.K8sTarget.
func ClusterOn(v store.View, on string) Cluster { return Clusters.In(v).Value(ClusterID(on)) }

// ClusterOf returns the cluster that a resource is deployed to.
func ClusterOf(v store.View, m model.Manifest) Cluster { return ClusterOn(v, m.Cluster()) }

// ClusterTitle returns the name of a cluster for users: the declared one, or the context.
func ClusterTitle(v store.View, on string) string {
	for _, d := range TheTiltfile(v).Result.Clusters {
		if d.Context == on || d.Own && on == "" {
			return d.Name
		}
	}
	if on != "" {
		return on
	}
	return TheCluster(v).Context
}

// ClusterName is like ClusterTitle, but empty for the session's own cluster.
func ClusterName(v store.View, on string) string {
	if on == "" {
		return ""
	}
	return ClusterTitle(v, on)
}

// NamedCluster is a cluster of a session that works on several. On is its context, as in model.K8sTarget, and Title its name for users.
type NamedCluster struct {
	On, Title string
	Cluster
}

// SeveralClusters returns the clusters of a session that works on more than its own: its own first, then the others by context. It is empty
// for any other session.
func SeveralClusters(v store.View) []NamedCluster {
	declared := DeclaredClusters(v)
	if len(declared) == 0 {
		return nil
	}
	var out []NamedCluster
	for _, on := range append([]string{""}, declared...) {
		c := NamedCluster{on, ClusterTitle(v, on), ClusterOn(v, on)}
		c.Context = cmp.Or(c.Context, on)
		out = append(out, c)
	}
	return out
}

// NamespaceOn returns the namespace for objects that name none in a cluster. own is the one of the session's own cluster.
func NamespaceOn(v store.View, on, own string) string {
	if on == "" {
		return own
	}
	for _, d := range TheTiltfile(v).Result.Clusters {
		if d.Context == on {
			return d.Namespace
		}
	}
	return ClusterOn(v, on).Namespace
}

// DeclaredClusters returns the contexts of the clusters that a session works on beside its own, sorted: the declared ones, and the clusters
// of resources that are about to leave.
func DeclaredClusters(v store.View) []string { return declaredClusters.In(v) }

var declaredClusters = store.Derive(Schema, "declared clusters", func(v store.View) []string {
	var out []string
	for _, d := range TheTiltfile(v).Result.Clusters {
		if !d.Own {
			out = append(out, d.Context)
		}
	}
	for e := range Resources.In(v).Refs() {
		if on := e.Value.Manifest.Cluster(); on != "" {
			out = append(out, on)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}, Tiltfiles, Resources)
