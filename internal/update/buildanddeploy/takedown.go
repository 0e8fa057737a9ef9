package buildanddeploy

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/pkg/model"
)

// TakeDown deletes the resources in records: those that commands of the user deployed with the user's delete commands,
// all others as Delete does. deps holds the known dependencies of resources: a resource is deleted before its
// dependencies. Independent resources are deleted concurrently; one that is stuck or fails delays only its dependencies.
// The error joins all errors.
func (c *Cluster) TakeDown(ctx context.Context, o DeleteOptions, records map[model.ManifestName][]deploy.ObjectRecord,
	deps map[model.ManifestName][]model.ManifestName, log logstore.Logger) error {
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
	return c.delete(ctx, ledger, o, req, records)
}
