package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/liveupdate"
	"github.com/hone-dev/hone/internal/logstore"
	"github.com/hone-dev/hone/internal/watch"
	"github.com/hone-dev/hone/pkg/model"
)

// InPlace updates running containers without a new image.
type InPlace struct {
	name    string
	updater liveupdate.Updater
	accepts func(ctx context.Context, c Container) string
}

// NewExec returns the builder that updates containers through Kubernetes exec.
func NewExec(pods liveupdate.PodExecer) *InPlace {
	return &InPlace{name: "exec", updater: liveupdate.ExecUpdater{Pods: pods},
		accepts: func(context.Context, Container) string { return "" }}
}

// NewContainer returns the builder that updates containers through the engine's API. It takes only containers that run
// in that engine, which has is asked for.
func NewContainer(engine liveupdate.Engine, has func(ctx context.Context, id string) bool) *InPlace {
	return &InPlace{name: "container", updater: liveupdate.ContainerUpdater{Engine: engine},
		accepts: func(ctx context.Context, c Container) string {
			if c.Runtime != "docker" || !has(ctx, c.ID) {
				return fmt.Sprintf("container %s runs in %s, not in the container engine that hone reaches", c.Name, c.Runtime)
			}
			return ""
		}}
}

var _ BuildAndDeployer = (*InPlace)(nil)

// Name implements BuildAndDeployer.
func (b *InPlace) Name() string { return b.name }

// BuildAndDeploy implements BuildAndDeployer: it brings every container that lacks changes up to date, one after the
// other. A failing command of the user is reported after the other containers have been updated; if it failed in some of
// the containers of an image only, they need a new image.
func (b *InPlace) BuildAndDeploy(ctx context.Context, req Request) (Result, error) {
	if !req.InPlace || len(req.Containers) == 0 {
		return Result{}, &Declined{}
	}
	for _, c := range req.Containers {
		if why := b.accepts(ctx, c); why != "" {
			return Result{}, &Declined{Reason: why}
		}
	}
	plans, err := b.plan(req)
	if err != nil {
		return Result{}, err
	}
	req.Commit()
	var result Result
	var failed error
	var failedImage string
	updated := map[string]int{} // by image: containers of different images need not agree
	for i, c := range req.Containers {
		req.Progress(b.name, fmt.Sprintf("updating %s in place", c.Pod))
		err := b.update(ctx, c, plans[i], req.Log)
		var run *liveupdate.RunStepError
		switch {
		case errors.As(err, &run):
			failed, failedImage = err, c.Image
		case err != nil:
			return result, err
		default:
			updated[c.Image]++
		}
		result.Synced = append(result.Synced, c.ID)
	}
	if n := updated[failedImage]; failed != nil && n > 0 {
		return result, &liveupdate.FallBackError{Reason: fmt.Sprintf("the pods are inconsistent now: it worked in %d, and in another: %v", n, failed)}
	}
	return result, failed
}

// plan makes all plans before the first container is touched, so that a change that does not fit leaves all of them as
// they are.
func (b *InPlace) plan(req Request) ([]liveupdate.Plan, error) {
	plans := make([]liveupdate.Plan, len(req.Containers))
	for i, c := range req.Containers {
		spec, ignores, ok := req.Manifest.LiveUpdateOf(c.Image)
		if !ok {
			return nil, &liveupdate.FallBackError{Reason: fmt.Sprintf("the live update of %s is no longer declared", whose(c))}
		}
		in := liveupdate.Input{Spec: spec, Changed: c.Files, NoRestart: b.name == "exec"}
		if spec.InitialSync && c.New {
			p, err := initialPlan(in, slices.Concat(req.Ignores, ignores))
			if err != nil {
				return nil, err
			}
			plans[i] = p
			continue
		}
		p, err := liveupdate.Make(in)
		if err != nil {
			return nil, err
		}
		plans[i] = p
	}
	return plans, nil
}

// whose names what the live update of a container belongs to.
func whose(c Container) string {
	if c.Image == "" {
		return "container " + c.Name
	}
	return "image " + c.Image
}

func initialPlan(in liveupdate.Input, ignores []model.Ignore) (liveupdate.Plan, error) {
	m, err := watch.NewMatcher(ignores)
	if err != nil {
		return liveupdate.Plan{}, &liveupdate.FallBackError{Reason: err.Error()}
	}
	in.Ignore = m.Matches
	return liveupdate.InitialPlan(in)
}

func (b *InPlace) update(ctx context.Context, c Container, plan liveupdate.Plan, log logstore.Logger) error {
	if plan.Empty() {
		return nil
	}
	target := liveupdate.Container{Namespace: c.Namespace, Pod: c.Pod, Name: c.Name, ID: c.ID}
	if err := b.updater.Update(ctx, target, plan, log); err != nil {
		return err
	}
	logstore.Infof(log, "→ Container %s updated!", shortID(c))
	return nil
}

func shortID(c Container) string {
	id := strings.TrimSpace(c.ID)
	return id[:min(len(id), 10)]
}
