package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// ObjectRef is an object to delete. With a UID, only the object of that UID is meant, not another of the same name.
type ObjectRef struct {
	model.ObjectID
	UID string
}

// DeleteOutcome is what Delete came to for one object.
type DeleteOutcome string

// The outcomes.
const (
	// OutcomeDeleted: the API server has taken the deletion; after a Delete with Wait the object is gone.
	OutcomeDeleted DeleteOutcome = "deleted"
	// OutcomeAbsent: there was no such object.
	OutcomeAbsent DeleteOutcome = "absent"
	// OutcomeForeign: the object is not this project's, or another one of the same name: kept.
	OutcomeForeign DeleteOutcome = "foreign"
	// OutcomeKept: a policy or option spares the object.
	OutcomeKept DeleteOutcome = "kept"
	// OutcomeGivenBack: the object was there before hone took it over. It stays, without hone's marks.
	OutcomeGivenBack DeleteOutcome = "given back"
	// OutcomeElsewhere: another session of the project that runs may need the object: kept, and still recorded.
	OutcomeElsewhere DeleteOutcome = "elsewhere"
)

// DeleteRequest says what to delete, and how.
type DeleteRequest struct {
	Objects []ObjectRef
	// Project, when set, restricts the deletion to objects that carry its label.
	Project string
	// KeepNamespaces spares Namespace objects, KeepVolumes PersistentVolumes and their claims, KeepDefinitions CRDs.
	KeepNamespaces  bool
	KeepVolumes     bool
	KeepDefinitions bool
	// KeepAdopted spares objects that hone took over, instead of giving them back.
	KeepAdopted bool
	// RunID, when set, restricts the deletion to objects that the session of this id changed last.
	RunID string
	// Wait returns only when the objects are gone, or still there after WaitLimit (zero means 5 minutes).
	Wait      bool
	WaitLimit time.Duration
	// Timeout bounds each request to the API server; zero means 30 s.
	Timeout time.Duration
	// Done, when set, is told the outcome for each object that was dealt with; calls do not overlap.
	Done   func(ObjectRef, DeleteOutcome)
	Logger logstore.Logger
}

// Delete deletes objects, dependents before what they depend on, and logs what it did. It deletes only what carries
// hone's labels, is not marked to be kept, and is the very object that was asked for; anything else stays, with a line
// that says why. What hone took over is given back: it loses hone's marks and stays. Namespaces and definitions go last, when what depends on them is gone, and stay while they hold objects
// that hone did not make.
//
// The error joins what could not be deleted; an object that is still there after WaitLimit is named with its finalizers,
// and does not keep the others.
func (a *Applier) Delete(ctx context.Context, req DeleteRequest) error {
	if req.Timeout <= 0 {
		req.Timeout = model.DefaultUpdateSettings.UpsertTimeout
	}
	if req.WaitLimit <= 0 {
		req.WaitLimit = 5 * time.Minute
	}
	if req.Logger == nil {
		req.Logger = logstore.Discard
	}
	run := &deleteRun{a: a, req: req, outcomes: map[ObjectRef]DeleteOutcome{}}
	lookErr := run.look(ctx)
	g, err := newGraph(run.live)
	if err != nil { // the annotations changed behind our back: delete in the order of kinds
		g = &graph{objects: run.live, needs: make([][]int, len(run.live))}
		for _, u := range run.live {
			g.ids = append(g.ids, IDOf(u))
		}
	}
	delErr := run.deleteAll(ctx, g)
	run.tell()
	return errors.Join(lookErr, delErr)
}

// deleteRun is one call of Delete. Its fields are written by the goroutine of Delete only, except where slices have one
// entry per node of a walk.
type deleteRun struct {
	a        *Applier
	req      DeleteRequest
	live     []*unstructured.Unstructured
	refs     []ObjectRef
	targets  []target
	outcomes map[ObjectRef]DeleteOutcome
}

// found is what look learned about one requested object.
type found struct {
	t       target
	live    *unstructured.Unstructured
	outcome DeleteOutcome
	why     string
}

// look reads the requested objects and sorts out those that are not to be deleted.
func (r *deleteRun) look(ctx context.Context) error {
	refs := slices.Clone(r.req.Objects)
	slices.SortFunc(refs, func(x, y ObjectRef) int { return compareIDs(x.ObjectID, y.ObjectID) })
	refs = slices.CompactFunc(refs, func(x, y ObjectRef) bool { return x.ObjectID == y.ObjectID })
	results := make([]found, len(refs))
	nodes := make([]node, len(refs))
	for i, ref := range refs {
		nodes[i] = node{name: title(ref.ObjectID), run: func(ctx context.Context) (err error) {
			results[i], err = r.find(ctx, ref)
			return err
		}}
	}
	var errs []error
	for i, err := range walk(ctx, nodes, r.a.parallelism) {
		switch f := results[i]; {
		case err != nil:
			errs = append(errs, fmt.Errorf("delete %s: %w", title(refs[i].ObjectID), err))
		case f.outcome != "":
			r.outcomes[refs[i]] = f.outcome
			if f.why != "" {
				logstore.Infof(r.req.Logger, "%s: %s, kept", title(refs[i].ObjectID), f.why)
			}
		default:
			r.live = append(r.live, f.live)
			r.refs = append(r.refs, refs[i])
			r.targets = append(r.targets, f.t)
		}
	}
	return errors.Join(errs...)
}

// find reads one object and decides whether it may be deleted.
func (r *deleteRun) find(ctx context.Context, ref ObjectRef) (found, error) {
	stub := &unstructured.Unstructured{Object: map[string]any{}}
	stub.SetGroupVersionKind(groupKind(ref.ObjectID).WithVersion(""))
	m, err := r.a.mapping(ctx, stub)
	switch {
	case meta.IsNoMatchError(err):
		return found{outcome: OutcomeAbsent}, nil // without the kind there are no objects of it
	case err != nil:
		return found{}, fmt.Errorf("ask the cluster about kind %s: %w", ref.Kind, err)
	}
	t := target{id: ref.ObjectID, ri: r.a.dyn.Resource(m.Resource)}
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		t.ri = r.a.dyn.Resource(m.Resource).Namespace(defaultNamespace(ref.Namespace))
	}
	var live *unstructured.Unstructured
	err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
		live, err = t.ri.Get(ctx, ref.Name, metav1.GetOptions{})
		return err
	})
	switch {
	case apierrors.IsNotFound(err):
		return found{outcome: OutcomeAbsent}, nil
	case err != nil:
		return found{}, err
	}
	outcome, why := r.spared(ref, live)
	return found{t: t, live: live, outcome: outcome, why: why}, nil
}

// deleteAll walks the graph backwards. For each object one node deletes it and, where asked for, one waits until it is
// gone. Deletions come after those of the dependents; namespaces and definitions also wait for the dependents' end.
func (r *deleteRun) deleteAll(ctx context.Context, g *graph) error {
	order := g.order()
	slices.Reverse(order)
	n := len(order)
	at := make([]int, n)
	for k, i := range order {
		at[i] = k
	}
	nodes := make([]node, n, 2*n)
	for k, i := range order {
		nodes[k] = node{name: title(g.ids[i]), run: func(ctx context.Context) error { return r.deleteOne(ctx, i) }}
	}
	if r.req.Wait {
		for k, i := range order {
			nodes = append(nodes, node{name: title(g.ids[i]), after: []int{k}, free: true,
				run: func(ctx context.Context) error { return r.awaitGone(ctx, i) }})
		}
	}
	for i, needs := range g.needs {
		for _, d := range needs {
			nodes[at[d]].after = append(nodes[at[d]].after, at[i])
			if r.req.Wait && holdsOthers(g.objects[d]) {
				nodes[at[d]].after = append(nodes[at[d]].after, n+at[i])
			}
		}
	}
	errs := walk(ctx, nodes, r.a.parallelism)
	return r.collectErrors(g, order, errs)
}

// collectErrors joins the errors of the walk, each object's first one, and books the outcomes.
func (r *deleteRun) collectErrors(g *graph, order []int, errs []error) error {
	var out []error
	for k, i := range order {
		err := errs[k]
		if err == nil && r.req.Wait {
			err = errs[len(order)+k]
		}
		var kept *keptError
		switch {
		case errors.As(err, &kept):
			r.outcomes[r.refs[i]] = OutcomeKept
			logstore.Infof(r.req.Logger, "%s: %s, kept", title(g.ids[i]), kept.why)
		case err != nil:
			out = append(out, fmt.Errorf("delete %s: %w", title(g.ids[i]), err))
		case annotation(r.live[i], AnnotationAdopted) != "":
			r.outcomes[r.refs[i]] = OutcomeGivenBack
		default:
			r.outcomes[r.refs[i]] = OutcomeDeleted
		}
	}
	return errors.Join(out...)
}

// holdsOthers reports whether other objects vanish with this one.
func holdsOthers(u *unstructured.Unstructured) bool {
	_, crd := definedKind(u)
	return crd || (u.GetKind() == "Namespace" && u.GroupVersionKind().Group == "")
}

// keptError ends the deletion of an object that turned out to be still in use.
type keptError struct{ why string }

// Error returns the reason.
func (e *keptError) Error() string { return e.why }

var _ error = (*keptError)(nil)

// deleteOne deletes one object that look has approved of.
func (r *deleteRun) deleteOne(ctx context.Context, i int) error {
	live, t := r.live[i], r.targets[i]
	r.a.cache.forget(t.id)
	if annotation(live, AnnotationAdopted) != "" {
		return r.giveBack(ctx, t, live)
	}
	if holdsOthers(live) {
		if by, err := r.inUse(ctx, live); err != nil {
			return fmt.Errorf("look for what is in it: %w", err)
		} else if by != "" {
			return &keptError{"holds objects that hone did not make (" + by + ")"}
		}
	}
	if live.GetDeletionTimestamp() != nil {
		return nil
	}
	err := bounded(ctx, r.req.Timeout, func(ctx context.Context) error {
		return t.ri.Delete(ctx, t.id.Name, deleteOptions(live))
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		return &keptError{"replaced outside of hone"}
	case err != nil:
		return err
	}
	logstore.Infof(r.req.Logger, "       → deleted %s", shown(t.id))
	return nil
}

// awaitGone waits until one object is gone and says what it waits for.
func (r *deleteRun) awaitGone(ctx context.Context, i int) error {
	live, t := r.live[i], r.targets[i]
	if annotation(live, AnnotationAdopted) != "" {
		return nil
	}
	return waitGone(ctx, t, live.GetUID(), r.req.WaitLimit, func(held string) {
		if held != "" {
			logstore.Infof(r.req.Logger, "waiting for %s: %s", title(t.id), held)
		}
	})
}

// tell reports the outcomes in the order of the request.
func (r *deleteRun) tell() {
	if r.req.Done == nil {
		return
	}
	for _, ref := range r.req.Objects {
		if o, ok := r.outcomes[ref]; ok {
			r.req.Done(ref, o)
		}
	}
}
