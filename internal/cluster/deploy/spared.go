package deploy

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// spared says why an object must not be deleted; the outcome is empty when it may.
func (r *deleteRun) spared(ref ObjectRef, live *unstructured.Unstructured) (DeleteOutcome, string) {
	switch project := label(live, LabelProject); {
	case label(live, LabelManagedBy) != ManagedByHone || project == "":
		return OutcomeForeign, "not made by hone"
	case r.req.Project != "" && !r.a.sameProject(project, r.req.Project):
		return OutcomeForeign, "belongs to " + r.a.projectName(project)
	case ref.UID != "" && ref.UID != string(live.GetUID()):
		return OutcomeForeign, "replaced outside of hone"
	}
	if r.req.RunID != "" && annotation(live, AnnotationRunID) != r.req.RunID {
		return OutcomeElsewhere, "another session of the project runs and may need it"
	}
	if annotation(live, AnnotationAdopted) != "" {
		if r.req.KeepAdopted {
			return OutcomeKept, "it was there before hone"
		}
		return "", ""
	}
	if by := keepPolicy(live); by != "" {
		return OutcomeKept, by
	}
	if ref.Kind == "Namespace" && ref.Group == "" && r.req.KeepNamespaces {
		return OutcomeKept, "namespaces are not deleted unasked"
	}
	if strings.HasPrefix(ref.Kind, "PersistentVolume") && ref.Group == "" && r.req.KeepVolumes {
		return OutcomeKept, "volumes are not deleted unasked"
	}
	if _, ok := definedKind(live); ok && r.req.KeepDefinitions {
		return OutcomeKept, "definitions of kinds are not deleted unasked"
	}
	return "", ""
}

// keepPolicy returns the annotation that asks for the object to be kept, empty if none does.
func keepPolicy(live *unstructured.Unstructured) string {
	for _, p := range []struct{ key, value string }{
		{AnnotationDownPolicy, "keep"},
		{AnnotationTiltDownPolicy, "keep"},
		{"helm.sh/resource-policy", "keep"},
		{"config.kubernetes.io/deletion", "detach"},
		{"client.lifecycle.config.k8s.io/deletion", "detach"},
	} {
		if annotation(live, p.key) == p.value {
			return p.key + ": " + p.value
		}
	}
	if strings.Contains(annotation(live, "argocd.argoproj.io/sync-options"), "Prune=false") {
		return "argocd.argoproj.io/sync-options: Prune=false"
	}
	return ""
}
