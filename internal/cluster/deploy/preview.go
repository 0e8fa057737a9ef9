package deploy

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/cluster/ledger"
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
	Records map[model.ManifestName][]ledger.Record
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
	gone, err := p.run(ctx, p.leftovers(ctx))
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
