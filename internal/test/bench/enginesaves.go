//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/pkg/model"
)

var engineModes = []mode{
	{model.UpdateContainer, 30, 10, 3, false, ""},
	{model.UpdateAuto, 30, 10, 3, false, ""},
}

// measureEngineSaves measures saves on the cluster whose pods run in the engine, where hone updates containers through
// the engine.
func (b *bench) measureEngineSaves(ctx context.Context) error {
	if b.dockerKubeconfig == "" {
		b.table.section("the update mode container is left out: it needs -docker-kubeconfig")
		return nil
	}
	c, err := connect(b.dockerKubeconfig)
	if err != nil {
		return err
	}
	defer c.Close()
	return b.withSaves(ctx, c, func(s *saves) error { return s.sessions(ctx, engineModes, s.engineBaseline) })
}

// engineBaseline measures the baseline of an update through the engine: running "true" in the same container.
func (s *saves) engineBaseline(ctx context.Context) (func(time.Duration) string, error) {
	engine, err := harness.FindEngine()
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	found, err := engine.Containers(ctx, map[string]string{
		"io.kubernetes.pod.namespace": s.project.Namespace, "io.kubernetes.container.name": "main",
	})
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("the engine runs %d containers of %s, want one", len(found), s.project.Namespace)
	}
	exec, err := repeat(20, func() error { return engine.ContainerExec(ctx, found[0].ID, []string{"true"}, nil, nil) })
	if err != nil {
		return nil, fmt.Errorf("exec in the engine's container: %w", err)
	}
	s.bench.table.section("the same where the pods run in the engine",
		fmt.Sprintf("baseline: exec of true through the engine %s", exec))
	return func(d time.Duration) string { return timesOver(d, exec.median()) + " engine exec" }, nil
}
