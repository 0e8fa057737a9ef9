package deploy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/pkg/model"
)

// mark adds hone's labels and hashes to u: the identity to the object, the managed-by label and the template hash to
// its pod templates, and finally the hash of the whole object.
func mark(u *unstructured.Unstructured, resource model.ManifestName, by maker) error {
	followSelectors(u.Object)
	for _, t := range podTemplates(u) {
		if err := markTemplate(t); err != nil {
			return err
		}
	}
	labels := map[string]string{LabelManagedBy: ManagedByHone, LabelResource: ResourceLabel(resource)}
	annotations := map[string]string{}
	after := map[string]string{} // the hash: it is the same whoever applies the object
	if by.project != "" {
		labels[LabelProject] = by.project
	}
	if by.set != "" {
		labels[storage.PartOf] = by.set
	}
	if by.project != "" && by.holder != "" {
		after[AnnotationHolder] = by.holder
	}
	if labels[LabelResource] != string(resource) {
		annotations[AnnotationResourceName] = string(resource)
	}
	if isShared(u) {
		labels, after = markShared(by)
		annotations = nil
	}
	if err := setMeta(u.Object, "labels", labels); err != nil {
		return err
	}
	if err := setMeta(u.Object, "annotations", annotations); err != nil {
		return err
	}
	if m := field(u.Object, "metadata", "annotations"); m != nil {
		delete(m, AnnotationAppliedHash)
		delete(m, AnnotationRunID)
		delete(m, AnnotationHolder)
		if len(m) == 0 { // a recorded object had only these
			delete(field(u.Object, "metadata"), "annotations")
		}
	}
	hash, err := canonicalHash(u.Object)
	if err != nil {
		return err
	}
	if err := setMeta(u.Object, "annotations", after); err != nil {
		return err
	}
	return setMeta(u.Object, "annotations", map[string]string{AnnotationAppliedHash: hash})
}

// markTemplate labels a pod template and then adds the hash of the result.
func markTemplate(t map[string]any) error {
	if labels := field(t, "metadata", "labels"); labels != nil {
		delete(labels, LabelTemplateHash)
	}
	if err := setMeta(t, "labels", map[string]string{LabelManagedBy: ManagedByHone}); err != nil {
		return err
	}
	hash, err := canonicalHash(t)
	if err != nil {
		return err
	}
	return setMeta(t, "labels", map[string]string{LabelTemplateHash: hash[:10]})
}

// setMeta adds entries to a string map of the holder's metadata and keeps its other entries.
func setMeta(holder map[string]any, key string, entries map[string]string) error {
	if len(entries) == 0 {
		return nil
	}
	meta, err := ensureMap(holder, "metadata")
	if err != nil {
		return err
	}
	m, err := ensureMap(meta, key)
	if err != nil {
		return fmt.Errorf("metadata.%w", err)
	}
	for k, v := range entries {
		m[k] = v
	}
	return nil
}

// followSelectors rewrites the managed-by label where a selector uses it, so that Services and workloads still find the
// pods whose label mark is about to replace.
func followSelectors(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"selector", "matchLabels"} {
			if m, ok := v[key].(map[string]any); ok {
				if _, ok := m[LabelManagedBy].(string); ok {
					m[LabelManagedBy] = ManagedByHone
				}
			}
		}
		for _, e := range itemsOf(v, "matchExpressions") {
			if text(e, "key") == LabelManagedBy && text(e, "operator") == "In" {
				e["values"] = []any{ManagedByHone}
			}
		}
		for k, item := range v {
			if k != "volumeClaimTemplates" {
				followSelectors(item)
			}
		}
	case []any:
		for _, item := range v {
			followSelectors(item)
		}
	}
}
