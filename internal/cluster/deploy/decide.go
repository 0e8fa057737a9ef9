package deploy

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/pkg/api"
)

// One function decides about each declared object: subject.decide. It asks no one. applyRun.object carries its decision out, and
// preview.object formats it as a step of a plan, so a plan says nothing else than the deploy does. Only the API server's answer can
// change the decision, in one way: an object that cannot be changed in place is replaced (applyRun.toReplace, for both).

// verb says how an apply treats a declared object.
type verb int

const (
	// verbRefuse: nothing is done, and the decision has the error.
	verbRefuse verb = iota
	// verbObserve: the object belongs to others. It is only noted.
	verbObserve
	// verbSkip: the object is not created again.
	verbSkip
	// verbKeep: the object stays as it was applied, whatever its declaration says now.
	verbKeep
	// verbCurrent: the object is as declared.
	verbCurrent
	// verbUseShared: the declaration is applied to an object that belongs to others, and stays theirs.
	verbUseShared
	// verbAdopt: an object of others is taken over.
	verbAdopt
	// verbTakeOver: an object of the project is taken over from another place.
	verbTakeOver
	// verbReclaim: an object of the project gets a removed label back.
	verbReclaim
	// verbJoin: the project becomes one of those that share the object.
	verbJoin
	// verbRerun: the object is deleted and created, since only a new one runs again.
	verbRerun
	// verbCreate and verbUpdate: the object is sent.
	verbCreate
	verbUpdate
)

// writes reports whether the API server is asked to write the object.
func (v verb) writes() bool { return v >= verbUseShared }

// decision says how an apply treats one declared object, and why.
type decision struct {
	verb verb
	// plan is the action in a plan; empty if the API server's answer tells it: an update, or nothing.
	plan api.PlanAction
	why  string
	err  error
	// desired is the declared object without the fields that are left to others.
	desired *unstructured.Unstructured
	// fields are the labels that others have removed from the object, if it is refused or reclaimed because of that.
	fields []api.FieldChange
}

// subject is everything that decides about one declared object.
type subject struct {
	a                       *Applier
	t                       target
	declared, desired, live *unstructured.Unstructured
	// before is the UID that an earlier apply has recorded; empty if none has.
	before string
	// again is set if the object is applied although it is unchanged; adopt and reclaim are as in an ApplyRequest.
	again, adopt, reclaim bool
	relation              relation
	// err says why the fields that are left to others are unknown.
	err error
}

// decisions are the rules about declared objects. The first one that fits decides.
var decisions = []struct {
	verb verb
	plan api.PlanAction
	when func(*subject) bool
	why  func(*subject) string
}{
	{verbRefuse, api.ActionBlocked, func(s *subject) bool { return s.live == nil && readOnly(s.declared) }, nil},
	{verbObserve, api.ActionUnchanged, func(s *subject) bool { return readOnly(s.declared) }, fixed("declared read-only")},
	{verbSkip, api.ActionUnchanged, (*subject).deletedOnce, fixed("deleted since it was applied, and applied only once")},
	{verbKeep, api.ActionUnchanged, (*subject).appliedOnce, fixed("applied only once")},
	{verbRefuse, api.ActionBlocked, func(s *subject) bool { return s.err != nil }, nil},
	{verbCreate, api.ActionCreate, func(s *subject) bool { return s.live == nil }, nil},
	{verbCurrent, api.ActionUnchanged, func(s *subject) bool { return !s.again && unchanged(s.desired, s.live) }, nil},
	{verbUseShared, "", func(s *subject) bool { return s.relation == relationShared }, fixed("made by others, and shared: hone never deletes it")},
	{verbReclaim, api.ActionUpdate, (*subject).reclaims, func(s *subject) string { return "its label " + removedLabel(s.live) + " was removed: put back" }},
	{verbRefuse, api.ActionBlocked, func(s *subject) bool { return s.relation.refuses() && !s.mayAdopt() }, nil},
	{verbAdopt, api.ActionAdopt, func(s *subject) bool { return s.relation == relationForeign }, func(s *subject) string { return s.a.foreignTo(s.live) }},
	{verbTakeOver, api.ActionAdopt, func(s *subject) bool { return s.relation == relationHeld }, func(s *subject) string { return "it was deployed by " + s.heldBy() }},
	{verbJoin, "", func(s *subject) bool { return s.relation == relationJoins }, func(s *subject) string { return s.a.foreignTo(s.live) + ", and by this one then" }},
	{verbUpdate, "", func(s *subject) bool { return s.heldBack() != "" }, func(s *subject) string { return "it does not run again: " + s.heldBack() }},
	{verbRerun, api.ActionReplace, (*subject).reruns, fixed("only a new one runs again")},
	{verbUpdate, "", func(*subject) bool { return true }, nil},
}

func fixed(why string) func(*subject) string { return func(*subject) string { return why } }

// decide decides about a declared object, for the apply or its preview.
func (r *applyRun) decide(t target, declared, live *unstructured.Unstructured) decision {
	s := &subject{a: r.a, t: t, declared: declared, live: live, before: r.before(t.id), again: r.again(declared) != "",
		adopt: r.req.Adopt, reclaim: r.req.Reclaim, relation: r.a.relationTo(declared, live)}
	s.desired, s.err = leftToOthers(declared, live, r.accepted(t.id), r.a.managerFor(declared, live))
	return s.decide()
}

// decide returns the decision of the first rule that fits.
func (s *subject) decide() decision {
	for _, rule := range decisions {
		if !rule.when(s) {
			continue
		}
		d := decision{verb: rule.verb, plan: rule.plan, desired: s.desired}
		if rule.why != nil {
			d.why = rule.why(s)
		}
		if d.verb == verbRefuse {
			d.err = s.refusal()
		}
		if s.applied() && (d.verb == verbRefuse || d.verb == verbReclaim) {
			d.fields = removedLabels(s.declared, s.live)
		}
		return d
	}
	return decision{verb: verbUpdate, desired: s.desired} // the last rule fits always
}

// leftToOthers returns the declared object as it is sent: without the fields that others may change, and with the note about the state in
// which it was adopted.
func leftToOthers(declared, live *unstructured.Unstructured, accepted *Acceptance, mine string) (*unstructured.Unstructured, error) {
	if live == nil {
		return declared, nil
	}
	desired, err := withoutIgnored(declared, live, mine)
	if err != nil {
		return nil, err
	}
	return keepAdopted(accepted.leave(desired, live, mine), live)
}

// reruns reports whether only a new object would take effect again.
func (s *subject) reruns() bool { return s.again && repetitionOf(s.t.id) == byReplacement }

// heldBack returns the policy that keeps an object from being deleted to run again; "" if none does, or if it does not have to be.
func (s *subject) heldBack() string {
	if !s.reruns() {
		return ""
	}
	r := &deleteRun{a: s.a, req: DeleteRequest{Project: project(s.declared), KeepAdopted: true}}
	if d := r.remove(ObjectRef{ObjectID: s.t.id}, s.live); d.outcome != OutcomeDeleted {
		return d.why
	}
	return ""
}

// deletedOnce reports whether others have deleted an object that is applied only once.
func (s *subject) deletedOnce() bool {
	return s.live == nil && AppliedOnce(s.declared) && s.before != ""
}

// appliedOnce reports whether an object that is applied only once was applied.
func (s *subject) appliedOnce() bool { return AppliedOnce(s.declared) && s.relation == relationOwn }

// applied reports whether the live object is the one that was applied before, and not another one of the same identity.
func (s *subject) applied() bool {
	return s.live != nil && s.before != "" && s.before == string(s.live.GetUID())
}

// heldBy returns the other place that holds the object; "" if none does.
func (s *subject) heldBy() string { return s.a.heldElsewhere(project(s.declared), s.live) }

// mayAdopt reports whether the object may be taken over.
func (s *subject) mayAdopt() bool { return mayAdopt(s.declared, s.live, s.adopt) }

// reclaims reports whether the apply puts back the labels that others have removed from an object of the project.
func (s *subject) reclaims() bool { return s.lostLabel() && (s.reclaim || s.mayAdopt()) }

// lostLabel reports whether others have removed a label from an object that the project has applied. Without its labels, only the
// record of its UID tells that it is the same one.
func (s *subject) lostLabel() bool {
	if s.relation != relationForeign || removedLabel(s.live) == "" {
		return false
	}
	other := label(s.live, LabelProject)
	return s.applied() && (other == "" || s.a.sameProject(other, project(s.declared)))
}
