package up

import (
	"context"
	"errors"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// composeDown takes down the Compose projects that the Tiltfile declares, and reports whether there are any. If one cannot
// be taken down, it continues with the others and joins the errors.
func composeDown(ctx context.Context, known model.Cluster, tf model.Tiltfile, volumes bool, log logstore.Logger) (any bool, err error) {
	var projects []model.ComposeProject
	chosen, all := map[string][]string{}, map[string]int{}
	enabled := state.EnabledNames(tf)
	for _, m := range tf.Manifests {
		if m.Compose == nil {
			continue
		}
		name := m.Compose.Project.Name
		if all[name]++; all[name] == 1 {
			projects = append(projects, m.Compose.Project)
		}
		if enabled == nil || enabled[m.Name] {
			chosen[name] = append(chosen[name], m.Compose.Service)
		}
	}
	if len(projects) == 0 {
		return false, nil
	}
	engine, err := docker.Open(ctx, known)
	if err != nil {
		return true, err
	}
	defer engine.Close()
	tool := compose.NewTool(engine.Env())
	var errs []error
	for _, p := range projects {
		if len(chosen[p.Name]) == all[p.Name] {
			errs = append(errs, tool.Down(ctx, p, volumes, log))
			continue
		}
		for _, service := range chosen[p.Name] {
			errs = append(errs, compose.Remove(ctx, engine, p.Name, service, log))
		}
	}
	return true, errors.Join(errs...)
}
