package up

import (
	"cmp"
	"context"
	"errors"
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

// buildersDown deletes the builders in the project's namespace, and in the one of the cluster that the Tiltfile names, with their caches; or says
// that they stay, where the project uses one.
func buildersDown(ctx context.Context, p *opened.Project, tf model.Tiltfile, f downFlags, log *command.Printer) error {
	if uses := p.BuildsInCluster(tf.Builder) && len(p.Args) == 0; !f.builders && !uses {
		return nil
	}
	pod := tf.Builder.Pod
	err := buildersDownIn(ctx, p, pod, f, true, log)
	if f.builders && pod.Cluster != "" { // there may be earlier ones
		err = errors.Join(err, buildersDownIn(ctx, p, model.BuilderPod{}, f, false, log))
	}
	return err
}

// buildersDownIn is buildersDown in the namespace of a pod. It says so if there is nothing to delete where builders are expected.
func buildersDownIn(ctx context.Context, p *opened.Project, pod model.BuilderPod, f downFlags, expected bool, log *command.Printer) error {
	in, kube, err := p.BuildsIn(pod)
	if err != nil || kube == nil { // without a kubeconfig there is nothing to delete
		return err
	}
	builders, err := in.Builders(ctx)
	if err != nil {
		return err
	}
	namespace := cmp.Or(pod.Namespace, in.Namespace)
	records, err := recordedIn(in.Patiently(ctx), builders, namespace)
	namespace += ofCluster(pod)
	switch {
	case err != nil:
		return err
	case !f.builders && len(records) > 1:
		logstore.Infof(log, "The %d builders in namespace %s stay: hone down --builders deletes them", len(records), namespace)
		return nil
	case !f.builders && len(records) > 0:
		logstore.Infof(log, "The builder in namespace %s stays: hone down --builders deletes it", namespace)
		return nil
	case !f.builders, len(records) == 0 && !expected:
		return nil
	}
	t := &tally{}
	err = builders.Delete(ctx, buildanddeploy.DeleteOptions{Volumes: true, Wait: f.wait, Pods: true, Removal: deploy.RemovalDown, WaitLimit: f.timeout, Outcome: t.add}, records, log)
	if err == nil {
		logstore.Infof(log, "Builders%s: %s", ofCluster(pod), t.text(false))
	}
	return err
}

// ofCluster names the cluster of a builder, behind another name; empty for the session's own cluster.
func ofCluster(pod model.BuilderPod) string {
	if pod.Cluster == "" {
		return ""
	}
	return " of cluster " + pod.Cluster
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
