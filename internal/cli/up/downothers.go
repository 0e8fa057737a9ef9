package up

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// addOthers adds the steps that take the project down in other clusters than its own. It returns the clusters that the Tiltfile no
// longer declares and that are empty afterwards. The objects in a cluster that does not answer stay; the error says so.
func (o *outside) addOthers(ctx context.Context, p *opened.Project, tf model.Tiltfile, f downFlags, log *command.Printer) (emptied []*opened.Project, err error) {
	declared, former, err := p.Beside(tf)
	if err != nil {
		return nil, err
	}
	home := map[model.ManifestName]string{}
	for _, m := range tf.Manifests {
		home[m.Name] = m.Cluster()
	}
	var errs []error
	for _, part := range slices.Concat(declared, former) {
		records, in, err := othersOf(ctx, part, tf, log)
		gone := slices.Contains(former, part)
		switch {
		case err != nil && gone && ctx.Err() == nil:
			logstore.Warnf(log, "%s, which the Tiltfile no longer declares, may still hold objects of the project: %s", part.Title(), problem.Text(err))
			continue
		case err != nil:
			errs = append(errs, err)
			continue
		case gone && len(p.Args) == 0:
			emptied = append(emptied, part)
		}
		if len(records) == 0 {
			continue
		}
		names := slices.Sorted(maps.Keys(records))
		o.elsewhere = append(o.elsewhere, names...)
		tellSessions(ctx, p.Path, p.Known.Context, names, log)
		steps := in.cluster.TakeDownElsewhere(f.options(o.tally), records, o.locals.deps, crosses(o.locals.deps, home), log)
		o.steps, o.inOthers = append(o.steps, steps...), o.inOthers+len(steps)
	}
	return emptied, errors.Join(errs...)
}

// othersOf returns the objects that a project has recorded and declares in another cluster.
func othersOf(ctx context.Context, part *opened.Project, tf model.Tiltfile, log *command.Printer) (map[model.ManifestName][]ledger.Record, inCluster, error) {
	cluster, err := part.Connect(ctx)
	if err != nil {
		return nil, inCluster{}, err
	}
	in := inCluster{part, cluster}
	cluster.Declare(in.declared(tf.Manifests), tf.Read)
	defer log.Await(part.Title() + " to say what there is to delete")()
	records, err := collectRecords(ctx, in, tf)
	return records, in, err
}

// crosses reports whether a resource depends on one in another cluster.
func crosses(deps ledger.Deps, home map[model.ManifestName]string) bool {
	for of, on := range deps {
		if slices.ContainsFunc(on, func(other model.ManifestName) bool { return home[other] != home[of] }) {
			return true
		}
	}
	return false
}

// options returns the options of the deletion of a project's objects.
func (f downFlags) options(t *tally) buildanddeploy.DeleteOptions {
	return buildanddeploy.DeleteOptions{Namespaces: f.namespaces, Volumes: f.volumes, Definitions: true, Wait: f.wait, Pods: true, Removal: deploy.RemovalDown,
		WaitLimit: f.timeout, Outcome: t.add}
}

// forgetEmptied forgets clusters that the Tiltfile no longer declares, and in which nothing is left.
func forgetEmptied(ctx context.Context, parts []*opened.Project) error {
	var errs []error
	for _, part := range parts {
		errs = append(errs, part.Forget(ctx))
	}
	return errors.Join(errs...)
}
