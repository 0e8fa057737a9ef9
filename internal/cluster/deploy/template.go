package deploy

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/pkg/model"
)

// templatePaths holds the paths of the pod templates in the built-in kinds.
var templatePaths = map[string][]string{
	"Deployment":            {"spec", "template"},
	"ReplicaSet":            {"spec", "template"},
	"StatefulSet":           {"spec", "template"},
	"DaemonSet":             {"spec", "template"},
	"ReplicationController": {"spec", "template"},
	"Job":                   {"spec", "template"},
	"CronJob":               {"spec", "jobTemplate", "spec", "template"},
	"PodTemplate":           {"template"},
}

// podTemplate returns the pod template of a built-in workload, nil for everything else, bare pods included.
func podTemplate(u *unstructured.Unstructured) map[string]any {
	gvk := u.GroupVersionKind()
	path, ok := templatePaths[gvk.Kind]
	if !ok || !model.BuiltinGroup(gvk.Group) {
		return nil
	}
	return field(u.Object, path...)
}

// podTemplates returns every pod template of an object. In kinds that are not built in it returns all maps that look
// like a pod template and declare labels: a schema without labels in its template would reject added ones.
func podTemplates(u *unstructured.Unstructured) []map[string]any {
	if model.BuiltinGroup(u.GroupVersionKind().Group) {
		if t := podTemplate(u); t != nil {
			return []map[string]any{t}
		}
		return nil
	}
	var out []map[string]any
	eachPodHolder(u.Object, func(holder map[string]any, root bool) {
		if !root && field(holder, "metadata", "labels") != nil {
			out = append(out, holder)
		}
	})
	return out
}

// podSpecs returns every pod specification of an object.
func podSpecs(u *unstructured.Unstructured) []map[string]any {
	gvk := u.GroupVersionKind()
	if model.BuiltinGroup(gvk.Group) {
		holder := podTemplate(u)
		if gvk.Kind == "Pod" {
			holder = u.Object
		}
		if spec := field(holder, "spec"); spec != nil {
			return []map[string]any{spec}
		}
		return nil
	}
	var out []map[string]any
	eachPodHolder(u.Object, func(holder map[string]any, _ bool) { out = append(out, field(holder, "spec")) })
	return out
}

// eachPodHolder calls visit, in a fixed order, for every map whose "spec" has a list of containers that are maps.
func eachPodHolder(root map[string]any, visit func(holder map[string]any, root bool)) {
	var walk func(v any, atRoot bool)
	walk = func(v any, atRoot bool) {
		switch v := v.(type) {
		case map[string]any:
			if len(itemsOf(field(v, "spec"), "containers")) > 0 {
				visit(v, atRoot)
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k], false)
			}
		case []any:
			for _, item := range v {
				walk(item, false)
			}
		}
	}
	walk(root, true)
}

// containerLists are the fields of a pod specification that hold containers.
var containerLists = []string{"initContainers", "containers", "ephemeralContainers"}
