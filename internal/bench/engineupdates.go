//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/internal/docker"
	"github.com/hone-dev/hone/internal/liveupdate"
	"github.com/hone-dev/hone/internal/logstore"
	"github.com/hone-dev/hone/internal/process"
	"github.com/hone-dev/hone/pkg/model"
)

// measureEngineUpdates times what the mode "container" does in a container of the Docker engine. The cluster's own
// containers may belong to another runtime, where that mode cannot reach them, so this leaves out the session around it:
// the clock starts with the update.
func (s *saves) measureEngineUpdates(ctx context.Context) error {
	engine, err := findEngine()
	if err != nil {
		return err
	}
	defer engine.Close()
	id, err := runDocker(ctx, "run", "-d", "--network", "none", "busybox", "sh", "-c", "while :; do sleep 3600; done", s.word)
	if err != nil {
		return err
	}
	defer func() { _, _ = runDocker(context.WithoutCancel(ctx), "rm", "-f", id) }()
	base, err := repeat(20, func() error { return engine.ContainerExec(ctx, id, []string{"true"}, nil, nil) })
	if err != nil {
		return fmt.Errorf("exec in the engine's container: %w", err)
	}
	root, err := rootOf(ctx, id)
	if err != nil {
		return err
	}
	for _, batch := range []struct{ files, times int }{{1, 30}, {100, 10}} {
		took, err := s.repeatInEngine(ctx, engine, id, root, batch.files, batch.times)
		if err != nil {
			return err
		}
		s.bench.table.print(row{fmt.Sprintf("container, the update alone: %d file(s)", batch.files), took.String(),
			ratio(took.median(), base.median(), fmt.Sprintf("engine exec (%s)", short(base.median()))), ""})
	}
	return nil
}

func (s *saves) repeatInEngine(ctx context.Context, engine docker.Client, id, root string, files, n int) (times, error) {
	updater := liveupdate.ContainerUpdater{Engine: engine}
	c := liveupdate.Container{Name: "main", ID: id}
	return repeatPrepared(n, func() (func() error, error) {
		names, text, err := s.save(files)
		if err != nil {
			return nil, err
		}
		var plan liveupdate.Plan
		for _, name := range names {
			plan.Copies = append(plan.Copies, liveupdate.Copy{Local: filepath.Join(s.project.dir, name), Remote: "/" + name})
		}
		return func() error {
			if err := updater.Update(ctx, c, plan, logstore.Discard); err != nil {
				return err
			}
			return awaitIn([]string{root}, nil, names, text, saveTimeout)
		}, nil
	})
}

// rootOf returns the root folder of a container of the engine as this machine sees it.
func rootOf(ctx context.Context, id string) (string, error) {
	pid, err := runDocker(ctx, "inspect", "--format", "{{.State.Pid}}", id)
	if err != nil {
		return "", err
	}
	return filepath.Join("/proc", pid, "root"), nil
}

func runDocker(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	cmd := process.Command{Cmd: model.Cmd{Argv: append([]string{"docker"}, args...)}, Stdout: &out, Stderr: os.Stderr, Plain: true}
	if err := process.Run(ctx, cmd); err != nil {
		return "", fmt.Errorf("docker %s: %w", args[0], err)
	}
	return strings.TrimSpace(out.String()), nil
}
