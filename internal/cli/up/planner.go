package up

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// providePlan returns the function that makes the plans of a session. A plan covers the waiting updates, as the session would carry
// them out, and the deletion of objects that are no longer declared. The plan of a paused session shows the effect of resuming it.
func providePlan(o options, p *opened.Project, clusters *buildanddeploy.Clusters, downCommands *buildanddeploy.DownCommands, images *imagebuild.Builder, image *buildanddeploy.Image, c *sessions.Claim) hud.MakePlan {
	others, forCompose := sessionsBeside(c), buildanddeploy.NewImage(nil, images, nil, nil, nil)
	return func(ctx context.Context, now store.View) (api.Plan, error) {
		v, err := engine.Resumed(ctx, now, p.Evaluation())
		if err != nil {
			return api.Plan{}, err
		}
		l := loaded{Project: p, downCommands: downCommands, manifests: state.Declarations(v), chosen: state.Chosen(v), others: others(ctx)}
		if clusters != nil {
			if l.clusters, err = l.inClusters(ctx, state.TheTiltfile(v).Result); err != nil {
				return api.Plan{}, err
			}
		}
		updates := engine.Updates(v, buildanddeploy.Request{Namespace: p.Namespace, Adopt: o.adopt, Reuse: o.shown, Recall: o.command == state.CommandUp, Env: p.Env})
		of := map[model.ManifestName]buildanddeploy.Request{}
		for _, u := range updates {
			of[u.Manifest.Name] = u
		}
		preview := buildanddeploy.PreviewOptions{Adopt: o.adopt, Prune: o.prune, Removal: deploy.RemovalBySession,
			Updates: func(m model.Manifest) bool { u, wanted := of[m.Name]; return wanted && !staysInPlace(u) }}
		preview.Forecast = func(ctx context.Context, m model.Manifest) (buildanddeploy.Forecast, error) {
			if m.Compose != nil {
				return forCompose.Forecast(ctx, of[m.Name])
			}
			return image.Forecast(ctx, of[m.Name]) // in a session without a cluster, there is no such resource
		}
		steps, planned, err := l.preview(ctx, preview)
		if err != nil {
			return api.Plan{}, err
		}
		plan := planOf(state.TheTiltfile(v).Path, p.Known.Context, append(steps, inPlace(updates)...))
		plan.Images, plan.Evaluation = planned, state.TheTiltfile(now).Runs
		return withoutSecrets(plan, v)
	}
}

// provideRevision returns the function that compares the revisions of a session's project; nil for a session without a cluster.
func provideRevision(p *opened.Project, clusters *buildanddeploy.Clusters) hud.ReadRevision {
	if clusters == nil {
		return nil
	}
	return func(ctx context.Context, v store.View, on string, number int) (api.Plan, error) {
		cluster, err := clusters.On(ctx, on)
		if err != nil {
			return api.Plan{}, err
		}
		steps, err := cluster.RevisionSteps(ctx, number)
		if err != nil {
			return api.Plan{}, err
		}
		return withoutSecrets(revisionPlan(p.Path, cmp.Or(on, p.Known.Context), on, cluster.Revisions(), number, steps), v)
	}
}

// withoutSecrets hides the secrets of a state in a plan. A session that is paused need not know them yet.
func withoutSecrets(plan api.Plan, v store.View) (hidden api.Plan, err error) {
	doc, err := json.Marshal(plan)
	if err != nil {
		return hidden, fmt.Errorf("hide secrets in a plan: %w", err)
	}
	err = json.Unmarshal(redact.Of(v).JSON(doc), &hidden)
	return hidden, err
}

// staysInPlace reports whether an update brings files into running containers, and does not fall back to a new image because of these
// files.
func staysInPlace(u buildanddeploy.Request) bool { return u.InPlace && u.FallsBack() == "" }

// inPlace returns the steps of the updates that only bring files into running containers.
func inPlace(updates []buildanddeploy.Request) (steps []api.PlanStep) {
	for _, u := range updates {
		if !staysInPlace(u) {
			continue
		}
		name := string(u.Manifest.Name)
		steps = append(steps, api.PlanStep{Object: api.PlanObject{Kind: api.PlanContainers, Name: name}, Resource: name, Action: api.ActionRun,
			Reason: "changed files are brought into the running containers"})
	}
	return steps
}
