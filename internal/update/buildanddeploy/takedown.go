package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/pkg/model"
)

// TakeDown deletes the resources in records: those that commands of the user deployed with the user's delete commands,
// all others as Delete does. deps holds the known dependencies of resources: a resource is deleted before its
// dependencies. Independent resources are deleted concurrently; one that is stuck or fails delays only its dependencies.
//
// The down commands of the given local resources run in the same order. Those that depend on nothing in records run after everything
// else, unless something that had to go first is left.
// The error joins all errors.
func (c *Cluster) TakeDown(ctx context.Context, o DeleteOptions, records map[model.ManifestName][]deploy.ObjectRecord,
	deps map[model.ManifestName][]model.ManifestName, downs *Downs, locals []model.ManifestName, log logstore.Logger) error {
	ctx = patiently(ctx, log)
	ledger, err := c.Ledger(ctx)
	if err != nil {
		return err
	}
	commands, err := ledger.Commands()
	if err != nil {
		return err
	}
	maps.DeleteFunc(commands, func(name model.ManifestName, _ model.Cmd) bool {
		_, asked := records[name]
		return !asked
	})
	req := deploy.DeleteRequest{Deps: deps, Logger: log}
	names := slices.Sorted(maps.Keys(commands))
	width := 0
	for _, name := range names {
		width = max(width, len(name))
	}
	for _, name := range names {
		step := deploy.DeleteStep{Name: fmt.Sprintf("the delete command of %s", name), Resource: name}
		for _, r := range records[name] {
			if r.Foreign {
				step.Objects = append(step.Objects, r.ObjectID)
			}
		}
		own := log
		if len(names) > 1 { // several may print at the same time
			own = logstore.Indent(log, fmt.Sprintf("%*s │ ", width, name))
		}
		step.Run = func(ctx context.Context) error {
			defer logstore.Flush(own)
			return c.runDelete(ctx, name, own)
		}
		req.Steps = append(req.Steps, step)
	}
	var last []model.ManifestName // of the locals, those whose turn has come
	var mu sync.Mutex
	for _, name := range locals {
		early := slices.ContainsFunc(slices.Collect(maps.Keys(records)), func(o model.ManifestName) bool { return model.DependsOn(deps, name, o) })
		req.Steps = append(req.Steps, deploy.DeleteStep{Name: stepName(downCommand, name), Resource: name, Run: func(ctx context.Context) error {
			if early {
				return downs.Run(ctx, name, log)
			}
			mu.Lock()
			defer mu.Unlock()
			last = append(last, name)
			return nil
		}})
	}
	err = c.delete(ctx, ledger, o, req, records)
	return errors.Join(err, downs.TakeDown(ctx, last, deps, log))
}
