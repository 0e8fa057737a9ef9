package k8s

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lacksPods reports whether the status of a StatefulSet, a DaemonSet or a Job that is in progress shows fewer pods than
// Kubernetes should have made by now, or does not concern its newest spec yet. Other workloads have a condition for it.
func lacksPods(u *unstructured.Unstructured) bool {
	count := func(otherwise int64, fields ...string) int64 {
		if n, found, _ := unstructured.NestedInt64(u.Object, fields...); found {
			return n
		}
		return otherwise
	}
	of := func(group, kind string) bool { return u.GroupVersionKind().Group == group && u.GetKind() == kind }
	behind := func() bool { return count(0, "status", "observedGeneration") < u.GetGeneration() }
	switch {
	case of("apps", "StatefulSet"):
		wanted := count(1, "spec", "replicas")
		return wanted > 0 && (behind() || count(0, "status", "replicas") < wanted)
	case of("apps", "DaemonSet"):
		return behind() || count(0, "status", "currentNumberScheduled") < count(0, "status", "desiredNumberScheduled")
	case of("batch", "Job"):
		// One of several is enough: the others follow as pods end.
		suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend")
		return !suspended && count(1, "spec", "parallelism") > 0 && count(0, "status", "active") == 0
	}
	return false
}

// wantsPods returns the number of pods that the spec of a Deployment, a ReplicaSet or a StatefulSet wants; zero for other kinds.
func wantsPods(u *unstructured.Unstructured) int {
	if u.GroupVersionKind().Group != "apps" || !slices.Contains([]string{"Deployment", "ReplicaSet", "StatefulSet"}, u.GetKind()) {
		return 0
	}
	if n, found, _ := unstructured.NestedInt64(u.Object, "spec", "replicas"); found {
		return int(n)
	}
	return 1
}

// changedAt returns when the object was last written, except for its status. All times are the API server's.
func changedAt(u *unstructured.Unstructured) time.Time {
	at := u.GetCreationTimestamp().Time
	for _, m := range u.GetManagedFields() {
		if m.Time != nil && m.Subresource != "status" {
			at = later(at, m.Time.Time)
		}
	}
	return at
}
