package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/model"
)

// InPlace updates running containers without a new image.
type InPlace struct {
	name    string
	updater liveupdate.Updater
	accepts func(ctx context.Context, c model.ContainerRef) string
	// absorbs means that the updater accepts further files for a container before an earlier update of it has ended.
	absorbs bool
}

// NewSynclet returns the builder that updates containers through hone's program inside them.
func NewSynclet(synclets liveupdate.Updater) *InPlace {
	return &InPlace{name: "synclet", updater: synclets, accepts: running, absorbs: true}
}

// NewExec returns the builder that updates containers through Kubernetes exec. runs, unless nil, learns of the runs that it updates.
func NewExec(pods liveupdate.PodExecer, runs *liveupdate.Runs) *InPlace {
	return &InPlace{name: "exec", updater: liveupdate.ExecUpdater{Pods: pods, Runs: runs}, accepts: running}
}

// running declines a container that stands: nothing starts in it.
func running(_ context.Context, c model.ContainerRef) string {
	if c.Stopped {
		return fmt.Sprintf("container %s has crashed", c.Pod)
	}
	return ""
}

// NewContainer returns the builder that updates containers through the engine's API. It accepts only containers that run
// in that engine, which has reports, and those of Compose that have crashed in it. runs, unless nil, learns of the runs that it updates.
func NewContainer(engine liveupdate.Engine, has func(ctx context.Context, id string) bool, runs *liveupdate.Runs) *InPlace {
	return &InPlace{name: "container", updater: liveupdate.ContainerUpdater{Engine: engine, Runs: runs, Running: has},
		accepts: func(ctx context.Context, c model.ContainerRef) string {
			if here := c.Stopped || has(ctx, c.ID); c.Runtime != "docker" || !here {
				return fmt.Sprintf("container %s runs in %s, not in the container engine that hone reaches", c.Name, c.Runtime)
			}
			return ""
		}}
}

var _ BuildAndDeployer = (*InPlace)(nil)

// Name implements BuildAndDeployer.
func (b *InPlace) Name() string { return b.name }

// BuildAndDeploy implements BuildAndDeployer: it brings every container that lacks changes up to date, all at once. Containers that
// take much longer than the others are left behind, see Lane. A failing command of the user is reported after the other
// containers have been updated; if it failed in only some of the containers of an image, they need a new image.
func (b *InPlace) BuildAndDeploy(ctx context.Context, req Request) (Result, error) {
	switch {
	case req.InPlace && req.Absent != "":
		return Result{}, &liveupdate.FallBackError{Reason: req.Absent}
	case !req.InPlace || len(req.Containers) == 0:
		return Result{}, &Declined{}
	}
	for _, c := range req.Containers {
		why := b.accepts(ctx, c.ContainerRef)
		if spec, _, _ := req.Manifest.LiveUpdateOf(c.Ref); why == "" && spec.RestartContainer && b.name != "container" && c.Synclet == "" {
			why = fmt.Sprintf("only the container engine can restart container %s", c.Name)
		}
		if why != "" {
			return Result{}, &Declined{Reason: why}
		}
	}
	plans, err := req.plans(b.name)
	if err != nil {
		return Result{}, err
	}
	req.Commit()
	s := newLanes(req)
	for i, c := range req.Containers {
		req.Progress(b.name, fmt.Sprintf("updating %s in place", c.Pod), model.BuildProgress{})
		s.open(ctx, c, b.send(req, c, plans[i]))
	}
	if b.absorbs && !slices.ContainsFunc(plans, hasSteps) {
		s.absorb = func() { b.absorb(req, s) }
	}
	s.wait(req)
	r, err := s.outcome(ctx)
	for i, p := range plans {
		if !p.Empty() {
			r.Touched = append(r.Touched, req.Containers[i].ID)
		}
	}
	return r, err
}

// hasSteps reports whether a plan requires more than a copy.
func hasSteps(p liveupdate.Plan) bool { return p.Effort() > model.EffortCopy }

// absorb takes in the files that have changed since the update began, or since it did so last. If a container is far away, waiting for
// its answer takes much longer than saving a hundred files.
func (b *InPlace) absorb(req Request, s *lanes) {
	since := req.StartedAt
	if !s.until.IsZero() {
		since = s.until
	}
	a := req.Absorb(since)
	if a == nil {
		return
	}
	req.Containers, req.Save = a.Containers, a.Save
	plans, err := req.plans(b.name)
	if err != nil || slices.ContainsFunc(plans, hasSteps) {
		return // the next update says why
	}
	s.raise(a, func(i int) send { return b.send(req, a.Containers[i], plans[i]) })
}

// FallsBack returns why an update in place is going to fall back to a new image, as far as the changed files tell; empty if they do
// not. Only the update itself finds what goes wrong on the way.
func (r Request) FallsBack() string {
	if r.Absent != "" {
		return r.Absent
	}
	var why *liveupdate.FallBackError
	if _, err := r.plans("container"); errors.As(err, &why) { // which can do the most: it restarts containers, too
		return why.Error()
	}
	return ""
}

// plans makes all plans of a builder before the first container is touched, so that a change that cannot be made in place leaves all
// of them as they are.
func (r Request) plans(builder string) ([]liveupdate.Plan, error) {
	plans := make([]liveupdate.Plan, len(r.Containers))
	for i, c := range r.Containers {
		spec, ignores, ok := r.Manifest.LiveUpdateOf(c.Ref)
		if !ok {
			return nil, &liveupdate.FallBackError{Reason: fmt.Sprintf("the live update of %s is no longer declared", whose(c.ContainerRef))}
		}
		if spec.RestartContainer && c.Synclet != "" { // with a supervisor, the container itself need not be restarted
			spec.RestartContainer, spec.RestartProcess = false, &model.RestartProcess{}
		}
		in := liveupdate.Input{Spec: spec, Changed: c.Files, NoRestart: builder != "container"}
		var p liveupdate.Plan
		var err error
		if spec.InitialSync && c.New {
			p, err = initialPlan(in, slices.Concat(r.Ignores, ignores))
		} else {
			p, err = liveupdate.Make(in)
		}
		if err != nil {
			return nil, err
		}
		p.Fresh = c.New
		plans[i] = p
	}
	return plans, nil
}

// whose names the owner of the live update of a container.
func whose(c model.ContainerRef) string {
	if c.Ref == "" {
		return "container " + c.Name
	}
	return "image " + c.Ref
}

func initialPlan(in liveupdate.Input, ignores []model.Ignore) (liveupdate.Plan, error) {
	m, err := watch.NewMatcher(ignores)
	if err != nil {
		return liveupdate.Plan{}, &liveupdate.FallBackError{Reason: err.Error()}
	}
	in.Ignore = m.Matches
	return liveupdate.InitialPlan(in)
}

// send returns how to carry out a plan in a container.
func (b *InPlace) send(req Request, c model.LackingContainer, plan liveupdate.Plan) send {
	return func(ctx context.Context) (u model.ContainerUpdate, did bool, err error) {
		u = c.UpdateBy(b.name)
		if plan.Empty() && !c.Stopped {
			return u, false, nil
		}
		began := time.Now()
		r, err := b.updater.Update(ctx, c.ContainerRef, plan, req.Log)
		u.Files, u.Deletes, u.Same, u.Bytes = r.Files, r.Deletes, r.Same, r.Bytes
		u.Stages = stages(req, c, began, r)
		return u, true, err
	}
}

// stages returns the durations of the stages whose ends are in a report. A container that has just started gets files
// that were saved long ago: there the stages begin with the update itself.
func stages(req Request, c model.LackingContainer, began time.Time, r liveupdate.Report) (s model.Stages) {
	last := began
	if req.Save != nil {
		if made, known := req.Save(c.Files); known.After(c.StartedAt) {
			s.Noticed, s.Waited = max(known.Sub(made), 0), max(began.Sub(known), 0)
		}
	}
	for _, p := range []struct {
		took *time.Duration
		end  time.Time
	}{{&s.Sent, r.Sent}, {&s.Applied, r.Applied}, {&s.Ran, r.Ran}, {&s.Restarted, r.Restarted}} {
		if !p.end.IsZero() {
			*p.took, last = p.end.Sub(last), p.end
		}
	}
	return s
}

func shortID(c model.ContainerRef) string {
	id := strings.TrimSpace(c.ID)
	return id[:min(len(id), 10)]
}
