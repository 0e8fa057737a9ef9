package deploy

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// How a preview is made. Preview plans two operations, first the declared objects, then the leftovers. operation.Plan calls
// objects.Plan (runtime.go) for each object, on several goroutines. These only read the fields of preview, and each writes the step
// of its own object; leftovers reads the steps when all of them have ended.
//
// preview.object asks the same function as the apply about each object (decide.go), and sends dry runs where the apply writes. Both
// read the live object and the fields that it refers to in their own way: a preview waits for nothing.
//
// preview.leftover decides about objects that are no longer declared, as Collect and the deletion after it do; it shares
// deleteRun.find with the deletion.

// unbuiltTag is the tag of images that a preview does not build. It ends every reference to them.
const unbuiltTag = ":known-after-the-build"

// Unbuilt stands for the image of a target in a preview: its name in the cluster is known only after its build.
func Unbuilt(target model.ImageTarget) model.ImageResult {
	name, _, _ := strings.Cut(target.Ref, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name = name[:i]
	}
	return model.ImageResult{Cluster: name + unbuiltTag}
}

// UnbuiltCommand stands for the command of an image that is known only after its build.
func UnbuiltCommand() *ImageCommand { return &ImageCommand{Entrypoint: []string{unbuiltTag}} }

// afterBuild reports whether a value has a part that is known only after the build of an image.
func afterBuild(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.HasSuffix(v, unbuiltTag)
	case []any:
		return slices.ContainsFunc(v, afterBuild)
	}
	return false
}

// Declared are the objects of a resource, as Inject has returned them.
type Declared struct {
	Resource model.ManifestName
	Objects  []*unstructured.Unstructured
	// Beside are nodes of other runtimes that belong to the resource. They need no other node, and none needs them.
	Beside []operation.Node
	// After are the resources that are deployed first.
	After []model.ManifestName
	// Again has the meaning of ApplyRequest.Again.
	Again func(desired *unstructured.Unstructured) (why string)
}

// PreviewRequest describes an operation to preview.
type PreviewRequest struct {
	// Declared are the resources to apply.
	Declared []Declared
	// Records are the ledger's records, by resource: of the declared resources, and of resources that are no longer declared and
	// whose objects would be deleted.
	Records map[model.ManifestName][]ObjectRecord
	// Elsewhere returns the other resource of the Tiltfile that declares an object, if there is one: the object is handed over to
	// it.
	Elsewhere func(model.ObjectID) (model.ManifestName, bool)
	// Project is the owner of the objects.
	Project string
	// Namespace is for namespaced objects that have none; empty means "default".
	Namespace string
	// Timeout bounds each request to the API server; zero means 30 s.
	Timeout time.Duration
	// Adopt lets the operation take over objects that others made.
	Adopt bool
	// Removal is the reason for deleting objects that are no longer declared.
	Removal Removal
	// RunID is as for a CollectRequest.
	RunID string
	// Prior returns the last applied declaration of an object, as Ledger.Remembered does; nil knows nothing.
	Prior func(id model.ObjectID, others ...*unstructured.Unstructured) *unstructured.Unstructured
	// Written returns when an object was last applied, as Ledger.Written does; nil knows nothing.
	Written func(model.ObjectID) time.Time
	// Accepted is as for an ApplyRequest.
	Accepted func(model.ObjectID) *Acceptance
	// Unready, unless nil, is called for each declared object that exists and is not ready, or whose status cannot be judged. Several
	// goroutines call it.
	Unready func(model.ObjectID)
	// Drift is set if the declared objects are the objects that were applied last: the steps then list how the cluster differs from
	// them. Recorded objects that are not declared are left out.
	Drift bool
}

// Preview returns the steps that an Apply of the declared objects and a Collect after it would take, in the order in which they
// would begin. It writes nothing: it asks the API server by dry runs. An object that the API server refuses, or that cannot be
// read, is a step with ActionBlocked; the error is for failures that concern all objects.
func (a *Applier) Preview(ctx context.Context, req PreviewRequest) ([]api.PlanStep, error) {
	if req.Timeout <= 0 {
		req.Timeout = model.DefaultUpdateSettings.UpsertTimeout
	}
	var all []*unstructured.Unstructured
	var of []Declared
	for _, d := range inOrder(req.Declared) {
		for _, u := range d.Objects {
			all, of = append(all, u), append(of, d)
		}
	}
	g, err := newGraph(all)
	if err != nil {
		return nil, err
	}
	p := &preview{a: a, req: req, g: g, of: of, steps: make([]api.PlanStep, len(all)), owners: map[model.ObjectID]model.ManifestName{}}
	for name, list := range req.Records {
		for _, r := range list {
			p.owners[r.ObjectID] = name
		}
	}
	steps, err := p.run(ctx, p.declared())
	if err != nil {
		return nil, err
	}
	if req.Drift {
		return steps, nil
	}
	gone, err := p.run(ctx, p.leftovers())
	return append(steps, gone...), err
}

// declared returns the nodes of the declared resources in the order of their dependencies: their objects, and the nodes beside
// them.
func (p *preview) declared() []operation.Node {
	order := make([]int, len(p.g.objects)) // the order of the declaration
	for i := range order {
		order[i] = i
	}
	objects := p.g.nodes(order, objects{plan: p})
	var nodes []operation.Node
	at, next := make([]int, len(objects)), 0 // where each object's node is
	for _, d := range inOrder(p.req.Declared) {
		for range d.Objects {
			at[next] = len(nodes)
			nodes = append(nodes, objects[next])
			next++
		}
		nodes = append(nodes, d.Beside...)
	}
	for i := range nodes {
		for k, need := range nodes[i].Needs {
			nodes[i].Needs[k] = at[need]
		}
	}
	return nodes
}

// run plans nodes, as one operation.
func (p *preview) run(ctx context.Context, nodes []operation.Node) ([]api.PlanStep, error) {
	op, err := operation.New(nodes)
	if err != nil { // newGraph has looked for cycles
		return nil, err
	}
	return op.Plan(ctx, p.a.parallelism)
}

// inOrder sorts resources so that each follows the resources in its After, and otherwise keeps their order.
func inOrder(list []Declared) []Declared {
	var out []Declared
	seen := map[model.ManifestName]bool{}
	var add func(d Declared)
	add = func(d Declared) {
		if seen[d.Resource] {
			return
		}
		seen[d.Resource] = true
		for _, name := range d.After {
			if i := slices.IndexFunc(list, func(o Declared) bool { return o.Resource == name }); i >= 0 {
				add(list[i])
			}
		}
		out = append(out, d)
	}
	for _, d := range list {
		add(d)
	}
	return out
}

// preview is one call of Preview. The goroutines of its walk each write their own step.
type preview struct {
	a      *Applier
	req    PreviewRequest
	g      *graph
	of     []Declared // the resource of each object
	steps  []api.PlanStep
	owners map[model.ObjectID]model.ManifestName
	// left are the recorded objects that are no longer declared; del decides about them.
	left []ObjectRef
	del  *deleteRun
}

func planObject(id model.ObjectID) api.PlanObject {
	return api.PlanObject{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

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
		if i := slices.IndexFunc(list, func(r ObjectRecord) bool { return r.ObjectID == id && r.UID != "" }); i >= 0 {
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

// leftovers returns the nodes of the recorded objects that are no longer declared. It is called once the declared objects are
// planned.
func (p *preview) leftovers() []operation.Node {
	declared := map[model.ObjectID]bool{}
	for i, id := range p.g.ids {
		declared[id] = true
		o := p.steps[i].Object
		declared[model.ObjectID{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}] = true
	}
	var refs []ObjectRef
	for name, list := range p.req.Records {
		for _, r := range list {
			root := r.ObjectID // of a cluster-scoped object, whatever namespace was recorded before
			root.Namespace = ""
			if !r.Foreign && !declared[r.ObjectID] && !declared[root] {
				refs = append(refs, ObjectRef{ObjectID: r.ObjectID, UID: r.UID, Resource: name})
			}
		}
	}
	slices.SortFunc(refs, func(x, y ObjectRef) int {
		return cmp.Or(compareIDs(y.ObjectID, x.ObjectID), cmp.Compare(x.Resource, y.Resource))
	})
	p.left = refs
	p.del = &deleteRun{a: p.a, req: DeleteRequest{Project: p.req.Project, KeepNamespaces: true, KeepVolumes: true, KeepDefinitions: true, Removal: p.req.Removal, RunID: p.req.RunID, Timeout: p.req.Timeout}}
	nodes := make([]operation.Node, len(refs))
	for i, ref := range refs {
		nodes[i] = operation.Node{Name: title(ref.ObjectID), Item: len(p.g.objects) + i, Runtime: objects{plan: p}, Resource: ref.Resource}
	}
	return nodes
}

// leftover returns the step for an object that is no longer declared; nil if the object does not exist.
func (p *preview) leftover(ctx context.Context, i int) *api.PlanStep {
	ref := p.left[i]
	f, err := p.del.find(ctx, ref)
	step := &api.PlanStep{Object: planObject(ref.ObjectID), Resource: string(ref.Resource)}
	if f.live != nil {
		step.UID = string(f.live.GetUID())
	}
	switch {
	case err != nil:
		*step = blocked(*step, err)
		return step
	case f.outcome == OutcomeAbsent:
		return nil
	}
	d := leftover(ref.ObjectID, "", p.req.Elsewhere)
	if d.plan == "" {
		d = f.removal
	}
	step.Action, step.Reason = d.plan, d.why
	if d.plan != api.ActionHandOver {
		step.Reason = joined("no longer declared", d.why)
	}
	return step
}

// notes collects warnings.
type notes struct {
	mu    sync.Mutex
	lines []string
}

var _ logstore.Logger = (*notes)(nil)

// Write implements logstore.Logger.
func (n *notes) Write(level logstore.Level, text string) {
	if level < logstore.LevelWarn {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, strings.TrimSpace(text))
}

// Progress implements logstore.Logger.
func (n *notes) Progress(string, string, bool) {}

func (n *notes) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.lines, "; ")
}
