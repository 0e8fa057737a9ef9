package up

import (
	"context"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// providePlan returns what makes the plans of a session: of what its Tiltfile declares now, for the resources that it runs.
func providePlan(o options, kc *k8s.Kubeconfig, cluster *buildanddeploy.Cluster, downs *buildanddeploy.Downs) hud.MakePlan {
	known := kc.Cluster()
	return func(ctx context.Context, v store.View) (api.Plan, error) {
		enabled := map[model.ManifestName]bool{}
		all := map[model.ManifestName]bool{}
		for e := range state.Resources.In(v).Entries() {
			gone := e.Phase == store.TearingDown && e.Value.Next == nil
			all[model.ManifestName(e.ID)], enabled[model.ManifestName(e.ID)] = !gone, e.Value.Enabled
		}
		l := loaded{asked: askedCluster{kc: kc, known: known, tell: func(k8s.Wait) {}}, cluster: cluster, downs: downs, manifests: state.Declarations(v),
			namespace: namespaceOf(o, known), chosen: func(name model.ManifestName) bool { return !all[name] || enabled[name] }}
		steps, err := l.preview(ctx, buildanddeploy.PreviewOptions{Adopt: o.adopt, Prune: o.prune, Removal: deploy.RemovalBySession})
		if err != nil {
			return api.Plan{}, err
		}
		plan := planOf(state.TheTiltfile(v).Path, known.Context, steps)
		plan.Evaluation = state.TheTiltfile(v).Runs
		return plan, nil
	}
}
