package k8s

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestPodsMissingSince: for the kinds that have no condition for refused pods, the status shows that pods are missing, and the
// metadata since when they are wanted.
func TestPodsMissingSince(t *testing.T) {
	const (
		never   = ""
		made    = "2026-01-01T00:00:00Z"
		written = "2026-01-01T00:01:00Z"
	)
	meta := "metadata: {generation: 2, creationTimestamp: " + made + ", managedFields: [{manager: hone, operation: Apply, time: " + written +
		"}, {manager: kube-controller-manager, operation: Update, subresource: status, time: 2026-01-01T00:02:00Z}]}"
	for _, tc := range []struct{ name, object, want string }{
		{"a stateful set without pods", `{apiVersion: apps/v1, kind: StatefulSet, META, spec: {replicas: 1}, status: {observedGeneration: 2, replicas: 0}}`, written},
		{"one that wants one by default", `{apiVersion: apps/v1, kind: StatefulSet, META, spec: {}, status: {observedGeneration: 2}}`, written},
		{"one with too few", `{apiVersion: apps/v1, kind: StatefulSet, META, spec: {replicas: 3}, status: {observedGeneration: 2, replicas: 2}}`, written},
		{"one with all of them, which are not ready", `{apiVersion: apps/v1, kind: StatefulSet, META, spec: {replicas: 3}, status: {observedGeneration: 2, replicas: 3}}`, never},
		{"one whose status is older than its spec", `{apiVersion: apps/v1, kind: StatefulSet, META, spec: {replicas: 3}, status: {observedGeneration: 1, replicas: 3}}`, written},
		{"one that wants none", `{apiVersion: apps/v1, kind: StatefulSet, META, spec: {replicas: 0}, status: {observedGeneration: 1, replicas: 0}}`, never},
		{"a daemon set without pods", `{apiVersion: apps/v1, kind: DaemonSet, META, status: {observedGeneration: 2, desiredNumberScheduled: 1, currentNumberScheduled: 0}}`, written},
		{"one that is new", `{apiVersion: apps/v1, kind: DaemonSet, metadata: {generation: 1, creationTimestamp: ` + made + `}, status: {}}`, made},
		{"one on all nodes", `{apiVersion: apps/v1, kind: DaemonSet, META, status: {observedGeneration: 2, desiredNumberScheduled: 1, currentNumberScheduled: 1, numberReady: 0}}`, never},
		{"a job without pods", `{apiVersion: batch/v1, kind: Job, META, status: {}}`, written},
		{"one whose next try is missing", `{apiVersion: batch/v1, kind: Job, META, status: {failed: 1}}`, written},
		{"one that runs", `{apiVersion: batch/v1, kind: Job, META, spec: {parallelism: 2}, status: {active: 1}}`, never},
		{"one that is complete", `{apiVersion: batch/v1, kind: Job, META, status: {succeeded: 1, conditions: [{type: Complete, status: "True"}]}}`, never},
		{"one that is suspended", `{apiVersion: batch/v1, kind: Job, META, spec: {suspend: true}, status: {}}`, never},
		{"one without parallelism", `{apiVersion: batch/v1, kind: Job, META, spec: {parallelism: 0}, status: {}}`, never},
		{"a deployment, which says so itself", `{apiVersion: apps/v1, kind: Deployment, META, spec: {replicas: 1}, status: {observedGeneration: 2}}`, never},
		{"a kind of another group", `{apiVersion: example.com/v1, kind: StatefulSet, META, spec: {replicas: 1}, status: {}}`, never},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body, err := yaml.YAMLToJSON([]byte(strings.Replace(tc.object, "META", meta, 1)))
			if err != nil {
				t.Fatal(err)
			}
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(body); err != nil {
				t.Fatal(err)
			}
			got := ""
			if s := ObjectEventFrom(u).Status; !s.PodsMissingSince.IsZero() {
				got = s.PodsMissingSince.UTC().Format(time.RFC3339)
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestWantedPods checks how many pods a workload wants.
func TestWantedPods(t *testing.T) {
	for object, want := range map[string]int{
		`{"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 3}}`:           3,
		`{"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {}}`:                       1,
		`{"apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": {"replicas": 0}}`:           0,
		`{"apiVersion": "apps/v1", "kind": "DaemonSet", "spec": {}}`:                         0,
		`{"apiVersion": "example.com/v1", "kind": "Deployment", "spec": {"replicas": 3}}`:    0,
		`{"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "x"}}`: 0,
	} {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(object)); err != nil {
			t.Fatal(err)
		}
		if got := ObjectEventFrom(u).Status.Pods; got != want {
			t.Errorf("%s wants %d pods, not %d", object, got, want)
		}
	}
}
