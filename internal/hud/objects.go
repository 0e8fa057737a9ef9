package hud

import (
	"context"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// ReadObject returns an object of the cluster as YAML for people: as it is now, without the values of Secrets. An error is a
// problem unless the context has ended. It is called when the user asks for an object, away from the drawing.
type ReadObject func(ctx context.Context, o model.AppliedObject) (string, error)

// reader returns a ReadObject that also hides the secrets of the session where other objects than Secrets hold them. v returns
// the current state.
func (read ReadObject) reader(v func() store.View) ReadObject {
	return func(ctx context.Context, o model.AppliedObject) (string, error) {
		if read == nil {
			return "", problem.New("this session has no cluster", "Objects can be read while a session with a cluster runs")
		}
		text, err := read(ctx, o)
		if err != nil {
			return "", err
		}
		return logstore.NewScrubber(state.TheTiltfile(v()).Result.Secrets).Text(text), nil
	}
}

// MakePlan returns the effect of the updates that wait, according to the API server, without secrets, and writes nothing. It is called when the
// user asks for it, away from the drawing.
type MakePlan func(ctx context.Context, v store.View) (api.Plan, error)

// reader returns a function that makes a plan for a screen, without the secrets of the session; nil if none can be made. v returns the current
// state.
func (make MakePlan) reader(v func() store.View) func(ctx context.Context) (view.Plan, error) {
	if make == nil {
		return nil
	}
	return func(ctx context.Context) (view.Plan, error) {
		plan, err := make(ctx, v())
		if err != nil {
			return view.Plan{}, err
		}
		return view.Plan{Lines: view.PlanLines(plan), Summary: view.PlanSummary(plan), Runs: plan.Evaluation}, nil
	}
}

// ReadRevision returns the differences of a revision in a cluster to the one before as a plan, without secrets. An error is a problem unless the context has
// ended. It is called when the user asks for the revision, away from the drawing.
type ReadRevision func(ctx context.Context, v store.View, on string, number int) (api.Plan, error)

// reader returns a function that reads a revision for a screen; nil if there is no ledger to read. v returns the current state.
func (read ReadRevision) reader(v func() store.View) func(ctx context.Context, of view.RevisionRef) ([]view.Line, error) {
	if read == nil {
		return nil
	}
	return func(ctx context.Context, of view.RevisionRef) ([]view.Line, error) {
		plan, err := read(ctx, v(), of.On, of.Number)
		return view.RevisionLines(plan), err
	}
}

// ReadPrevious returns the newest lines of the run of a container before its present one. An error is a problem unless the context
// has ended. It is called when the user asks for the run, away from the drawing. The container is named by its resource, namespace, pod
// and name.
type ReadPrevious func(ctx context.Context, of model.ContainerRef) ([]string, error)

// reader returns a ReadPrevious that also hides the secrets of the session. v returns the current state.
func (read ReadPrevious) reader(v func() store.View) ReadPrevious {
	return func(ctx context.Context, of model.ContainerRef) ([]string, error) {
		if read == nil {
			return nil, problem.New("this session has no cluster", "Previous runs can be read while a session with a cluster runs")
		}
		of.Cluster = state.Resources.In(v()).Value(string(of.Resource)).Manifest.Cluster()
		lines, err := read(ctx, of)
		scrubber := logstore.NewScrubber(state.TheTiltfile(v()).Result.Secrets)
		for i := range lines {
			lines[i] = scrubber.Text(lines[i])
		}
		return lines, err
	}
}
