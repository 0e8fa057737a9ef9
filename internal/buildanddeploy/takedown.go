package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/hone-dev/hone/internal/deploy"
	"github.com/hone-dev/hone/internal/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// TakeDown deletes the resources that records names: what commands of the user deployed with the user's delete commands,
// everything else as Delete does. Deps says what resources depend on, as far as that is known. Before a delete command runs,
// the resources that depend on its one are deleted; what else there is, such as the namespace, goes last. It goes on where
// something cannot be deleted, and joins the errors.
func (c *Cluster) TakeDown(ctx context.Context, o DeleteOptions, records map[model.ManifestName][]deploy.ObjectRecord,
	deps map[model.ManifestName][]model.ManifestName, log logstore.Logger) error {
	ledger, err := c.Ledger(ctx)
	if err != nil {
		return err
	}
	commands, err := ledger.Commands()
	if err != nil {
		return err
	}
	all, left := map[model.ManifestName][]model.ManifestName{}, maps.Clone(records)
	maps.Copy(all, deps)
	for name := range records {
		all[name] = deps[name]
	}
	var errs []error
	for _, custom := range model.DependentsFirst(all) {
		_, byCommand := commands[custom]
		if _, asked := records[custom]; !asked || !byCommand {
			continue
		}
		if first := take(left, func(n model.ManifestName) bool { return model.DependsOn(all, n, custom) }); len(first) > 0 {
			errs = append(errs, c.Delete(ctx, o, first, log))
		}
		if err := c.runDelete(ctx, custom, log); err != nil {
			errs = append(errs, fmt.Errorf("delete %s: %w", custom, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(left) > 0 {
		errs = append(errs, c.Delete(ctx, o, left, log))
	}
	return errors.Join(errs...)
}

// take moves the chosen resources out of a map.
func take(from map[model.ManifestName][]deploy.ObjectRecord, chosen func(model.ManifestName) bool) map[model.ManifestName][]deploy.ObjectRecord {
	out := map[model.ManifestName][]deploy.ObjectRecord{}
	for n, list := range from {
		if chosen(n) {
			out[n] = list
			delete(from, n)
		}
	}
	return out
}
