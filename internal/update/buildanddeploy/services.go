package buildanddeploy

import (
	"context"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Service is a service of Compose in an operation.
type Service struct {
	Resource model.ManifestName
	Target   *model.ComposeTarget
	// Start creates the containers as they are declared, and starts them; nil in an operation that starts none.
	Start func(ctx context.Context) error
	Log   logstore.Logger
}

// services is the operation.Runtime of services of Compose. The labels that Compose gives to containers are the record of them.
type services struct {
	engine compose.Engine
	items  []Service
}

var _ operation.Runtime = (*services)(nil)

// ServiceNodes returns a node for each service. None of them needs another: Compose itself orders the services.
func ServiceNodes(engine compose.Engine, items []Service) []operation.Node {
	r := &services{engine, items}
	nodes := make([]operation.Node, len(items))
	for i, s := range items {
		nodes[i] = operation.Node{Name: "service " + s.Target.Service, Item: i, Runtime: r, Resource: s.Resource, Whole: true}
	}
	return nodes
}

// Plan implements operation.Runtime. Only Compose itself knows whether it would make a container again.
func (s *services) Plan(ctx context.Context, item int) (*api.PlanStep, error) {
	at := s.items[item]
	list, err := compose.Containers(ctx, s.engine, at.Target.Project.Name, at.Target.Service)
	if err != nil {
		return nil, err
	}
	step := &api.PlanStep{Object: api.PlanObject{Kind: api.PlanCompose, Name: string(at.Resource)}, Resource: string(at.Resource), Action: api.ActionRun,
		Reason: "docker compose up: a container that differs is made again"}
	if len(list) == 0 {
		step.Action, step.Reason = api.ActionCreate, ""
	}
	return step, nil
}

// Record implements operation.Runtime.
func (*services) Record(ctx context.Context, _ []int) error { return context.Cause(ctx) }

// Apply implements operation.Runtime.
func (s *services) Apply(ctx context.Context, item int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.items[item].Start(ctx)
}

// Delete implements operation.Runtime. Networks and volumes stay.
func (s *services) Delete(ctx context.Context, item int) error {
	at := s.items[item]
	return compose.Remove(ctx, s.engine, at.Target.Project.Name, at.Target.Service, at.Log)
}

// Await implements operation.Runtime: Compose and the engine have waited.
func (*services) Await(ctx context.Context, _ int, _ operation.State) error {
	return context.Cause(ctx)
}

// Project is a project of Compose that an operation takes down as a whole.
type Project struct {
	model.ComposeProject
	Services []Service
	// Volumes is set if its volumes go, too.
	Volumes bool
}

// projects is the operation.Runtime of whole projects of Compose: of the things that remain when their services are gone.
type projects struct {
	runner compose.Runner
	items  []Project
	log    logstore.Logger
}

var _ operation.Runtime = (*projects)(nil)

// ProjectSteps returns the steps that take projects down: first their services, then the rest of each project.
func ProjectSteps(engine compose.Engine, runner compose.Runner, items []Project, log logstore.Logger) []deploy.DeleteStep {
	r := &projects{runner, items, log}
	var steps []deploy.DeleteStep
	for i, p := range items {
		at := len(steps)
		steps = append(steps, deploy.DeleteStep{Node: operation.Node{Name: "Compose project " + p.Name, Item: i, Runtime: r}})
		for _, n := range ServiceNodes(engine, p.Services) {
			n.Needs = []int{at}
			steps = append(steps, deploy.DeleteStep{Node: n})
		}
	}
	return steps
}

// Delete implements operation.Runtime.
func (p *projects) Delete(ctx context.Context, item int) error {
	return p.runner.Down(ctx, p.items[item].ComposeProject, p.items[item].Volumes, p.log)
}

// Plan implements operation.Runtime. A project is made with its services.
func (*projects) Plan(context.Context, int) (*api.PlanStep, error) { return nil, nil }

// Record implements operation.Runtime.
func (*projects) Record(ctx context.Context, _ []int) error { return context.Cause(ctx) }

// Apply implements operation.Runtime.
func (*projects) Apply(ctx context.Context, _ int) error { return context.Cause(ctx) }

// Await implements operation.Runtime: Compose has waited.
func (*projects) Await(ctx context.Context, _ int, _ operation.State) error {
	return context.Cause(ctx)
}
