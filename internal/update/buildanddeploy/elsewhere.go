package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TakeDownElsewhere returns the steps that take down the resources in records, as TakeDown does, for an operation on another cluster.
// It is one step, unless single is set: then there is one for each resource, so that a resource is deleted before its dependencies in
// other clusters. What holds the objects of others, such as namespaces, then comes last.
func (c *Cluster) TakeDownElsewhere(o DeleteOptions, records map[model.ManifestName][]ledger.Record, deps ledger.Deps, single bool, log logstore.Logger) (steps []deploy.DeleteStep) {
	run := &elsewhere{cluster: c, options: o, deps: deps, log: log}
	if !single {
		run.parts = []map[model.ManifestName][]ledger.Record{records}
		return []deploy.DeleteStep{{Node: operation.Node{Name: "what is in cluster " + c.title, Runtime: run, Free: true, Whole: true}}}
	}
	for i, name := range slices.Sorted(maps.Keys(records)) {
		run.parts = append(run.parts, map[model.ManifestName][]ledger.Record{name: records[name]})
		last := name.Uncategorized()
		steps = append(steps, deploy.DeleteStep{Node: operation.Node{Name: fmt.Sprintf("%s in cluster %s", name, c.title), Item: i, Runtime: run, Resource: name,
			Free: true, Whole: true, Last: last}})
	}
	return steps
}

// elsewhere is the operation.Runtime of resources in another cluster than the one of the operation; they are only deleted with it.
type elsewhere struct {
	cluster *Cluster
	options DeleteOptions
	parts   []map[model.ManifestName][]ledger.Record
	deps    ledger.Deps
	log     logstore.Logger
}

var _ operation.Runtime = (*elsewhere)(nil)

// Delete implements operation.Runtime.
func (e *elsewhere) Delete(ctx context.Context, item int) error {
	return e.cluster.TakeDown(ctx, e.options, e.parts[item], e.deps, nil, e.log)
}

// Plan implements operation.Runtime.
func (*elsewhere) Plan(context.Context, int) (*api.PlanStep, error) { return nil, nil }

// Record implements operation.Runtime.
func (*elsewhere) Record(context.Context, []int) error { return errors.ErrUnsupported }

// Apply implements operation.Runtime.
func (*elsewhere) Apply(context.Context, int) error { return errors.ErrUnsupported }

// Await implements operation.Runtime: Delete has waited.
func (*elsewhere) Await(ctx context.Context, _ int, _ operation.State) error {
	return context.Cause(ctx)
}
