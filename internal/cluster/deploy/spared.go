package deploy

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/pkg/model"
)

// spared returns why an object must not be deleted. The outcome is empty if it may be deleted.
func (r *deleteRun) spared(ref ObjectRef, live *unstructured.Unstructured) (DeleteOutcome, string) {
	switch project := label(live, LabelProject); {
	case r.a.heldElsewhere(r.req.Project, live) != "":
		return OutcomeForeign, "it was deployed by " + r.a.heldElsewhere(r.req.Project, live) + " (HONE_HOLDER)"
	case len(sharersOf(live)) > 0 && r.a.sharer(r.req.Project, live) == "":
		return OutcomeForeign, r.a.foreignTo(live)
	case len(sharersOf(live)) > 0 && (ref.UID == "" || ref.UID == string(live.GetUID())):
		if r.req.KeepAdopted {
			return OutcomeKept, "it is shared"
		}
		return r.keptByPolicy(ref, live)
	case removedLabel(live) != "":
		return OutcomeForeign, r.a.foreignTo(live)
	case label(live, LabelManagedBy) != ManagedByHone || project == "":
		return OutcomeForeign, "not made by hone"
	case r.req.Project != "" && !r.a.sameProject(project, r.req.Project):
		return OutcomeForeign, "belongs to " + r.a.projectName(project)
	case ref.UID != "" && ref.UID != string(live.GetUID()):
		return OutcomeForeign, "replaced outside of hone"
	}
	if r.req.RunID != "" && annotation(live, AnnotationRunID) != r.req.RunID {
		return OutcomeElsewhere, "another running session of the project may need it"
	}
	if annotation(live, AnnotationAdopted) != "" {
		if r.req.KeepAdopted {
			return OutcomeKept, "it existed before hone"
		}
		return "", ""
	}
	return r.keptByPolicy(ref, live)
}

// keptByPolicy returns the reason why an object of the project stays, by its own annotations or by the request.
func (r *deleteRun) keptByPolicy(ref ObjectRef, live *unstructured.Unstructured) (DeleteOutcome, string) {
	if by := r.onRemove(live); by != "" {
		return OutcomeKept, by
	}
	if by := keepPolicy(live); by != "" {
		return OutcomeKept, by
	}
	if ref.Kind == "Namespace" && ref.Group == "" && r.req.KeepNamespaces {
		return OutcomeKept, "namespaces are deleted only on request"
	}
	if strings.HasPrefix(ref.Kind, "PersistentVolume") && ref.Group == "" && r.req.KeepVolumes {
		return OutcomeKept, "volumes are deleted only on request"
	}
	if _, ok := definedKind(live); ok && r.req.KeepDefinitions {
		return OutcomeKept, "definitions of kinds are deleted only on request"
	}
	return "", ""
}

// onRemove returns why an object stays for now according to model.AnnotationOnRemove; empty if it does not.
func (r *deleteRun) onRemove(live *unstructured.Unstructured) string {
	switch policy := annotation(live, model.AnnotationOnRemove); {
	case policy == model.OnRemoveDown && r.req.Removal != RemovalDown:
		return "it stays until hone down (" + model.AnnotationOnRemove + ": " + policy + ")"
	case policy == model.OnRemoveConfirm && r.req.Removal == RemovalBySession:
		return "hone gc asks whether to delete it (" + model.AnnotationOnRemove + ": " + policy + ")"
	case policy == model.OnRemoveOrphan && r.req.KeepAdopted:
		return "it is not made again (" + model.AnnotationOnRemove + ": " + policy + ")"
	}
	return ""
}

// staysBehind reports whether an object stays without hone's marks, instead of being deleted.
func staysBehind(live *unstructured.Unstructured) bool {
	return annotation(live, AnnotationAdopted) != "" || annotation(live, model.AnnotationOnRemove) == model.OnRemoveOrphan
}

// keepPolicy returns the annotation that requests to keep the object, empty if there is none.
func keepPolicy(live *unstructured.Unstructured) string {
	for _, p := range []struct{ key, value string }{
		{AnnotationDownPolicy, "keep"},
		{AnnotationTiltDownPolicy, "keep"},
		{"helm.sh/resource-policy", "keep"},
		{"config.kubernetes.io/deletion", "detach"},
		{"client.lifecycle.config.k8s.io/deletion", "detach"},
		{"kustomize.toolkit.fluxcd.io/prune", "disabled"},
		{"kapp.k14s.io/delete-strategy", "orphan"},
	} {
		if annotation(live, p.key) == p.value {
			return p.key + ": " + p.value
		}
	}
	for option := range strings.SplitSeq(annotation(live, "argocd.argoproj.io/sync-options"), ",") {
		if option = strings.TrimSpace(option); option == "Prune=false" || option == "Delete=false" {
			return "argocd.argoproj.io/sync-options: " + option
		}
	}
	return ""
}
