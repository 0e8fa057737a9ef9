//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
)

const scaleYAML = `apiVersion: apps/v1
kind: Deployment
metadata: {name: svc-%[1]d}
spec:
  replicas: 0
  selector: {matchLabels: {app: svc-%[1]d}}
  template:
    metadata: {labels: {app: svc-%[1]d}}
    spec: {containers: [{name: main, image: busybox}]}
---
`

// The pause before a session counts as idle, and the time for which the idle session is measured.
const (
	settle = 5 * time.Second
	idle   = 20 * time.Second
)

// size is a project of many Deployments without pods, with published figures of Tilt for it.
type size struct {
	resources      int
	idle           bool
	tiltCI, tiltUp string
}

var sizes = []size{
	{10, false, "Tilt 0.55 s, 179 MB", ""},
	{100, true, "Tilt 1.9 s, 229 MB", "Tilt 217 MB"},
	{300, true, "Tilt 6.4 s, 338 MB", "Tilt 288 MB"},
}

// measureScale measures "hone ci", first on an empty namespace and then with nothing to do, and "hone up" at rest.
func measureScale(ctx context.Context, b *bench) error {
	b.table.section("hone ci, preview, deploy and up with many Deployments of zero replicas: wall time, CPU time, memory at its highest",
		"baselines: cold, the same Deployments sent by three loops and observed by the cluster; unchanged, listing them once;",
		"at rest, the memory of hone version. Tilt: published figures")
	floor, err := (&harness.Project{Hone: b.hone}).Run(ctx, "version")
	if err != nil {
		return err
	}
	for _, s := range sizes {
		if err := b.scale(ctx, s, floor); err != nil {
			return fmt.Errorf("%d resources: %w", s.resources, err)
		}
	}
	return nil
}

func (b *bench) scale(ctx context.Context, s size, floor harness.Use) error {
	var yaml strings.Builder
	for i := range s.resources {
		fmt.Fprintf(&yaml, scaleYAML, i)
	}
	p, remove, err := b.project(ctx, map[string]string{"Tiltfile": "k8s_yaml('all.yaml')\n", "all.yaml": yaml.String()})
	if err != nil {
		return err
	}
	defer remove()
	if err := b.ci(ctx, p, s); err != nil {
		return err
	}
	if err := b.plans(ctx, p, s, yaml.String()); err != nil {
		return err
	}
	if s.idle {
		return b.rest(ctx, p, s, floor)
	}
	return nil
}

// ci measures "hone ci" once on an empty namespace and three times with nothing to do, of which it prints the median.
func (b *bench) ci(ctx context.Context, p *harness.Project, s size) error {
	run := func() (harness.Use, error) { return p.Run(ctx, "ci", "--namespace", p.Namespace) }
	cold, err := run()
	if err != nil {
		return err
	}
	list, err := b.cluster.list(ctx, p.Namespace, s.resources)
	if err != nil {
		return err
	}
	var runs []harness.Use
	for range 3 {
		u, err := run()
		if err != nil {
			return err
		}
		runs = append(runs, u)
	}
	// Last, since the controllers may stay busy with it afterwards.
	floor, err := b.applyFloor(ctx, s.resources)
	if err != nil {
		return err
	}
	b.table.print(row{fmt.Sprintf("ci, %d cold", s.resources), used(cold),
		ratio(cold.Wall, floor, fmt.Sprintf("apply (%s)", short(floor))), s.tiltCI})
	same := middle(runs)
	b.table.print(row{fmt.Sprintf("ci, %d unchanged", s.resources), used(same),
		ratio(same.Wall, list.median(), fmt.Sprintf("list (%s)", short(list.median()))), s.tiltCI})
	return nil
}

// plans measures the commands around a plan of a project that is deployed, three times each, and prints the medians: with nothing to
// do, and with a change of every object.
func (b *bench) plans(ctx context.Context, p *harness.Project, s size, yaml string) error {
	list, err := b.cluster.list(ctx, p.Namespace, s.resources)
	if err != nil {
		return err
	}
	measured := func(what, promise string, args ...string) error {
		var runs []harness.Use
		for range 3 {
			u, err := p.Run(ctx, args...)
			if err != nil {
				return err
			}
			runs = append(runs, u)
		}
		use := middle(runs)
		b.table.print(row{fmt.Sprintf(what, s.resources), used(use), ratio(use.Wall, list.median(), fmt.Sprintf("list (%s)", short(list.median()))), promise})
		return nil
	}
	promise := map[int]string{10: "promised: 0.2 s", 300: "promised: 2 s"}[s.resources]
	if err := errors.Join(
		measured("preview, %d unchanged", promise, "preview", "--namespace", p.Namespace),
		measured("drift, %d unchanged", "", "drift"),
		measured("deploy, %d unchanged", "promised: as ci", "deploy", "--yes", "--namespace", p.Namespace)); err != nil {
		return err
	}
	if err := p.Write("all.yaml", strings.ReplaceAll(yaml, "image: busybox", "image: alpine")); err != nil {
		return err
	}
	err = measured("preview, %d changed", promise, "preview", "--namespace", p.Namespace)
	return errors.Join(err, p.Write("all.yaml", yaml))
}

// applyFloor measures the minimal work of "hone ci" on an empty namespace, in a namespace of its own.
func (b *bench) applyFloor(ctx context.Context, n int) (time.Duration, error) {
	ns, remove, err := b.cluster.namespace(ctx)
	if err != nil {
		return 0, err
	}
	defer remove()
	took, err := b.cluster.applyAll(ctx, ns, n)
	if err != nil {
		return 0, fmt.Errorf("apply Deployments: %w", err)
	}
	return took, nil
}

// middle returns the median run by wall time.
func middle(runs []harness.Use) harness.Use {
	sorted := slices.SortedFunc(slices.Values(runs), func(a, b harness.Use) int { return cmp.Compare(a.Wall, b.Wall) })
	return sorted[len(sorted)/2]
}

// rest measures the CPU time and memory of an idle session.
func (b *bench) rest(ctx context.Context, p *harness.Project, s size, floor harness.Use) (err error) {
	up, err := p.Up()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, up.Stop()) }()
	if err := up.Ready(ctx, s.resources); err != nil {
		return err
	}
	if err := harness.Sleep(ctx, settle); err != nil {
		return err
	}
	pid := up.Cmd.Process.Pid
	before, err := harness.CPUTime(pid)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := harness.Sleep(ctx, idle); err != nil {
		return err
	}
	after, err := harness.CPUTime(pid)
	if err != nil {
		return err
	}
	busy := 100 * float64(after-before) / float64(time.Since(start))
	rss, own, err := harness.Memory(pid)
	if err != nil {
		return err
	}
	b.table.print(row{fmt.Sprintf("up, %d at rest", s.resources), fmt.Sprintf("%.2f %% CPU, %s (%s own)", busy, megabytes(rss), megabytes(own)),
		fmt.Sprintf("%.3g× version (%s)", float64(rss)/float64(floor.RSS), megabytes(floor.RSS)), s.tiltUp})
	return nil
}
