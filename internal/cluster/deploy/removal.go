package deploy

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// removal is the decision about an object that is to go. Collect and Delete carry it out, and a preview formats it.
type removal struct {
	// outcome is OutcomeDeleted or OutcomeGivenBack if the object is touched, else the reason to leave it alone.
	outcome DeleteOutcome
	plan    api.PlanAction
	why     string
	// to is the resource that takes the object over, for api.ActionHandOver.
	to model.ManifestName
}

// touches reports whether the object is deleted or given back.
func (d removal) touches() bool { return d.outcome == OutcomeDeleted || d.outcome == OutcomeGivenBack }

// leftover decides about a recorded object that its resource no longer declares, before anyone looks at it. The decision has no plan if
// the live object decides. owner returns the resource that declares the object now; nil knows none.
func leftover(id model.ObjectID, from model.ManifestName, owner func(model.ObjectID) (model.ManifestName, bool)) removal {
	if owner != nil {
		if to, is := owner(id); is && to != from {
			return removal{plan: api.ActionHandOver, to: to, why: "it passes to " + string(to)}
		}
	}
	if protected(id) {
		return removal{outcome: OutcomeKept, plan: api.ActionKeep, why: "objects of this kind stay until hone down"}
	}
	return removal{}
}

// leaving is everything that decides about a live object that is to go.
type leaving struct {
	a    *Applier
	req  DeleteRequest
	ref  ObjectRef
	live *unstructured.Unstructured
	// shared is set if the project is one of those that share the object. Its labels then do not name the project.
	shared bool
}

// removals are the rules about live objects that are to go. The first one that fits decides.
var removals = []struct {
	outcome DeleteOutcome
	plan    api.PlanAction
	// when returns why the rule fits; empty if it does not.
	when func(*leaving) string
}{
	{OutcomeForeign, api.ActionKeep, (*leaving).foreign},
	{OutcomeForeign, api.ActionKeep, (*leaving).replaced},
	{OutcomeGivenBack, api.ActionOrphan, func(s *leaving) string { return said(s.req.Removal == RemovalForgotten, forgotten) }},
	{OutcomeElsewhere, api.ActionKeep, (*leaving).ofOtherSession},
	{OutcomeKept, api.ActionKeep, (*leaving).notGivenBack},
	{OutcomeGivenBack, api.ActionKeep, func(s *leaving) string { return said(s.adopted() && !s.shared, givenBack) }},
	{OutcomeKept, api.ActionKeep, (*leaving).onRemove},
	{OutcomeKept, api.ActionKeep, func(s *leaving) string { return keepPolicy(s.live) }},
	{OutcomeKept, api.ActionKeep, (*leaving).onRequest},
	{OutcomeGivenBack, api.ActionKeep, func(s *leaving) string { return said(s.adopted(), givenBack) }},
	{OutcomeGivenBack, api.ActionOrphan, func(s *leaving) string {
		return said(s.policy() == model.OnRemoveOrphan, "it stays, and hone forgets it ("+model.AnnotationOnRemove+": "+model.OnRemoveOrphan+")")
	}},
	// Whether others still share it is known only when it is deleted; see deleteShared.
	{OutcomeDeleted, api.ActionOrphan, (*leaving).staysWithOthers},
}

const (
	givenBack = "it existed before hone and is given back"
	forgotten = "it stays as it is, and hone forgets it"
)

// said returns a text if it is true.
func said(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// remove decides about one live object.
func (r *deleteRun) remove(ref ObjectRef, live *unstructured.Unstructured) removal {
	s := &leaving{a: r.a, req: r.req, ref: ref, live: live, shared: r.a.sharer(r.req.Project, live) != ""}
	for _, rule := range removals {
		if why := rule.when(s); why != "" {
			return removal{outcome: rule.outcome, plan: rule.plan, why: why}
		}
	}
	return removal{outcome: OutcomeDeleted, plan: api.ActionDelete}
}

// foreign says why the object is not the project's.
func (s *leaving) foreign() string {
	project := label(s.live, LabelProject)
	switch by := s.a.heldElsewhere(s.req.Project, s.live); {
	case by != "":
		return "it was deployed by " + by + " (HONE_HOLDER)"
	case s.shared:
		return ""
	case len(sharersOf(s.live)) > 0, removedLabel(s.live) != "":
		return s.a.foreignTo(s.live)
	case label(s.live, LabelManagedBy) != ManagedByHone, project == "":
		return "not made by hone"
	case s.req.Project != "" && !s.a.sameProject(project, s.req.Project):
		return "belongs to " + s.a.projectName(project)
	}
	return ""
}

// replaced says that others have deleted the object and made another one of its name.
func (s *leaving) replaced() string {
	return said(s.ref.UID != "" && s.ref.UID != string(s.live.GetUID()), "replaced outside of hone")
}

// ofOtherSession says that only one session's objects go, and this one is not among them.
func (s *leaving) ofOtherSession() string {
	other := s.req.RunID != "" && annotation(s.live, AnnotationRunID) != s.req.RunID
	return said(other && !s.shared, "another running session of the project may need it")
}

// notGivenBack says why an object that would be left to others stays the project's.
func (s *leaving) notGivenBack() string {
	switch {
	case !s.req.KeepAdopted:
		return ""
	case s.shared:
		return "it is shared"
	case s.adopted():
		return "it existed before hone"
	}
	return said(s.policy() == model.OnRemoveOrphan, "it is not made again ("+model.AnnotationOnRemove+": "+model.OnRemoveOrphan+")")
}

func (s *leaving) adopted() bool { return annotation(s.live, AnnotationAdopted) != "" }

func (s *leaving) policy() string { return annotation(s.live, model.AnnotationOnRemove) }

// onRemove says why the object stays for now according to model.AnnotationOnRemove.
func (s *leaving) onRemove() string {
	switch policy := s.policy(); {
	case policy == model.OnRemoveDown && s.req.Removal != RemovalDown:
		return "it stays until hone down (" + model.AnnotationOnRemove + ": " + policy + ")"
	case policy == model.OnRemoveConfirm && s.req.Removal == RemovalBySession:
		return "hone gc asks whether to delete it (" + model.AnnotationOnRemove + ": " + policy + ")"
	}
	return ""
}

// onRequest says that the object's kind is deleted only if the user asks for it.
func (s *leaving) onRequest() string {
	_, defines := definedKind(s.live)
	for _, kind := range []struct {
		keep, is bool
		name     string
	}{
		{s.req.KeepNamespaces, isNamespace(s.live), "namespaces"},
		{s.req.KeepVolumes, s.ref.Group == "" && strings.HasPrefix(s.ref.Kind, "PersistentVolume"), "volumes"},
		{s.req.KeepDefinitions, defines, "definitions of kinds"},
	} {
		if kind.keep && kind.is {
			return kind.name + " are deleted only on request"
		}
	}
	return ""
}

// staysWithOthers names the projects that keep a shared object.
func (s *leaving) staysWithOthers() string {
	others := s.a.otherSharers(s.req.Project, s.live)
	return said(len(others) > 0, "it stays with "+strings.Join(others, " and ")+", which share it")
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
