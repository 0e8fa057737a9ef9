package k8s

import (
	"fmt"
	"slices"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// computed returns kstatus' status of an object. For kstatus, a StatefulSet whose update strategy is OnDelete is complete whatever its
// pods are. It is computed as a rolling update of all pods, which is under way until the user has deleted each pod of an earlier template.
func computed(u *unstructured.Unstructured) (*status.Result, error) {
	if !byDeletion(u) {
		return status.Compute(u)
	}
	u = u.DeepCopy()
	rolling := map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"partition": int64(0)}}
	if err := unstructured.SetNestedMap(u.Object, rolling, "spec", "updateStrategy"); err != nil {
		return nil, fmt.Errorf("read its update strategy: %w", err)
	}
	r, err := status.Compute(u)
	if err == nil && slices.ContainsFunc(r.Conditions, func(c status.Condition) bool { return c.Reason == "PartitionRollout" }) {
		r.Message += "; its update strategy is OnDelete: delete the outdated pods"
	}
	return r, err
}

// byDeletion reports whether an object is a StatefulSet that replaces a pod of an earlier template only once it is deleted.
func byDeletion(u *unstructured.Unstructured) bool {
	gvk := u.GroupVersionKind()
	how, _, _ := unstructured.NestedString(u.Object, "spec", "updateStrategy", "type")
	return gvk.Group == "apps" && gvk.Kind == "StatefulSet" && how == "OnDelete"
}
