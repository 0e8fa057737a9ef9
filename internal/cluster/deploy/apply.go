package deploy

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// againGoneLimit bounds the wait for an object that is being deleted, of an apply that may have requested that itself.
const againGoneLimit = 5 * time.Minute

// applyRun is one call of Apply. The goroutines of its walk each write their own outcome.
type applyRun struct {
	a        *Applier
	req      ApplyRequest
	g        *graph
	outcomes []outcome
	waits    waits
	// later holds, for each Service that is put off, the workloads that have to be ready first. switching is set once
	// the Services are applied.
	later     [][]int
	switching bool
	// dry makes the API server answer as if it wrote, and write nothing.
	dry bool
}

// object applies one object: it resolves references, reads the live object, and carries out the decision about it. A Service that
// would switch to other pods is put off; see switchOver.
func (r *applyRun) object(ctx context.Context, i int) error {
	t, declared, err := r.target(ctx, r.g.objects[i])
	if err != nil {
		return err
	}
	ctx = withLogger(ctx, r.req.Logger, title(t.id))
	if declared, err = r.resolve(ctx, declared); err != nil {
		return err
	}
	live, absent, err := r.live(ctx, t, declared)
	if err != nil {
		return err
	}
	d := r.decide(t, declared, live)
	if absent && d.verb == verbCreate {
		if got := r.createNew(ctx, t, d.desired); got != nil {
			r.upToDate(declared, true)
			r.stands(i, t, applied(got), got, false)
			return nil
		}
		if live, err = r.read(ctx, t); err != nil {
			return err
		}
		d = r.decide(t, declared, live)
	}
	if d.verb.writes() && !r.switching {
		if r.later[i] = r.switches(d.desired, live); r.later[i] != nil {
			return nil
		}
	}
	switch d.verb {
	case verbRefuse:
		return d.err
	case verbSkip:
		logstore.Infof(r.req.Logger, "%s was deleted since it was applied, and is applied only once: not created again", title(t.id))
		return nil
	case verbObserve:
		r.stands(i, t, shared(live), live, true)
		return nil
	case verbCurrent, verbKeep:
		if d.verb == verbCurrent {
			r.upToDate(declared, false)
		}
		r.stands(i, t, applied(live), live, true)
		return nil
	case verbUseShared:
		got, err := r.useShared(ctx, t, d.desired, live)
		if err == nil {
			r.stands(i, t, shared(got), got, live.GetResourceVersion() == got.GetResourceVersion())
		}
		return err
	default: // it is written
	}
	got, err := r.write(ctx, t, d, live)
	if err == nil && got.GetDeletionTimestamp() != nil {
		if err = r.waitGone(ctx, t, got); err == nil {
			got, err = r.send(ctx, t, d.desired)
		}
	}
	again := r.again(declared)
	if err == nil && again != "" {
		got, err = r.restart(ctx, t, live, got, again)
	}
	if err != nil {
		return err
	}
	r.upToDate(declared, true)
	r.stands(i, t, applied(got), got, again == "" && sameVersion(live, got))
	return nil
}

// stands notes the outcome for an object that is in the cluster, and whether it is a definition whose kind the API server does not serve
// yet.
func (r *applyRun) stands(i int, t target, object model.AppliedObject, live *unstructured.Unstructured, unchanged bool) {
	r.outcomes[i] = outcome{object: object, done: true, unchanged: unchanged}
	if _, ok := definedKind(live); ok && !conditionTrue(live, "Established") {
		r.outcomes[i].defines = &t
	}
}

// sameTemplate reports whether an apply has left a workload's pods as they are.
func sameTemplate(live, got *unstructured.Unstructured) bool {
	return sameObject(live, got) && reflect.DeepEqual(podTemplate(live), podTemplate(got))
}

// sameVersion reports whether an apply has changed nothing.
func sameVersion(live, got *unstructured.Unstructured) bool {
	return sameObject(live, got) && live.GetResourceVersion() == got.GetResourceVersion()
}

// sameObject reports whether an object was there before, and is not another one of the same name now.
func sameObject(live, got *unstructured.Unstructured) bool {
	return live != nil && live.GetUID() == got.GetUID()
}

// accepted returns the fields of an object that are left to others.
func (r *applyRun) accepted(id model.ObjectID) *Acceptance {
	if r.req.Accepted == nil {
		return nil
	}
	return r.req.Accepted(id)
}

func (r *applyRun) upToDate(desired *unstructured.Unstructured, written bool) {
	if r.req.Applied != nil {
		r.req.Applied(desired, written)
	}
}

// target returns the target for u. If another object of the run defines u's kind, target waits, because discovery may
// lag behind.
func (r *applyRun) target(ctx context.Context, u *unstructured.Unstructured) (target, *unstructured.Unstructured, error) {
	t, desired, err := r.a.target(ctx, u, r.req.Namespace)
	if err == nil || !r.definesKindOf(u) {
		return t, desired, err
	}
	waited := poll(ctx, r.req.Timeout, func(ctx context.Context) (bool, error) {
		t, desired, err = r.a.target(ctx, u, r.req.Namespace)
		return err == nil, nil
	})
	if waited != nil && ctx.Err() != nil {
		return t, nil, waited
	}
	return t, desired, err
}

func (r *applyRun) definesKindOf(u *unstructured.Unstructured) bool {
	for _, o := range r.g.objects {
		if gk, ok := definedKind(o); ok && gk == u.GroupVersionKind().GroupKind() {
			return true
		}
	}
	return false
}

// live returns the object as it is in the cluster, or nil if there is none. absent is set if Prefetch has not found it, a moment ago. It
// waits for the end of an object that is being deleted.
func (r *applyRun) live(ctx context.Context, t target, desired *unstructured.Unstructured) (live *unstructured.Unstructured, absent bool, err error) {
	live, known := r.a.cache.take(desired)
	switch {
	case !known:
		live, err = r.read(ctx, t)
	case live == nil:
		return nil, true, nil
	default:
		live, err = r.ended(ctx, t, live)
	}
	return live, false, err
}

// read reads an object. It returns nil if there is none.
func (r *applyRun) read(ctx context.Context, t target) (live *unstructured.Unstructured, err error) {
	err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
		live, err = t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
		return err
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return r.ended(ctx, t, live)
}

// ended waits for the end of an object that is being deleted, and returns any other one.
func (r *applyRun) ended(ctx context.Context, t target, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live.GetDeletionTimestamp() == nil {
		return live, nil
	}
	return nil, r.waitGone(ctx, t, live)
}

// waitGone waits for the end of an object that is being deleted. Objects that do not depend on it are applied
// meanwhile.
func (r *applyRun) waitGone(ctx context.Context, t target, live *unstructured.Unstructured) error {
	logstore.Infof(r.req.Logger, "%s is being deleted: waiting until it is gone", title(t.id))
	return r.awaitGone(ctx, t, live)
}

// awaitGone is waitGone for an object whose deletion has been logged already.
func (r *applyRun) awaitGone(ctx context.Context, t target, live *unstructured.Unstructured) error {
	dag.Idle(ctx)
	limit := max(r.a.goneLimit, 10*time.Millisecond)
	if r.req.Again != nil { // which deletes what runs once: pods may use their whole grace period
		limit = max(limit, againGoneLimit)
	}
	return r.waits.await(ctx, t, live.GetUID(), limit)
}

// write sends the object as decided, and replaces one that cannot be changed in place.
func (r *applyRun) write(ctx context.Context, t target, d decision, live *unstructured.Unstructured) (got *unstructured.Unstructured, err error) {
	switch d.verb {
	case verbAdopt:
		got, err = r.adopt(ctx, t, d.desired, live)
	case verbCreate:
		got, err = r.send(ctx, t, d.desired)
	case verbRerun:
		if err := r.valid(ctx, t, d.desired, d.why); err != nil {
			return nil, err
		}
		logstore.Infof(r.req.Logger, "Deleting %s: %s", title(t.id), d.why)
		return r.recreate(ctx, t, d.desired, live)
	default:
		got, err = r.update(ctx, t, d, live)
	}
	fields, err := r.toReplace(ctx, t, d, live, err)
	if len(fields) > 0 {
		logstore.Infof(r.req.Logger, "%s: %s cannot be changed in place: deleting and creating it again", title(t.id), strings.Join(fields, ", "))
		return r.recreate(ctx, t, d.desired, live)
	}
	return r.noted(got, err)
}

// update sends an object over the live one, which becomes or is the project's.
func (r *applyRun) update(ctx context.Context, t target, d decision, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if d.verb == verbReclaim {
		logstore.Infof(r.req.Logger, "%s: %s", title(t.id), d.why)
	}
	if d.verb == verbUpdate && d.why != "" {
		logstore.Warnf(r.req.Logger, "WARNING: %s: %s", title(t.id), d.why)
	}
	if d.verb == verbTakeOver {
		logstore.Warnf(r.req.Logger, "%s: %s. It is taken over, as you allow", title(t.id), d.why)
	}
	live, err := r.turnsShared(ctx, t, d.desired, live)
	if err != nil {
		return nil, err
	}
	if _, err = r.ownFields(ctx, t, live); err != nil {
		return nil, err
	}
	got, err := r.send(ctx, t, d.desired)
	if err != nil || annotation(live, AnnotationAdopted) == "" {
		return got, err
	}
	return r.rewriteFields(ctx, t, got, released) // those of fields that were declared later, or of an object that was adopted as it was
}

// noted notes which fields were written, if the object was taken over.
func (r *applyRun) noted(got *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	if err == nil && r.req.Found != nil && annotation(got, AnnotationAdopted) != "" {
		if err := r.req.Found.RememberWritten(got); err != nil {
			logstore.Warnf(r.req.Logger, "WARNING: %v", err) // the fields that hone still owns are known anyway
		}
	}
	return got, err
}

// project returns the project that a desired object is marked for.
func project(desired *unstructured.Unstructured) string {
	if ids := sharersOf(desired); len(ids) > 0 {
		return ids[0] // a declaration has one
	}
	return label(desired, LabelProject)
}

// shared describes an object that is used and not owned.
func shared(live *unstructured.Unstructured) model.AppliedObject {
	o := applied(live)
	o.Foreign = true
	return o
}

// clientSide are the field managers of tools that apply on the client side and so write whole objects.
var clientSide = []string{"kubectl-client-side-apply", "before-first-apply", "tilt"}

// ownFields turns the fields that sendWhole wrote to the project's own object into applied fields, so that a field that
// leaves the YAML also leaves the object. It returns the updated object.
func (r *applyRun) ownFields(ctx context.Context, t target, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	managers := sets.New[string]()
	for _, m := range live.GetManagedFields() {
		if m.Manager == FieldManager && m.Operation == metav1.ManagedFieldsOperationUpdate && m.Subresource == "" {
			managers.Insert(m.Manager)
		}
	}
	if managers.Len() == 0 {
		return live, nil
	}
	return r.adoptFields(ctx, t, live, managers)
}

// adoptFields transfers the fields of the given managers to hone. It makes several attempts, because controllers also
// write to the object. It is not an error if they fail: the apply then continues as with a foreign object.
func (r *applyRun) adoptFields(ctx context.Context, t target, live *unstructured.Unstructured, managers sets.Set[string]) (*unstructured.Unstructured, error) {
	for range 5 {
		patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, managers, FieldManager)
		if err != nil || patch == nil {
			return live, nil //nolint:nilerr // the apply continues as with a foreign object
		}
		var upgraded *unstructured.Unstructured
		err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
			upgraded, err = t.ri.Patch(ctx, t.id.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
			return err
		})
		switch {
		case err == nil:
			return upgraded, nil
		case !apierrors.IsConflict(err):
			return live, ctx.Err()
		}
		fresh, err := t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
		if err != nil {
			return live, ctx.Err()
		}
		live = fresh
	}
	return live, nil
}

// established waits until the API server serves the kind that an object defines, if it defines one.
func (r *applyRun) established(ctx context.Context, i int) error {
	t := r.outcomes[i].defines
	if t == nil {
		return nil
	}
	dag.Idle(ctx)
	err := poll(ctx, r.req.Timeout, func(ctx context.Context) (bool, error) {
		crd, err := t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
		return err == nil && conditionTrue(crd, "Established"), err
	})
	if err != nil {
		return fmt.Errorf("wait until the kind is established: %w", err)
	}
	r.a.resetMapper(ctx)
	return nil
}

func conditionTrue(u *unstructured.Unstructured, kind string) bool {
	for _, c := range itemsOf(field(u.Object, "status"), "conditions") {
		if text(c, "type") == kind {
			return text(c, "status") == "True"
		}
	}
	return false
}

// report logs the applied objects, in the order of the walk.
func (r *applyRun) report(order []int) {
	var b strings.Builder
	for _, i := range order {
		o := r.outcomes[i]
		if !o.done {
			continue
		}
		b.WriteString("       → " + shown(r.g.ids[i]))
		if o.unchanged {
			b.WriteString(" (unchanged)")
		}
		b.WriteString("\n")
	}
	if b.Len() > 0 {
		r.req.Logger.Write(logstore.LevelInfo, "Objects applied to cluster:\n"+b.String())
	}
}
