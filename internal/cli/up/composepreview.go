package up

import (
	"context"

	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/api"
)

// composeSteps returns what an operation would do with the chosen services of Compose. Only Compose itself knows whether it would make a
// container again.
func (l loaded) composeSteps(ctx context.Context) ([]api.PlanStep, error) {
	var steps []api.PlanStep
	var engine *docker.Engine
	for _, m := range l.manifests {
		if m.Compose == nil || !l.chosen(m.Name) || !m.AutoInit {
			continue
		}
		if engine == nil {
			var err error
			if engine, err = docker.Open(ctx, l.asked.known); err != nil {
				return nil, err
			}
			defer engine.Close()
		}
		list, err := compose.Containers(ctx, engine, m.Compose.Project.Name, m.Compose.Service)
		if err != nil {
			return nil, err
		}
		step := api.PlanStep{Object: api.PlanObject{Kind: api.PlanCompose, Name: string(m.Name)}, Resource: string(m.Name), Action: api.ActionRun,
			Reason: "docker compose up: a container that differs is made again"}
		if len(list) == 0 {
			step.Action, step.Reason = api.ActionCreate, ""
		}
		steps = append(steps, step)
	}
	return steps, nil
}
