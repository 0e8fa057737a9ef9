package projection

import (
	"iter"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	kindCluster = "Cluster"
	// clusterName is the name of the object for the Kubernetes cluster, and engineName that for the container engine.
	clusterName = "default"
	engineName  = "docker"
)

func cluster() Kind {
	type object = *v1alpha1.Cluster
	return Kind{
		Name:   kindCluster,
		Doc:    "Cluster is where resources are deployed to: default is the session's own Kubernetes cluster, docker the container engine; others have the names of the Tiltfile.",
		Tables: tables(state.Clusters, state.Engines, state.Resources),
		Items: func(v store.View) iter.Seq[Item] {
			s := sourceOf(v)
			var items []Item
			for _, on := range append([]string{""}, state.DeclaredClusters(v)...) {
				if e := state.Clusters.In(v).Ref(state.ClusterID(on)); e != nil {
					made := digest(0).entry(&e.Meta).word(registryWord(s.tiltfile.Value.Result.DefaultRegistry))
					items = append(items, item(s, kindCluster, clusterObject(v, on), made, func() *v1alpha1.Cluster { return makeCluster(s, e) }))
				}
			}
			if e := state.Engines.In(v).Ref(state.Only); e != nil {
				items = append(items, item(s, kindCluster, engineName, digest(0).entry(&e.Meta), func() *v1alpha1.Cluster { return makeEngine(e) }))
			}
			return inOrder(items)
		},
		New: func() Object { return &v1alpha1.Cluster{} },
		Columns: []Column{
			column("Connected", "Whether it responds.", func(o object) any { return o.Status.ConnectedAt != nil }),
			column("Version", "Its version.", func(o object) any { return o.Status.Version }),
			column("Arch", "The architecture of its processors.", func(o object) any { return o.Status.Arch }),
			column("Error", "Why it does not respond.", func(o object) any { return o.Status.Error }),
		},
		Write: readOnly("clusters", "the cluster is chosen when the session begins: hone up --context"),
	}
}

// clusterObject returns the name of the object for a cluster, given its context as in model.K8sTarget.
func clusterObject(v store.View, on string) string {
	switch name := safeName(state.ClusterName(v, on)); name {
	case "":
		return clusterName
	case clusterName, engineName:
		return "cluster-" + name // another object has the name
	default:
		return name
	}
}

// severalClusters reports whether a session works on several clusters.
func severalClusters(v store.View) bool { return len(state.DeclaredClusters(v)) > 0 }

func registryWord(r model.Registry) string {
	return r.Host + "\x00" + r.HostFromCluster + "\x00" + r.SingleName
}

func makeCluster(s *source, e *store.Entry[state.Cluster]) *v1alpha1.Cluster {
	c := &e.Value
	o := &v1alpha1.Cluster{ObjectMeta: metaOf(&e.Meta, nil)}
	o.Spec = v1alpha1.ClusterSpec{DefaultRegistry: registry(s.tiltfile.Value.Result.DefaultRegistry),
		Connection: &v1alpha1.ClusterConnection{Kubernetes: &v1alpha1.KubernetesClusterConnection{Context: c.Context, Namespace: c.Namespace}}}
	o.Status = v1alpha1.ClusterStatus{Arch: c.Arch, Version: c.Version, Error: c.Err, Registry: registry(c.Registry),
		Connection: &v1alpha1.ClusterConnectionStatus{Kubernetes: &v1alpha1.KubernetesClusterConnectionStatus{Context: c.Context,
			Product: string(c.Product), Namespace: c.Namespace, Cluster: c.Name}}}
	if c.Connected {
		o.Status.ConnectedAt = microOrNil(c.Since)
	}
	return o
}

func registry(r model.Registry) *v1alpha1.RegistryHosting {
	if r.Empty() {
		return nil
	}
	return &v1alpha1.RegistryHosting{Host: r.Host, HostFromContainerRuntime: r.HostFromCluster, SingleName: r.SingleName}
}

func makeEngine(e *store.Entry[state.Engine]) *v1alpha1.Cluster {
	x := &e.Value
	o := &v1alpha1.Cluster{ObjectMeta: metaOf(&e.Meta, nil)}
	o.Spec.Connection = &v1alpha1.ClusterConnection{Docker: &v1alpha1.DockerClusterConnection{Host: x.Host}}
	o.Status = v1alpha1.ClusterStatus{Arch: x.Platform, Version: x.Version, Error: x.Err}
	if x.Connected {
		o.Status.ConnectedAt = microOrNil(x.Since)
	}
	return o
}
