package projection

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// severalSession has the resource near on its own cluster, and far on the cluster eu, which does not answer.
func severalSession(name string) store.View {
	l := statetest.OnEu(statetest.Loaded(statetest.K8s("near"), statetest.K8s("far"), statetest.Local("gen")), "far")
	l.Result.Clusters[0].Name = name
	pod := statetest.Pod("far", "web-1", "c1", "web:1")
	pod.Pod.Cluster, pod.Pod.Namespace = statetest.Eu, "shop"
	return statetest.New(sessionStarted()).Then(statetest.Connected()...).Then(state.TiltfileStarted{}, l,
		state.ClusterReported{On: statetest.Eu, Cluster: model.Cluster{Context: statetest.Eu, Namespace: "shop"}, Err: "connection refused"}, pod).View()
}

// objectsOf returns the objects of a kind by their names.
func objectsOf(v store.View, kind string) map[string]Object {
	out := map[string]Object{}
	for _, k := range All() {
		if k.Name == kind {
			for it := range k.Items(v) {
				out[it.Name] = it.Make()
			}
		}
	}
	return out
}

func TestSeveralClusters(t *testing.T) {
	for name, want := range map[string]string{"eu": "eu", "default": "cluster-default", "docker": "cluster-docker"} {
		v := severalSession(name)
		clusters := objectsOf(v, kindCluster)
		if len(clusters) != 3 || clusters[want] == nil {
			t.Fatalf("%s: clusters %v", name, clusters)
		}
		own, far := clusters[clusterName].(*v1alpha1.Cluster), clusters[want].(*v1alpha1.Cluster)
		if own.Status.Error != "" || own.Status.ConnectedAt == nil || far.Status.Error != "connection refused" || far.Spec.Connection.Kubernetes.Context != statetest.Eu {
			t.Errorf("%s: own %+v, far %+v", name, own.Status, far.Status)
		}
		resources := objectsOf(v, kindUIResource)
		of := func(resource string) *v1alpha1.UIResource { return resources[resource].(*v1alpha1.UIResource) }
		waits := of("far").Status.Waiting
		got := []string{objectsOf(v, kindApply)["near"].(*v1alpha1.KubernetesApply).Spec.Cluster, objectsOf(v, kindApply)["far"].(*v1alpha1.KubernetesApply).Spec.Cluster,
			objectsOf(v, kindDiscovery)["far"].(*v1alpha1.KubernetesDiscovery).Spec.Cluster,
			of("near").Status.K8sResourceInfo.Cluster, of("far").Status.K8sResourceInfo.Cluster, waits.Reason, waits.On[0].Name}
		for pod, o := range objectsOf(v, "PodLogStream") {
			got = append(got, pod, o.(*v1alpha1.PodLogStream).Spec.Cluster)
		}
		if diff := cmp.Diff([]string{"default", want, want, "default", want, "waiting-for-cluster", want, want + "-shop-web-1", want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestClusterColumn checks that a session on one cluster has no column for it.
func TestClusterColumn(t *testing.T) {
	columns := func(v store.View) (names []string) {
		for _, c := range uiResource().Columns {
			if c.Shown == nil || c.Shown(v) {
				names = append(names, c.Name)
			}
		}
		return names
	}
	one, several := columns(shop().View()), columns(severalSession("eu"))
	if diff := cmp.Diff(append([]string{"Cluster"}, one...), several); diff != "" || slices.Contains(one, "Cluster") {
		t.Errorf("one %v (-want +got):\n%s", one, diff)
	}
}
