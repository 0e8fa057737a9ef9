package buildanddeploy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

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

// NewSynclet returns the builder that updates containers through hone's program inside them.
func NewSynclet(synclets liveupdate.Updater) *InPlace {
	return &InPlace{name: "synclet", updater: synclets, accepts: func(context.Context, Container) string { return "" }}
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

// BuildAndDeploy implements BuildAndDeployer: it brings every container that lacks changes up to date, all at once. A
// failing command of the user is reported after the other containers have been updated; if it failed in some of the
// containers of an image only, they need a new image.
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
	errs := make([]error, len(req.Containers))
	var all sync.WaitGroup
	for i, c := range req.Containers {
		req.Progress(b.name, fmt.Sprintf("updating %s in place", c.Pod))
		all.Go(func() { errs[i] = b.update(ctx, req, c, plans[i]) })
	}
	all.Wait()
	return outcome(req.Containers, errs)
}

// outcome sums up what became of the containers. An error that is not the user's goes first.
func outcome(containers []Container, errs []error) (Result, error) {
	var result Result
	var failed, broken error
	var failedImage string
	updated := map[string]int{} // by image: containers of different images need not agree
	for i, c := range containers {
		switch err := errs[i]; {
		case liveupdate.IsUserError(err):
			failed, failedImage = err, c.Image
		case err != nil:
			broken = err
			continue
		default:
			updated[c.Image]++
		}
		result.Synced = append(result.Synced, c.ID)
	}
	if n := updated[failedImage]; failed != nil && n > 0 {
		failed = &liveupdate.FallBackError{Reason: fmt.Sprintf("the pods are inconsistent now: it worked in %d, and in another: %v", n, failed)}
	}
	if broken != nil {
		return result, broken
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
		in := liveupdate.Input{Spec: spec, Changed: c.Files, NoRestart: b.name != "container"}
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

func (b *InPlace) update(ctx context.Context, req Request, c Container, plan liveupdate.Plan) error {
	if plan.Empty() {
		return nil
	}
	spec, _, _ := req.Manifest.LiveUpdateOf(c.Image)
	target := liveupdate.Container{Namespace: c.Namespace, Pod: c.Pod, Name: c.Name, ID: c.ID,
		Image: c.Running, Ref: c.Image, Synclet: c.Synclet, Arch: req.Cluster.Arch, Syncs: spec.Syncs, Fresh: c.New}
	if err := b.updater.Update(ctx, target, plan, req.Log); err != nil {
		return err
	}
	logstore.Infof(req.Log, "→ Container %s updated!", shortID(c))
	return nil
}

func shortID(c Container) string {
	id := strings.TrimSpace(c.ID)
	return id[:min(len(id), 10)]
}
