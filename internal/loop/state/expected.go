package state

import (
	"cmp"
	"slices"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// WorkloadKind is a kind of workload in a namespace of a cluster.
type WorkloadKind struct {
	// Cluster is the context of the cluster, as in model.K8sTarget.
	Cluster, Namespace string
	APIVersion, Kind   string
}

// ExpectedSet has the kinds of workloads that resources will apply, in order. Nothing in it must be changed.
type ExpectedSet struct{ Kinds []WorkloadKind }

// Expected returns the kinds of workloads that resources will apply on their own, and have not applied yet, in clusters that answer. The
// watches for them begin before the objects are there, and not only afterwards: three round trips of any start, and half of the time that
// ten new Deployments took to be ready. It is the same pointer as in the view before unless something has changed that it depends on.
func Expected(v store.View) *ExpectedSet { return expected.In(v).set }

// expectedIn is the set of some rows.
type expectedIn struct {
	rows expectedFrom
	set  *ExpectedSet
}

// expectedFrom identifies the rows that the set depends on.
type expectedFrom struct {
	applied                       *AppliedSet
	resources, clusters, tiltfile uint64
}

var expected = store.DeriveFrom(Schema, "expected workloads", func(v store.View, before *expectedIn) expectedIn {
	rows := expectedFrom{Applied(v), v.Version(Resources.Name()), v.Version(Clusters.Name()), v.Version(Tiltfiles.Name())}
	if before != nil && rows == before.rows {
		return *before
	}
	set := &ExpectedSet{expectedKinds(v, rows.applied)}
	if before != nil && slices.Equal(set.Kinds, before.set.Kinds) {
		set = before.set
	}
	return expectedIn{rows, set}
}, applied, Resources, Clusters, Tiltfiles)

// expectedKinds finds the expected kinds. A namespace that the project makes itself does not count: before it is there, the cluster may
// refuse to let it be watched.
func expectedKinds(v store.View, applied *AppliedSet) (kinds []WorkloadKind) {
	done := map[model.ManifestName]bool{}
	for _, by := range applied.Of {
		done[by.Resource] = true
	}
	found, made := map[WorkloadKind]bool{}, map[WorkloadKind]bool{}
	for e := range Enabled(v) {
		m := e.Value.Manifest
		if done[m.Name] || !m.IsK8s() {
			continue
		}
		if !ClusterOf(v, m).Connected {
			continue
		}
		own := NamespaceOn(v, m.Cluster(), TheCluster(v).Namespace)
		for _, o := range m.K8s.Objects {
			switch {
			case o.Kind == "Namespace":
				made[WorkloadKind{Cluster: m.Cluster(), Namespace: o.Name}] = true
			case m.AutoInit && expectable[o.Group()+"/"+o.Kind]:
				k := WorkloadKind{m.Cluster(), o.Namespace, o.APIVersion, o.Kind}
				if k.Namespace == "" {
					k.Namespace = own
				}
				found[k] = true
			}
		}
	}
	for k := range found {
		if !made[WorkloadKind{Cluster: k.Cluster, Namespace: k.Namespace}] {
			kinds = append(kinds, k)
		}
	}
	slices.SortFunc(kinds, func(a, b WorkloadKind) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind))
	})
	return kinds
}

// expectable are the workloads that every cluster knows, by group and kind. A watch of another kind may fail until the kind is defined.
var expectable = map[string]bool{"/Pod": true, "apps/Deployment": true, "apps/StatefulSet": true, "apps/DaemonSet": true, "apps/ReplicaSet": true, "batch/Job": true}
