package deploy

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// object returns the step for one declared object.
func (p *preview) object(ctx context.Context, i int) api.PlanStep {
	u, of := p.g.objects[i], p.of[i]
	said := &notes{}
	run := &applyRun{a: p.a, g: p.g, dry: true,
		req: ApplyRequest{Resource: of.Resource, Namespace: p.req.Namespace, Timeout: p.req.Timeout, Again: of.Again, Adopt: p.req.Adopt, Accepted: p.req.Accepted, Before: p.uid, Logger: said}}
	step := api.PlanStep{Object: planObject(p.g.ids[i]), Resource: string(of.Resource)}
	t, desired, err := p.a.target(ctx, u, p.req.Namespace)
	if err != nil {
		if run.definesKindOf(u) {
			step.Action, step.Reason = api.ActionCreate, "the kind is defined first, and only then can the API server check the object"
			return step
		}
		return blocked(step, err)
	}
	step.Object, step.Keep = planObject(t.id), kept(u)
	desired, later, err := p.known(ctx, i, desired)
	if err != nil {
		return blocked(step, err)
	}
	if !isSecret(desired) { // a hash would reveal a short value
		step.Declared = annotation(desired, AnnotationAppliedHash)
	}
	live, leaving, err := p.live(ctx, t)
	if err != nil {
		return blocked(step, err)
	}
	if live != nil {
		step.UID = string(live.GetUID())
		if r, err := judged(live); p.req.Unready != nil && (err != nil || !r.ready) {
			p.req.Unready(t.id)
		}
	}
	if p.req.Drift && live != nil {
		if hash := annotation(live, AnnotationAppliedHash); hash != "" && hash != annotation(desired, AnnotationAppliedHash) {
			step.Action, step.Reason = api.ActionKeep, "applied since from elsewhere: what that was is not known here"
			return step
		}
		if isSecret(desired) {
			desired = cmp.Or(p.req.Prior(t.id, live), desired)
		}
	}
	if why := p.maybePassed(t.id, desired, live); why != "" {
		step.Action, step.Reason = api.ActionUnchanged, why
		return step
	}
	p.change(ctx, run, &step, t, desired, live)
	if p.req.Drift {
		step.Reason = joined(p.outside(t.id, live), step.Reason)
	}
	if len(later) > 0 && step.Action != api.ActionBlocked {
		step.Reason = joined(afterApply(later), step.Reason)
	}
	switch {
	case step.Action == api.ActionBlocked:
	case leaving:
		step.Reason = "an object of this name is being deleted; it is created when that one is gone"
	case live != nil && p.passes(t.id, live, of.Resource) != "":
		step.Reason = joined("it passes from "+string(p.passes(t.id, live, of.Resource)), step.Reason)
		if step.Action == api.ActionUnchanged || step.Action == api.ActionUpdate && len(step.Fields) == 0 {
			step.Action = api.ActionHandOver
		}
	}
	step.Reason = joined(step.Reason, said.text())
	return step
}

// outside reports that others have deleted or replaced an object since it was applied; "" if they have not.
func (p *preview) outside(id model.ObjectID, live *unstructured.Unstructured) string {
	if live == nil {
		return "deleted by others since it was applied"
	}
	if was := p.uid(id); was != "" && was != string(live.GetUID()) {
		return "deleted and made again by others since it was applied"
	}
	return ""
}

// maybePassed is as maybePassed for an object of a drift.
func (p *preview) maybePassed(id model.ObjectID, desired, live *unstructured.Unstructured) string {
	if !p.req.Drift || live != nil {
		return ""
	}
	var written time.Time
	if p.req.Written != nil {
		written = p.req.Written(id)
	}
	return maybePassed(desired, written, time.Now())
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// passes returns the resource from which an object passes to another one; empty if it does not. The mark on the object decides if
// its record has passed already, or is not among the records of the operation.
func (p *preview) passes(id model.ObjectID, live *unstructured.Unstructured, to model.ManifestName) model.ManifestName {
	if from := p.owners[id]; from != "" && from != to {
		return from
	}
	own := p.a.sameProject(label(live, LabelProject), p.req.Project)
	if marked := label(live, LabelResource); own && marked != "" && marked != ResourceLabel(to) {
		return model.ManifestName(cmp.Or(annotation(live, AnnotationResourceName), marked))
	}
	return ""
}

// live reads an object. One that is being deleted counts as gone.
func (p *preview) live(ctx context.Context, t target) (live *unstructured.Unstructured, leaving bool, err error) {
	err = bounded(ctx, p.req.Timeout, func(ctx context.Context) (err error) {
		live, err = t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
		return err
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case live.GetDeletionTimestamp() != nil:
		return nil, true, nil
	}
	return live, false, nil
}

// change fills in the changes to the object.
func (p *preview) change(ctx context.Context, run *applyRun, step *api.PlanStep, t target, declared, live *unstructured.Unstructured) {
	d := run.decide(t, declared, live)
	step.Action, step.Reason = d.plan, d.why
	switch {
	case d.verb == verbRefuse:
		*step = blocked(*step, d.err)
		step.Fields = d.fields
		return
	case !d.verb.writes():
		return
	}
	got, err := run.try(ctx, t, d, live)
	fields, err := run.toReplace(ctx, t, d, live, err)
	switch {
	case len(fields) > 0:
		step.Action, step.Reason = api.ActionReplace, strings.Join(fields, ", ")+" cannot be changed in place"
	case err == nil && live != nil:
		p.compare(step, d, live, got)
		p.repeat(step, t.id, live, run.again(declared))
	case err == nil:
	case live == nil && p.declaresNamespace(missingNamespace(err)):
		p.createLater(ctx, run, step, d.desired)
	case hasRefs(declared) && (errors.Is(err, errUnreadable) || apierrors.IsInvalid(err)): // such as a text where a number will be
		step.Action, step.Reason = api.ActionCreate, "only then can the API server check the object"
		if live != nil {
			step.Action = api.ActionUpdate
		}
	default:
		*step = blocked(*step, err)
	}
}

// try asks the API server for the result of a decision, by a dry run.
func (r *applyRun) try(ctx context.Context, t target, d decision, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if d.verb == verbUseShared {
		return r.useShared(ctx, t, d.desired, live)
	}
	if d.verb == verbRerun {
		return live, r.valid(ctx, t, d.desired, d.why)
	}
	return r.sendAs(ctx, t, d.desired, !isShared(d.desired))
}

// uid returns the UID of an object that was applied before; empty if none was.
func (p *preview) uid(id model.ObjectID) string {
	for _, list := range p.req.Records {
		if i := slices.IndexFunc(list, func(r ledger.Record) bool { return r.ObjectID == id && r.UID != "" }); i >= 0 {
			return list[i].UID
		}
	}
	return ""
}

// compare lists the differences between live and got.
func (p *preview) compare(step *api.PlanStep, d decision, live, got *unstructured.Unstructured) {
	step.Fields = slices.Concat(d.fields, changedFields(p.a.managerFor(d.desired, live), p.prior(d.desired, live), d.desired, live, got))
	switch {
	case step.Action != "":
	case len(step.Fields) > 0:
		step.Action = api.ActionUpdate
	default:
		step.Action = api.ActionUnchanged
	}
}

// prior returns the last applied declaration of a live object; nil if it is unknown, or if the object was applied from elsewhere
// since.
func (p *preview) prior(desired, live *unstructured.Unstructured) *unstructured.Unstructured {
	if p.req.Prior == nil {
		return nil
	}
	if u := p.req.Prior(IDOf(live), desired, live); u != nil && annotation(u, AnnotationAppliedHash) == annotation(live, AnnotationAppliedHash) {
		return u
	}
	return nil
}

// declaresNamespace reports whether the operation itself makes a namespace.
func (p *preview) declaresNamespace(name string) bool {
	return slices.ContainsFunc(p.g.objects, func(u *unstructured.Unstructured) bool { return isNamespace(u) && u.GetName() == name })
}

// createLater checks an object whose namespace the operation makes first, as if it were in another namespace.
func (p *preview) createLater(ctx context.Context, run *applyRun, step *api.PlanStep, desired *unstructured.Unstructured) {
	elsewhere := desired.DeepCopy()
	elsewhere.SetNamespace("default")
	t, elsewhere, err := p.a.target(ctx, elsewhere, "default")
	if err == nil {
		err = run.tryCreate(ctx, t, elsewhere)
	}
	if err != nil {
		*step = blocked(*step, err)
		return
	}
	step.Action, step.Reason = api.ActionCreate, "namespace "+desired.GetNamespace()+" is made first"
}

// blocked returns the step for an error.
func blocked(step api.PlanStep, err error) api.PlanStep {
	step.Action, step.Reason, step.Fields = api.ActionBlocked, "", nil
	var known *problem.Problem
	if errors.As(err, &known) {
		step.Reason = known.Summary
	}
	step.Reason = cmp.Or(step.Reason, err.Error())
	return step
}
