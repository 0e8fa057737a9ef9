package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// Applier applies and deletes objects in one cluster. It is safe for use by several goroutines.
type Applier struct {
	dyn     dynamic.Interface
	mapper  meta.RESTMapper
	names   metadata.Interface // nil if only the objects themselves can be read
	lists   *k8s.Lists         // nil if lists are decoded at once
	deleter Deleter
	cache   *liveCache
	claims  claims

	runID       string
	parallelism int // the most objects that one call works on at a time
	goneLimit   time.Duration
	// former are the former IDs of the project. Objects that carry one of them belong to the project.
	former []string
	// holders are the names under which this place holds the objects of the project. It writes the first one.
	holders  []string
	projects func(id string) (tiltfile string)
}

// Option changes an Applier at construction.
type Option func(*Applier)

// WithRunID makes the applier set the annotation AnnotationRunID of the objects that it changes to id. By default it
// sets none.
func WithRunID(id string) Option { return func(a *Applier) { a.runID = id } }

// WithMetadata makes Prefetch find out which objects are absent, so that Apply creates them without looking for them first. By default it
// does not.
func WithMetadata(m metadata.Interface) Option { return func(a *Applier) { a.names = m } }

// WithLists makes Prefetch keep the objects that it has read encoded until each is needed. By default it decodes them at once.
func WithLists(l k8s.Lists) Option { return func(a *Applier) { a.lists = &l } }

// WithProjects makes the applier name other projects by the path of their Tiltfile. find returns the path for a
// project's ID, or an empty string if it is unknown. By default all are unknown.
func WithProjects(find func(id string) (tiltfile string)) Option {
	return func(a *Applier) { a.projects = find }
}

// WithFormerProjects makes objects that carry one of the given project IDs count as the project's own. The default is
// none.
func WithFormerProjects(ids []string) Option { return func(a *Applier) { a.former = ids } }

// WithHolders names the place that applies the objects: it marks them with the first name. Objects of the project that another place
// holds are not touched. By default there is no name, and whoever works on the project holds its objects.
func WithHolders(names []string) Option { return func(a *Applier) { a.holders = names } }

// sameProject reports whether an object with the given project label belongs to project, directly or by a former ID.
func (a *Applier) sameProject(labelled, project string) bool {
	return labelled == project || slices.Contains(a.former, labelled)
}

// defaultParallelism is enough to keep a distant server busy: which of the requests are on their way is the client's decision.
const defaultParallelism = 64

// NewApplier returns an applier for the cluster behind dyn. The mapper should be a meta.ResettableRESTMapper, so that
// the applier finds kinds that are defined while the session runs. The client should bound the requests on their way by what the server
// serves well, as k8s.Client.Apart does, and have no rate limit beside (QPS -1). It should not use compression (DisableCompression), which
// takes more than half of the time of a Prefetch when the cluster is near.
func NewApplier(dyn dynamic.Interface, mapper meta.RESTMapper, opts ...Option) *Applier {
	a := &Applier{dyn: dyn, mapper: mapper, cache: newLiveCache(), parallelism: defaultParallelism, goneLimit: 60 * time.Second, deleter: deafTo(dyn)}
	for _, o := range opts {
		o(a)
	}
	return a
}

// target is an object together with the client for its kind.
type target struct {
	id model.ObjectID
	ri dynamic.ResourceInterface
	// read, unless nil, reads the object while it is awaited. The result may lack all but the metadata.
	read func(context.Context) (*unstructured.Unstructured, error)
}

// look reads the object while it is awaited.
func (t target) look(ctx context.Context) (*unstructured.Unstructured, error) {
	if t.read != nil {
		return t.read(ctx)
	}
	return t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
}

// mapping looks up the kind of u. If the mapper does not know the kind, mapping resets it and tries once more.
func (a *Applier) mapping(ctx context.Context, u *unstructured.Unstructured) (*meta.RESTMapping, error) {
	gvk := u.GroupVersionKind()
	versions := []string{gvk.Version}
	if gvk.Version == "" {
		versions = nil
	}
	var m *meta.RESTMapping
	err := k8s.Persist(ctx, func() (err error) {
		m, err = a.mapper.RESTMapping(gvk.GroupKind(), versions...)
		return err
	})
	if !meta.IsNoMatchError(err) {
		return m, err
	}
	a.resetMapper(ctx)
	return a.mapper.RESTMapping(gvk.GroupKind(), versions...)
}

// resetMapper makes the mapper drop its cached kinds, if it can.
func (a *Applier) resetMapper(ctx context.Context) {
	switch m := a.mapper.(type) {
	case meta.ResettableRESTMapperWithContext:
		m.ResetWithContext(ctx)
	case meta.ResettableRESTMapper:
		m.Reset()
	}
}

// target returns the target for u. Inject may not have known whether u's kind is namespaced. target corrects that on a
// copy: a namespaced object without a namespace gets the given one, a cluster-scoped object loses its namespace.
func (a *Applier) target(ctx context.Context, u *unstructured.Unstructured, namespace string) (target, *unstructured.Unstructured, error) {
	m, err := a.mapping(ctx, u)
	switch {
	case meta.IsNoMatchError(err):
		return target{}, nil, unknownKind(err, u)
	case err != nil:
		return target{}, nil, fmt.Errorf("look up kind %s: %w", u.GetKind(), err)
	}
	if m.Scope.Name() == meta.RESTScopeNameRoot {
		if u.GetNamespace() != "" {
			u = u.DeepCopy()
			unstructured.RemoveNestedField(u.Object, "metadata", "namespace")
		}
		return target{id: IDOf(u), ri: a.dyn.Resource(m.Resource)}, u, nil
	}
	if u.GetNamespace() == "" {
		u = u.DeepCopy()
		u.SetNamespace(defaultNamespace(namespace))
	}
	return target{id: IDOf(u), ri: a.dyn.Resource(m.Resource).Namespace(u.GetNamespace())}, u, nil
}

func unknownKind(cause error, u *unstructured.Unstructured) error {
	return problem.Wrap(cause, fmt.Sprintf("the cluster has no kind %q in %s", u.GetKind(), u.GetAPIVersion()),
		"check apiVersion and kind, or install the definition of the kind first; if another resource installs it, name that resource in\n"+
			"k8s_resource(…, resource_deps=[…])")
}

// upsertMend is the mend of requests that took too long.
const upsertMend = "if the API server is merely slow, give it more time in the Tiltfile:\n" +
	"update_settings(k8s_upsert_timeout_secs=%d)"

// bounded runs one request with a time limit. If the limit is exceeded, the error states how to raise it.
func bounded(ctx context.Context, limit time.Duration, request func(context.Context) error) error {
	c, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := request(c)
	if err == nil || ctx.Err() != nil {
		return err
	}
	var busy *k8s.Busy
	if errors.As(err, &busy) {
		return busy // without the URL
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(c.Err(), context.DeadlineExceeded) {
		return problem.Wrap(err, fmt.Sprintf("no answer from the API server within %s", limit),
			fmt.Sprintf(upsertMend, 2*max(int(limit/time.Second), 1)))
	}
	return err
}

// ApplyRequest describes the objects of one resource to apply.
type ApplyRequest struct {
	Resource model.ManifestName
	// Objects are the result of Inject. Apply does not change them.
	Objects []*unstructured.Unstructured
	// Namespace is for namespaced objects that have none; empty means "default".
	Namespace string
	// Timeout bounds each request to the API server; zero means 30 s.
	Timeout time.Duration
	// Again, unless nil, returns why an object is applied although it is unchanged; empty if it is not. The rollout of a workload that
	// stays as it is then restarts, and an object that runs only once is deleted and created.
	Again func(desired *unstructured.Unstructured) (why string)
	// Adopt lets Apply take over objects that others made, unless their declaration decides otherwise
	// (model.AnnotationAdopt). Without it such an object is a problem, and stays unchanged.
	Adopt bool
	// Restoring is set if the apply is meant to undo the changes of others: undoing them is then not worth a warning.
	Restoring bool
	// Reclaim lets Apply put back the labels that others have removed from an object of Before, as Adopt does.
	Reclaim bool
	// Record, unless nil, is called once before anything is applied, and before Before: it records the objects. If it fails, Apply
	// applies nothing and returns its error.
	Record func(context.Context) error
	// Before, unless nil, returns the UID of an object that an earlier call applied; empty if none did. An object that is applied
	// only once (model.AnnotationApply) is then not created again after it was deleted.
	Before func(model.ObjectID) (uid string)
	// Accepted, unless nil, returns which fields of an object are left to others, as Ledger.Accepted does.
	Accepted func(model.ObjectID) *Acceptance
	// Applied, unless nil, is called with each object that is up to date now, unless it is shared with others; written is set if
	// that took a write. Several goroutines call it.
	Applied func(desired *unstructured.Unstructured, written bool)
	// Found, unless nil, stores objects of others as they are before hone takes them over.
	Found  *Memory
	Logger logstore.Logger
}

// Apply applies the objects to the cluster, each after its dependencies, and logs the result. It does not write objects that are
// already up to date. A Service that selects other pods than before comes last, once those pods are ready, or after Timeout. A
// failing object blocks only its dependents. The error joins the errors of all objects ("apply deployment/web: …"), failures before
// the objects that they blocked.
//
// The result lists the applied and the unchanged objects in the order of the request, also when the error is not nil. Cancelling
// ctx ends running requests and starts no others. The error then names only one of the objects that were skipped.
func (a *Applier) Apply(ctx context.Context, req ApplyRequest) ([]model.AppliedObject, error) {
	if req.Timeout <= 0 {
		req.Timeout = model.DefaultUpdateSettings.UpsertTimeout
	}
	if req.Logger == nil {
		req.Logger = logstore.Discard
	}
	g, err := newGraph(req.Objects)
	if err != nil {
		return nil, err
	}
	run := &applyRun{a: a, req: req, g: g, outcomes: make([]outcome, len(req.Objects)), later: make([][]int, len(req.Objects))}
	order := g.order()
	quiet := run.waits.telling(ctx, req.Logger)
	op, err := operation.New(g.nodes(order, objects{apply: run}))
	if err != nil { // newGraph has looked for cycles
		return nil, err
	}
	errs, err := op.Apply(ctx, a.parallelism)
	if err != nil {
		quiet()
		return nil, err
	}
	run.switchOver(ctx, order, errs)
	quiet()
	run.report(order)
	var applied []model.AppliedObject
	for _, o := range run.outcomes {
		if o.done {
			applied = append(applied, o.object)
		}
	}
	return applied, joinNodeErrors("apply", g, order, errs)
}

// order returns the indexes of the objects as model.ObjectID.Compare sorts them.
func (g *graph) order() []int {
	order := make([]int, len(g.ids))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return g.ids[x].Compare(g.ids[y]) })
	return order
}

// nodes returns the nodes of an operation on the graph, in the given order: node k is object order[k].
func (g *graph) nodes(order []int, runtime operation.Runtime) []operation.Node {
	at := make([]int, len(order))
	for k, i := range order {
		at[i] = k
	}
	nodes := make([]operation.Node, len(order))
	for k, i := range order {
		n := operation.Node{Name: title(g.ids[i]), Item: i, Runtime: runtime}
		for _, d := range g.needs[i] {
			n.Needs = append(n.Needs, at[d])
		}
		nodes[k] = n
	}
	return nodes
}

// joinNodeErrors joins the errors of a walk: first the failures, then the blocked nodes.
func joinNodeErrors(verb string, g *graph, order []int, errs []error) error {
	var failed, blocked []error
	cancelled := false
	for k, err := range errs {
		if err == nil || (cancelled && errors.Is(err, context.Canceled)) {
			continue
		}
		cancelled = cancelled || errors.Is(err, context.Canceled)
		wrapped := fmt.Errorf("%s %s: %w", verb, title(g.ids[order[k]]), err)
		var b *dag.Blocked
		if errors.As(err, &b) {
			blocked = append(blocked, wrapped)
		} else {
			failed = append(failed, wrapped)
		}
	}
	if len(failed)+len(blocked) == 1 {
		return failed[0]
	}
	return errors.Join(append(failed, blocked...)...)
}

// outcome is the result of Apply for one object.
type outcome struct {
	object    model.AppliedObject
	done      bool
	unchanged bool
	// defines is the object if it is a definition whose kind the API server did not serve when it was applied.
	defines *target
}

// applied converts an object that the API server returned.
func applied(live *unstructured.Unstructured) model.AppliedObject {
	return model.AppliedObject{ObjectID: IDOf(live), APIVersion: live.GetAPIVersion(), UID: string(live.GetUID()), Generation: live.GetGeneration(),
		TemplateHash: text(field(podTemplate(live), "metadata", "labels"), LabelTemplateHash)}
}

// patchOptions returns the options of every server-side apply.
func (r *applyRun) patchOptions(manager string, force bool) metav1.PatchOptions {
	return metav1.PatchOptions{FieldManager: manager, Force: &force, FieldValidation: metav1.FieldValidationWarn, DryRun: r.dryRun()}
}

// dryRun is the option that makes the API server write nothing.
func (r *applyRun) dryRun() []string {
	if r.dry {
		return []string{metav1.DryRunAll}
	}
	return nil
}
