package up

import (
	"context"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// services returns the chosen resources that Compose runs.
func services(tf model.Tiltfile) (names []model.ManifestName) {
	enabled := state.EnabledNames(tf)
	for _, m := range tf.Manifests {
		if m.IsCompose() && (enabled == nil || enabled[m.Name]) {
			names = append(names, m.Name)
		}
	}
	return names
}

// composeSteps returns the steps that take down the chosen services of the Compose projects that the Tiltfile declares. Where all
// services of a project are chosen, the steps take down the rest of the project as well. any reports whether there are projects.
// The caller closes the connection to the engine.
func composeSteps(ctx context.Context, known model.Cluster, tf model.Tiltfile, volumes bool, log *command.Printer) (steps []deploy.DeleteStep, any bool, closeEngine func(), err error) {
	closeEngine = func() {}
	var names []string
	projects, all := map[string]*buildanddeploy.Project{}, map[string]int{}
	enabled := state.EnabledNames(tf)
	for _, m := range tf.Manifests {
		if m.Compose == nil {
			continue
		}
		p := m.Compose.Project
		if projects[p.Name] == nil {
			projects[p.Name] = &buildanddeploy.Project{ComposeProject: p, Volumes: volumes}
			names = append(names, p.Name)
		}
		all[p.Name]++
		if enabled == nil || enabled[m.Name] {
			projects[p.Name].Services = append(projects[p.Name].Services, buildanddeploy.Service{Resource: m.Name, Target: m.Compose, Log: log})
		}
	}
	if len(names) == 0 {
		return nil, false, closeEngine, nil
	}
	defer log.Await("the container engine")()
	engine, err := docker.Open(ctx, known)
	if err != nil {
		return nil, true, closeEngine, err
	}
	var whole []buildanddeploy.Project
	var parts []buildanddeploy.Service
	for _, name := range names {
		if p := projects[name]; len(p.Services) == all[name] {
			whole = append(whole, *p)
		} else {
			parts = append(parts, p.Services...)
		}
	}
	steps = buildanddeploy.ProjectSteps(engine, compose.NewTool(engine.Env()), whole, log)
	for _, n := range buildanddeploy.ServiceNodes(engine, parts) {
		steps = append(steps, deploy.DeleteStep{Node: n})
	}
	return steps, true, func() { _ = engine.Close() }, nil
}
