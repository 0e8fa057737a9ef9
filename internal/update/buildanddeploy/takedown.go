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

// TakeDown deletes the resources in records: objects that commands of the user deployed with the user's delete commands, all others
// as Delete does. deps holds the known dependencies of resources: a resource is deleted before its dependencies. Independent
// resources are deleted concurrently; one that is stuck or fails delays only its dependencies.
// The steps in beside, of other runtimes, are part of the same operation. A step among them that is marked to go last loses this
// mark if it depends on a resource in records. The error joins all errors.
func (c *Cluster) TakeDown(ctx context.Context, o DeleteOptions, records map[model.ManifestName][]ledger.Record, deps ledger.Deps, beside []deploy.DeleteStep, log logstore.Logger) error {
	ctx, done, err := c.hold(patiently(ctx, log), log)
	if err != nil {
		return err
	}
	defer done()
	memory, err := c.Ledger(ctx)
	if err != nil {
		return err
	}
	recorded, err := memory.Commands()
	if err != nil {
		return err
	}
	run := &deleteCommands{cluster: c}
	req := deploy.DeleteRequest{Deps: deps, Logger: log}
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		list, asked := records[name]
		if !asked {
			continue
		}
		step := deploy.DeleteStep{Node: operation.Node{Name: fmt.Sprintf("the delete command of %s", name), Item: len(run.names), Runtime: run, Resource: name}}
		run.names = append(run.names, name)
		for _, r := range list {
			if r.Foreign {
				step.Objects = append(step.Objects, r.ObjectID)
			}
		}
		req.Steps = append(req.Steps, step)
	}
	run.logs = indented(log, run.names)
	own := len(req.Steps)
	for _, step := range beside {
		step.Last = step.Last && !slices.ContainsFunc(slices.Collect(maps.Keys(records)), func(o model.ManifestName) bool { return model.DependsOn(deps, step.Resource, o) })
		needs := step.Needs
		step.Needs = nil
		for _, n := range needs {
			step.Needs = append(step.Needs, own+n)
		}
		req.Steps = append(req.Steps, step)
	}
	return errors.Join(c.delete(ctx, memory, o, req, records), memory.Leave())
}

// TakeDownBeside is TakeDown for resources outside of a cluster.
func TakeDownBeside(ctx context.Context, steps []deploy.DeleteStep, deps ledger.Deps, log logstore.Logger) error {
	return deploy.NewApplier(nil, nil).Delete(ctx, deploy.DeleteRequest{Steps: steps, Deps: deps, Logger: log})
}

// indented returns a logger for each resource, with its name before the lines if there are several: they may print at the same time.
func indented(log logstore.Logger, names []model.ManifestName) []logstore.Logger {
	width := 0
	for _, name := range names {
		width = max(width, len(name))
	}
	out := make([]logstore.Logger, len(names))
	for i, name := range names {
		if out[i] = log; len(names) > 1 {
			out[i] = logstore.Indent(log, fmt.Sprintf("%*s │ ", width, name))
		}
	}
	return out
}

// deleteCommands is the operation.Runtime of resources that commands of the user have deployed; they are only deleted with it.
type deleteCommands struct {
	cluster *Cluster
	names   []model.ManifestName
	logs    []logstore.Logger
}

var _ operation.Runtime = (*deleteCommands)(nil)

// Delete implements operation.Runtime.
func (d *deleteCommands) Delete(ctx context.Context, item int) error {
	defer logstore.Flush(d.logs[item])
	return d.cluster.runDelete(ctx, d.names[item], d.logs[item])
}

// Plan implements operation.Runtime. It plans nothing: the effects of the commands are not known.
func (*deleteCommands) Plan(context.Context, int) (*api.PlanStep, error) { return nil, nil }

// Record implements operation.Runtime. It is done where the command deploys.
func (*deleteCommands) Record(context.Context, []int) error { return errors.ErrUnsupported }

// Apply implements operation.Runtime. See CustomDeploy.
func (*deleteCommands) Apply(context.Context, int) error { return errors.ErrUnsupported }

// Await implements operation.Runtime: the command has waited.
func (*deleteCommands) Await(ctx context.Context, _ int, _ operation.State) error {
	return context.Cause(ctx)
}
