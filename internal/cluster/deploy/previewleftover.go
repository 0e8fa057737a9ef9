package deploy

import (
	"cmp"
	"context"
	"slices"

	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// leftovers returns the nodes of the recorded objects that are no longer declared. It is called once the declared objects are
// planned.
func (p *preview) leftovers(ctx context.Context) []operation.Node {
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
		return cmp.Or(y.ObjectID.Compare(x.ObjectID), cmp.Compare(x.Resource, y.Resource))
	})
	p.left = refs
	p.del = &deleteRun{a: p.a, req: DeleteRequest{Project: p.req.Project, KeepNamespaces: true, KeepVolumes: true, KeepDefinitions: true, Removal: p.req.Removal, RunID: p.req.RunID, Timeout: p.req.Timeout}}
	p.del.read = p.del.readAll(ctx, refs)
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
	if p.req.Removal == RemovalForgotten {
		step.Action, step.Reason = f.plan, f.why
		return step
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
