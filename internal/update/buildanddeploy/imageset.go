package buildanddeploy

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// imageSet is the operation.Runtime of the images of one update; its items are the jobs. To apply one is to build it and to deliver it to
// the cluster.
type imageSet struct {
	builder *Image
	req     Request
	work    jobs
	st      *steps
	// failed, unless nil, is called when a build has failed.
	failed func()

	building sync.Mutex // held while an image is built: the steps of an update follow each other

	mu    sync.Mutex
	inUse map[string]model.ImageResult // guarded by mu
	built map[string]model.ImageResult // guarded by mu
	err   error                        // guarded by mu; of the first build that has failed
}

var _ operation.Runtime = (*imageSet)(nil)

func newImages(b *Image, req Request, work jobs, st *steps) *imageSet {
	r := &imageSet{builder: b, req: req, work: work, st: st, inUse: maps.Clone(req.Results), built: map[string]model.ImageResult{}}
	if r.inUse == nil {
		r.inUse = map[string]model.ImageResult{}
	}
	return r
}

// nodes returns a node for each image, which needs the images that it is based on.
func (r *imageSet) nodes() []operation.Node {
	nodes := make([]operation.Node, len(r.work))
	for i, w := range r.work {
		nodes[i] = operation.Node{Name: "image " + w.target.Ref, Item: i, Runtime: r, Resource: r.req.Manifest.Name}
		for j, base := range r.work {
			if slices.Contains(w.target.DependsOn, base.target.Ref) {
				nodes[i].Needs = append(nodes[i].Needs, j)
			}
		}
	}
	return nodes
}

// Plan implements operation.Runtime. It plans nothing: a Forecast says which images are built.
func (*imageSet) Plan(context.Context, int) (*api.PlanStep, error) { return nil, nil }

// Record implements operation.Runtime: the engine has the images, and hone's labels on them.
func (*imageSet) Record(ctx context.Context, _ []int) error { return context.Cause(ctx) }

// Apply implements operation.Runtime. An image whose result is still good is not built again.
func (r *imageSet) Apply(ctx context.Context, item int) error {
	w := r.work[item]
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !w.build:
		return nil
	}
	r.building.Lock()
	defer r.building.Unlock()
	r.mu.Lock()
	inUse := maps.Clone(r.inUse)
	r.mu.Unlock()
	result, err := r.builder.image(ctx, r.req, w, inUse, r.st)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.err = cmp.Or(r.err, err)
		if r.failed != nil {
			r.failed()
		}
		return err
	}
	r.inUse[w.target.Ref], r.built[w.target.Ref] = result, result
	return nil
}

// Delete implements operation.Runtime. It deletes nothing: an image may be used elsewhere. The Pruner removes old ones.
func (*imageSet) Delete(ctx context.Context, _ int) error { return context.Cause(ctx) }

// Await implements operation.Runtime.
func (*imageSet) Await(ctx context.Context, _ int, _ operation.State) error {
	return context.Cause(ctx)
}
