package up

import (
	"context"
	"maps"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// buildersDown deletes the builders in the project's namespace, with their caches; or says that they stay, where the project uses one.
func buildersDown(ctx context.Context, p *opened.Project, tf model.Tiltfile, f downFlags, log *command.Printer) error {
	if uses := p.BuildsInCluster(tf.Builder) && len(p.Args) == 0; !f.builders && !uses {
		return nil
	}
	builders, err := p.Builders(ctx)
	if err != nil || builders == nil { // without a kubeconfig there is nothing to delete
		return err
	}
	namespace := tf.Builder.Pod.Namespace
	if namespace == "" {
		namespace = p.Namespace
	}
	records, err := recordedIn(p.Patiently(ctx), builders, namespace)
	switch {
	case err != nil:
		return err
	case !f.builders && len(records) > 1:
		logstore.Infof(log, "The %d builders in namespace %s stay: hone down --builders deletes them", len(records), namespace)
		return nil
	case !f.builders && len(records) > 0:
		logstore.Infof(log, "The builder in namespace %s stays: hone down --builders deletes it", namespace)
		return nil
	case !f.builders:
		return nil
	}
	t := &tally{}
	err = builders.Delete(ctx, buildanddeploy.DeleteOptions{Volumes: true, Wait: f.wait, Pods: true, Removal: deploy.RemovalDown, WaitLimit: f.timeout, Outcome: t.add}, records, log)
	if err == nil {
		logstore.Infof(log, "Builders: %s", t.text(false))
	}
	return err
}

// recordedIn returns the records of objects in a namespace.
func recordedIn(ctx context.Context, in *buildanddeploy.Cluster, namespace string) (ledger.Records, error) {
	memory, err := in.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	all, err := memory.Resources()
	if err != nil {
		return nil, err
	}
	records := ledger.Records{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, r := range all[name] {
			if r.Namespace == namespace {
				records[name] = append(records[name], r)
			}
		}
	}
	return records, nil
}
