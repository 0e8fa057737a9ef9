package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/pkg/model"
)

// ObjectRef names an object to delete. With a UID, it means only the object with that UID, not another of the same
// name.
type ObjectRef struct {
	model.ObjectID
	UID string
	// Resource is the resource of the object. It is needed only for DeleteRequest.Deps.
	Resource model.ManifestName
}

// DeleteStep is work that takes a resource down in addition to, or instead of, the deletion of objects.
type DeleteStep struct {
	// Node belongs to any runtime. Its Needs are the indexes of other steps.
	operation.Node
	// Objects are the objects that the step deletes, as far as known.
	Objects []model.ObjectID
}

// DeleteOutcome is the result of Delete for one object.
type DeleteOutcome string

// The outcomes.
const (
	// OutcomeDeleted: the object is gone; after a Delete without Wait and Look, the API server has accepted the
	// deletion.
	OutcomeDeleted DeleteOutcome = "deleted"
	// OutcomeGoing: the API server has accepted the deletion, and the object still exists. Only without Wait.
	OutcomeGoing DeleteOutcome = "going"
	// OutcomeAbsent: the object did not exist.
	OutcomeAbsent DeleteOutcome = "absent"
	// OutcomeForeign: the object belongs to others, or is another object of the same name; it was kept.
	OutcomeForeign DeleteOutcome = "foreign"
	// OutcomeKept: a policy or option spares the object.
	OutcomeKept DeleteOutcome = "kept"
	// OutcomeGivenBack: the object existed before hone took it over, becomes an orphan, or is shared by others. It stays, without the
	// project's marks.
	OutcomeGivenBack DeleteOutcome = "given back"
	// OutcomeElsewhere: another running session of the project may need the object; it was kept and is still recorded.
	OutcomeElsewhere DeleteOutcome = "elsewhere"
)

// Stays reports whether an object is still the project's after a deletion, so that its record stays.
func (o DeleteOutcome) Stays() bool {
	return o == OutcomeKept || o == OutcomeElsewhere || o == OutcomeGoing
}

// Removal is the reason for a deletion.
type Removal int

// The reasons.
const (
	// RemovalBySession: a session deletes objects that are no longer declared, switched off, or about to be made again.
	RemovalBySession Removal = iota
	// RemovalAsked: the user has asked for the deletion of objects that are no longer declared.
	RemovalAsked
	// RemovalDown: the user takes down the deployed objects.
	RemovalDown
	// RemovalForgotten: the user has asked hone to forget the objects. They stay as they are, without the project's marks.
	RemovalForgotten
)

// DeleteRequest selects objects to delete, and the way to delete them.
type DeleteRequest struct {
	Objects []ObjectRef
	// Steps run along with the deletions, a few at a time.
	Steps []DeleteStep
	// Deps maps each resource to the resources that it depends on. A resource is taken down before its dependencies, so a stuck
	// object holds up only the dependencies of its resource. Where dependencies between the objects require another order, that
	// order wins.
	Deps map[model.ManifestName][]model.ManifestName
	// Project, if set, restricts the deletion to objects that carry its label.
	Project string
	// KeepNamespaces keeps Namespace objects, KeepVolumes PersistentVolumes and their claims, KeepDefinitions CRDs.
	KeepNamespaces  bool
	KeepVolumes     bool
	KeepDefinitions bool
	// Removal says why the objects are deleted. Some objects are only deleted for a certain reason (model.AnnotationOnRemove).
	Removal Removal
	// KeepAdopted leaves objects that hone took over unchanged, instead of giving them back.
	KeepAdopted bool
	// Found, unless nil, has stored how objects were before hone took them over, so that they can be given back in that state.
	Found *Memory
	// RunID, if set, restricts the deletion to objects that the session of this ID changed last.
	RunID string
	// Wait makes Delete wait until the objects are gone, for WaitLimit at most (zero means 5 minutes).
	Wait      bool
	WaitLimit time.Duration
	// Look, instead of Wait, checks once whether each object whose deletion was accepted is gone.
	Look bool
	// Pods makes Wait also wait for the pods of the workloads, which may take some time to end, and Look look at them. It includes pods
	// of recorded workloads that were deleted before.
	Pods bool
	// Accepted, if set, is called for each object that Delete no longer touches, because its deletion was accepted or it is kept.
	// Several goroutines may call it at the same time.
	Accepted func(model.ObjectID)
	// Timeout bounds each request to the API server; zero means 30 s.
	Timeout time.Duration
	// Done, if set, is called with the outcome of each processed object; calls do not overlap.
	Done   func(ObjectRef, DeleteOutcome)
	Logger logstore.Logger
}

// Delete deletes objects, dependents before their dependencies, and logs the result. It deletes only objects that carry hone's
// labels, are not marked to be kept, and have the requested UID. All other objects stay, with a line in the log that states why.
// Objects that hone took over are given back: they lose hone's marks and stay, in the state in which they were found if Found has
// it. Objects that other projects share are left to them. Namespaces and definitions go last, when their dependents are gone. They
// stay if they hold objects that hone did not make.
//
// The error joins the errors of the objects that could not be deleted. For an object that still exists after WaitLimit, it names
// the blockers; only the dependencies of that object are kept. When ctx ends, the error is an *Unfinished.
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
	if err != nil { // the annotations were changed meanwhile: delete in the order of kinds
		g = &graph{objects: run.live, needs: make([][]int, len(run.live))}
		for _, u := range run.live {
			g.ids = append(g.ids, IDOf(u))
		}
	}
	run.reads.count(run.found)
	run.g, run.fates, run.stepsOver = g, make([]fate, len(run.live)), make([]bool, len(req.Steps))
	for i, f := range run.found {
		run.fates[i] = fate{gone: f.gone, pods: f.pods}
	}
	quiet := run.waits.telling(ctx, req.Logger)
	delErr := run.deleteAll(ctx)
	quiet()
	run.tell()
	if ctx.Err() != nil {
		if left := run.unfinished(context.Cause(ctx)); left != nil {
			return left
		}
	}
	return errors.Join(lookErr, delErr)
}

// deleteRun is one call of Delete. Its fields are written by the goroutine of Delete only, except where slices have one
// entry per node of a walk.
type deleteRun struct {
	a        *Applier
	req      DeleteRequest
	g        *graph
	live     []*unstructured.Unstructured
	refs     []ObjectRef
	found    []found
	outcomes map[ObjectRef]DeleteOutcome
	// unseen are the objects that could not be read.
	unseen []ObjectRef
	// fates holds the fate of each live object; stepsOver marks the steps that have succeeded.
	fates     []fate
	stepsOver []bool
	waits     waits
	// read are the objects that were read at once before anything is deleted, reads the later reads.
	read  *liveCache
	reads deleteReads
}

// fate is the state of the deletion of one object. The nodes of the object run one after the other.
type fate struct {
	// kept is the reason why the object stays; empty if it does not.
	kept string
	// asked is set when the API server has accepted the deletion, gone when the object no longer exists.
	asked, gone bool
	// left is set when the object was left to other projects that share it.
	left bool
	// held names the blockers of the object, such as finalizers, when it was last read.
	held string
	pods workloadPods
	// podsLeft are the pods that still exist, with their blockers.
	podsLeft []string
}

// found is the result of look for one requested object.
type found struct {
	removal
	t    target
	at   locus
	live *unstructured.Unstructured
	// gone is set if the object no longer exists but pods of it do: live is then the object as it was applied last.
	gone bool
	pods workloadPods
}

// look reads the requested objects and filters out those that must not be deleted.
func (r *deleteRun) look(ctx context.Context) error {
	refs := slices.Clone(r.req.Objects)
	slices.SortFunc(refs, func(x, y ObjectRef) int { return x.ObjectID.Compare(y.ObjectID) })
	refs = slices.CompactFunc(refs, func(x, y ObjectRef) bool { return x.ObjectID == y.ObjectID })
	results := make([]found, len(refs))
	r.read = r.readAll(ctx, refs)
	nodes := make([]dag.Node, len(refs))
	for i, ref := range refs {
		nodes[i] = dag.Node{Name: title(ref.ObjectID), Run: func(ctx context.Context) (err error) {
			results[i], err = r.find(ctx, ref)
			return err
		}}
	}
	var errs []error
	for i, err := range dag.Walk(ctx, nodes, r.a.parallelism) {
		switch f := results[i]; {
		case err != nil:
			r.unseen = append(r.unseen, refs[i])
			errs = append(errs, fmt.Errorf("delete %s: %w", title(refs[i].ObjectID), err))
		case !f.touches():
			r.outcomes[refs[i]] = f.outcome
			if r.req.Accepted != nil {
				r.req.Accepted(refs[i].ObjectID)
			}
			if f.why != "" {
				logstore.Infof(r.req.Logger, "%s: %s, kept", title(refs[i].ObjectID), f.why)
			}
		default:
			r.live = append(r.live, f.live)
			r.refs = append(r.refs, refs[i])
			r.found = append(r.found, f)
		}
	}
	return errors.Join(errs...)
}

// find looks at one object, which may have been read already, and decides whether it may be deleted.
func (r *deleteRun) find(ctx context.Context, ref ObjectRef) (found, error) {
	stub := stubOf(ref)
	m, err := r.a.mapping(ctx, stub)
	switch {
	case meta.IsNoMatchError(err):
		return found{removal: removal{outcome: OutcomeAbsent}}, nil // no kind, no objects
	case err != nil:
		return found{}, fmt.Errorf("look up kind %s: %w", ref.Kind, err)
	}
	at := locusOf(m, ref)
	t := target{id: ref.ObjectID, ri: r.a.dyn.Resource(at.resource).Namespace(at.namespace)}
	live, ok := r.read.take(at.outline(stub, m))
	if !ok {
		err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
			live, err = t.ri.Get(ctx, ref.Name, metav1.GetOptions{})
			return err
		})
	}
	switch {
	case apierrors.IsNotFound(err), err == nil && live == nil:
		return r.absent(ctx, t), nil
	case err != nil:
		return found{}, err
	}
	t.read = func(ctx context.Context) (*unstructured.Unstructured, error) { return r.awaited(ctx, t, at, live) }
	return found{t: t, at: at, live: live, removal: r.remove(ref, live)}, nil
}

// absent returns the result for an object that does not exist. Its pods may still exist, if an earlier deletion did not wait for
// them.
func (r *deleteRun) absent(ctx context.Context, t target) found {
	if r.req.Pods && r.req.Found != nil {
		if was := r.req.Found.Remembered(t.id); was != nil {
			if pods := r.endingPodsOf(ctx, was); len(pods.uids) > 0 {
				return found{t: t, live: was, gone: true, pods: pods, removal: removal{outcome: OutcomeDeleted}}
			}
		}
	}
	return found{removal: removal{outcome: OutcomeAbsent}}
}

// holdsOthers reports whether other objects vanish with this one.
func holdsOthers(u *unstructured.Unstructured) bool {
	_, crd := definedKind(u)
	return crd || isNamespace(u)
}

func isNamespace(u *unstructured.Unstructured) bool {
	return u.GetKind() == "Namespace" && u.GroupVersionKind().Group == ""
}

// deleteOne deletes one object that look has approved.
func (r *deleteRun) deleteOne(ctx context.Context, i int) error {
	live, t, f := r.live[i], r.found[i].t, &r.fates[i]
	if f.gone { // only its pods are left
		return r.lookAtPods(ctx, t, f)
	}
	r.a.cache.forget(t.id)
	if r.found[i].outcome == OutcomeGivenBack {
		err := r.giveBack(ctx, t, live)
		f.gone = err == nil
		return err
	}
	if holdsOthers(live) {
		if by, err := r.inUse(ctx, live); err != nil {
			return fmt.Errorf("look for foreign objects in it: %w", err)
		} else if by != "" {
			f.kept = "holds objects that hone did not make (" + by + ")"
			return nil
		}
	}
	f.pods = r.podsOf(ctx, live)
	if len(sharersOf(live)) > 0 && live.GetDeletionTimestamp() == nil {
		kept, err := r.deleteShared(ctx, t, live)
		switch {
		case kept:
			f.gone, f.left, f.pods = true, true, workloadPods{}
			return nil
		case apierrors.IsNotFound(err):
			f.gone = true
			return nil
		case err != nil:
			return err
		}
		return r.accepted(ctx, t, live, f)
	}
	f.asked = live.GetDeletionTimestamp() != nil
	if f.asked {
		if r.req.Look {
			f.held = holding(live, time.Now())
			r.sayGoing(t, f)
		}
		return nil
	}
	gone, err := r.request(ctx, t, r.found[i].at, live)
	switch {
	case apierrors.IsNotFound(err):
		f.gone = true
		return nil
	case apierrors.IsConflict(err) && !IsContended(err):
		f.kept = "replaced outside of hone"
		return nil
	case err != nil:
		return err
	case gone:
		f.asked, f.gone = true, true
		r.sayDeleted(t)
		return r.lookAtPods(ctx, t, f)
	}
	return r.accepted(ctx, t, live, f)
}

// request asks the API server to delete an object, and reports whether the answer says that it is gone. It repeats the request while
// others write to the object at the same time.
func (r *deleteRun) request(ctx context.Context, t target, at locus, live *unstructured.Unstructured) (gone bool, err error) {
	pauses := retry.Backoff{First: 50 * time.Millisecond, Most: time.Second}
	for attempt := 1; ; attempt++ {
		err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
			gone, err = r.a.deleter(ctx, at.resource, at.namespace, t.id.Name, deleteOptions(live))
			return err
		})
		if !IsContended(err) || attempt == sendAttempts || !pauses.Sleep(ctx) {
			return gone, err
		}
	}
}

// accepted notes that the API server has accepted the deletion of an object.
func (r *deleteRun) accepted(ctx context.Context, t target, live *unstructured.Unstructured, f *fate) error {
	f.asked = true
	switch {
	case r.req.Wait: // the end of the wait says that it is gone
	case !r.gone(ctx, t, live.GetUID(), f):
		r.sayGoing(t, f)
	default:
		r.sayDeleted(t)
		return r.lookAtPods(ctx, t, f)
	}
	return nil
}

// lookAtPods checks once whether the pods of a deleted workload are gone, too, if that matters and nothing waits for them.
func (r *deleteRun) lookAtPods(ctx context.Context, t target, f *fate) error {
	if r.req.Wait || !r.req.Look || len(f.pods.uids) == 0 {
		return nil
	}
	left, err := r.podsLeft(ctx, f)
	if err != nil || len(left) == 0 {
		return err
	}
	f.gone, f.held = false, "its pods end: "+enumerate(f.podsLeft)
	r.sayGoing(t, f)
	return nil
}

func (r *deleteRun) sayDeleted(t target) {
	logstore.Infof(r.req.Logger, "       → deleted %s", shown(t.id))
}

// gone checks once whether an object is gone.
func (r *deleteRun) gone(ctx context.Context, t target, uid types.UID, f *fate) bool {
	var live *unstructured.Unstructured
	err := bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
		live, err = t.look(ctx)
		return err
	})
	f.gone = apierrors.IsNotFound(err)
	if err == nil {
		f.gone = uid != "" && live.GetUID() != uid
		f.held = holding(live, time.Now())
	}
	return f.gone
}

func (r *deleteRun) sayGoing(t target, f *fate) {
	why := ""
	if f.held != "" {
		why = " (" + f.held + ")"
	}
	logstore.Infof(r.req.Logger, "       → is being deleted: %s%s", shown(t.id), why)
}

// awaitRelease waits until an object is gone, or only its own dependents hold it. From then on its deletion needs no
// other object.
func (r *deleteRun) awaitRelease(ctx context.Context, i int) error {
	f := &r.fates[i]
	if f.gone || f.kept != "" {
		return nil
	}
	released := false
	err := r.waits.awaitUntil(ctx, r.found[i].t, r.live[i].GetUID(), r.req.WaitLimit, func(live *unstructured.Unstructured) bool {
		f.held = holding(live, time.Now())
		released = live.GetDeletionTimestamp() != nil && len(finalizersOf(live)) == 0
		return released
	})
	if f.gone = err == nil && !released; f.gone {
		r.sayDeleted(r.found[i].t)
	}
	return err
}

// awaitGone waits until one object is gone, and its pods if requested.
func (r *deleteRun) awaitGone(ctx context.Context, i int) error {
	f := &r.fates[i]
	if f.kept != "" {
		return nil
	}
	var own error
	var wg sync.WaitGroup
	if !f.gone {
		wg.Go(func() {
			own = r.waits.awaitUntil(ctx, r.found[i].t, r.live[i].GetUID(), r.req.WaitLimit, func(live *unstructured.Unstructured) bool {
				f.held = holding(live, time.Now())
				return false
			})
			if f.gone = own == nil; f.gone {
				r.sayDeleted(r.found[i].t)
			}
		})
	}
	pods := r.awaitPods(ctx, f)
	wg.Wait()
	return errors.Join(own, pods)
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
