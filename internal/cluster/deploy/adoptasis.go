package deploy

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Adoption takes over one declared object as it is: the object gets the project's marks, and nothing else changes. The next apply finds an
// object of the project, and writes the declaration.
type Adoption struct {
	// Step is the adoption in a plan. An object that is the project's already is unchanged.
	Step api.PlanStep
	// Object is the live object.
	Object model.AppliedObject

	t             target
	desired, live *unstructured.Unstructured
}

// NewAdoption looks at a declared object. It returns a problem for an object that cannot be taken over: it does not exist, it belongs to
// another project, or its declaration forbids it.
func (a *Applier) NewAdoption(ctx context.Context, resource model.ManifestName, declared *unstructured.Unstructured) (*Adoption, error) {
	t, desired, err := a.target(ctx, declared, declared.GetNamespace())
	if err != nil {
		return nil, err
	}
	r := &applyRun{a: a, req: ApplyRequest{Timeout: model.DefaultUpdateSettings.UpsertTimeout, Logger: logstore.Discard}}
	live, err := r.read(ctx, t)
	if err != nil {
		return nil, err
	}
	s := &subject{a: a, t: t, declared: desired, desired: desired, live: live, adopt: true, relation: a.relationTo(desired, live)}
	for _, rule := range unadoptable {
		if rule.when(s) {
			return nil, problem.New(rule.why(s), rule.mend).See("state")
		}
	}
	if s.relation == relationHeld {
		return nil, s.refusal()
	}
	out := &Adoption{t: t, desired: desired, live: live, Object: applied(live)}
	out.Step = api.PlanStep{Object: planObject(t.id), Resource: string(resource), UID: string(live.GetUID()), Action: api.ActionAdopt,
		Reason: joined(a.foreignTo(live), "it stays as it is until it is applied")}
	if s.relation == relationOwn {
		out.Step.Action, out.Step.Reason = api.ActionUnchanged, "it is the project's already"
	}
	return out, nil
}

// unadoptable are the rules about declared objects that are not taken over as they are. The first one that fits decides.
var unadoptable = []struct {
	when func(*subject) bool
	why  func(*subject) string
	mend string
}{
	{func(s *subject) bool { return s.live == nil }, func(s *subject) string { return title(s.t.id) + " does not exist" }, "hone up and hone ci create it"},
	{func(s *subject) bool { return readOnly(s.declared) }, func(s *subject) string { return title(s.t.id) + " is declared read-only: hone only uses it" },
		"remove the annotation " + model.AnnotationReadOnly},
	{func(s *subject) bool { return isShared(s.declared) }, func(s *subject) string {
		return title(s.t.id) + " is declared as shared: it stays with those who share it"
	},
		"hone up and hone ci join them"},
	{func(s *subject) bool { return s.relation == relationShared }, func(s *subject) string {
		return title(s.t.id) + " holds objects of others: hone uses it, and does not own it"
	}, "hone up and hone ci apply its declaration, unless others have set other values"},
	{(*subject).ofOtherProject, func(s *subject) string { return title(s.t.id) + ": " + s.a.foreignTo(s.live) },
		"let that project forget it first: hone forget, in the folder of its Tiltfile"},
	{func(s *subject) bool { return s.relation == relationForeign && !s.mayAdopt() }, func(s *subject) string {
		return title(s.t.id) + " is declared with " + model.AnnotationAdopt + ": " + model.AdoptNever
	}, "remove that annotation, or the setting of the Tiltfile that adds it"},
}

// ofOtherProject reports whether the live object belongs to other projects of hone.
func (s *subject) ofOtherProject() bool {
	if s.relation != relationForeign {
		return false
	}
	return len(sharersOf(s.live)) > 0 || label(s.live, LabelManagedBy) == ManagedByHone && label(s.live, LabelProject) != ""
}

// Adopt takes an object over that NewAdoption has returned. The caller has recorded it.
func (a *Applier) Adopt(ctx context.Context, m *Memory, d *Adoption, log logstore.Logger) error {
	if d.Step.Action != api.ActionAdopt {
		return nil
	}
	now, err := d.t.ri.Get(ctx, d.t.id.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("adopt %s: %w", title(d.t.id), err)
	}
	if now.GetUID() != d.live.GetUID() {
		return fmt.Errorf("adopt %s: %w", title(d.t.id), errReplaced)
	}
	r := &applyRun{a: a, req: ApplyRequest{Timeout: model.DefaultUpdateSettings.UpsertTimeout, Logger: log, Found: m, Adopt: true}}
	a.cache.forget(d.t.id)
	if _, err := r.adopt(ctx, d.t, onlyMarks(d.desired), now); err != nil {
		return fmt.Errorf("adopt %s: %w", title(d.t.id), err)
	}
	return nil
}

var errReplaced = errors.New("it was replaced meanwhile")

// onlyMarks returns the marks of a declared object without its content. The hash of the declaration is not among them, since the object is
// not as declared.
func onlyMarks(desired *unstructured.Unstructured) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(desired.GroupVersionKind())
	u.SetName(desired.GetName())
	u.SetNamespace(desired.GetNamespace())
	u.SetLabels(chosen(desired.GetLabels(), markLabels))
	annotations := chosen(desired.GetAnnotations(), markAnnotations)
	delete(annotations, AnnotationAppliedHash)
	u.SetAnnotations(annotations)
	return u
}
