package deploy

import (
	"context"

	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/pkg/api"
)

// objects is the operation.Runtime of the objects of one call of an Applier. It has only the part that the call needs: the apply,
// the preview, or the deletion. Its items are the indexes of the part's own list.
type objects struct {
	apply *applyRun
	plan  *preview
	del   *deleteRun
}

var _ operation.Runtime = objects{}

// Plan implements operation.Runtime. An object that the API server refuses is a blocked step.
func (o objects) Plan(ctx context.Context, item int) (*api.PlanStep, error) {
	if item < len(o.plan.g.objects) {
		step := o.plan.object(ctx, item)
		o.plan.steps[item] = step
		return &step, nil
	}
	return o.plan.leftover(ctx, item-len(o.plan.g.objects)), nil
}

// Record implements operation.Runtime.
func (o objects) Record(ctx context.Context, _ []int) error {
	if o.apply.req.Record == nil {
		return nil
	}
	return o.apply.req.Record(ctx)
}

// Apply implements operation.Runtime.
func (o objects) Apply(ctx context.Context, item int) error { return o.apply.object(ctx, item) }

// Delete implements operation.Runtime.
func (o objects) Delete(ctx context.Context, item int) error {
	if o.del.req.Accepted != nil {
		defer o.del.req.Accepted(o.del.refs[item].ObjectID)
	}
	return o.del.deleteOne(ctx, item)
}

// Await implements operation.Runtime. A definition is ready when the API server serves its kind; other objects are ready at once,
// since their dependents wait for them by themselves.
func (o objects) Await(ctx context.Context, item int, until operation.State) error {
	switch until {
	case operation.Ready:
		return o.apply.established(ctx, item)
	case operation.Released:
		return o.del.awaitRelease(ctx, item)
	case operation.Gone:
		return o.del.awaitGone(ctx, item)
	}
	return nil
}
