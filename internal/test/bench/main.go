//go:build linux

// Command bench measures hone's promises on a real cluster and prints a table. Every figure that depends on the machine is shown
// with a baseline of the same kind, measured in the same run, since their ratio says more than either.
//
// It works in namespaces and folders of its own and deletes them. "make bench" builds hone and runs it. "bench liveupdate", which
// "make bench-liveupdate" runs, measures live updates alone and thoroughly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
)

// part is a group of figures that can be measured alone.
type part struct {
	name    string
	measure func(ctx context.Context, b *bench) error
}

var parts = []part{{"saves", measureSaves}, {"settle", measureSettle}, {"ci", measureScale}, {"scale", measureMany}, {"attach", measureAttach}, {"cold", measureCold}, {"coldimages", measureColdImages}, {"tiltfile", measureTiltfile}, {"api", measureAPI}, {"page", measurePage}, {"engine", measureEngine},
	{"storages", measureStorages}}

// bench is the environment that all parts share.
type bench struct {
	// hone is the path of the binary under test.
	hone    string
	cluster *cluster
	// dockerKubeconfig is the kubeconfig of a cluster whose pods run in the engine; empty for none.
	dockerKubeconfig string
	table            *table
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "liveupdate" {
		return runLive(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == attackCommand {
		return runAttack(ctx, args[1:])
	}
	return run(ctx, args)
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	hone := flags.String("hone", ".bin/hone", "the hone to measure")
	onDocker := flags.String("docker-kubeconfig", "", "the kubeconfig of a cluster whose pods run in the engine, for the update mode container")
	only := flags.String("only", "", "measure only these parts, separated by commas: saves, settle, ci, scale, attach, cold, coldimages, tiltfile, api, page, engine, storages")
	_ = flags.Parse(args)
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	c, err := connect("")
	if err != nil {
		return err
	}
	defer c.Close()
	b := &bench{hone: *hone, cluster: c, dockerKubeconfig: *onDocker, table: newTable(os.Stdout)}
	started := time.Now()
	var errs []error
	for _, p := range chosen {
		if err := p.measure(ctx, b); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	fmt.Printf("\nmeasured in %s, load %s\n", time.Since(started).Round(time.Second), load())
	return errors.Join(errs...)
}

// project makes a project in a folder and a namespace of its own. remove deletes both.
func (b *bench) project(ctx context.Context, files map[string]string) (p *harness.Project, remove func(), err error) {
	dir, err := os.MkdirTemp("", "hone-bench")
	if err != nil {
		return nil, nil, err
	}
	ns, end, err := b.cluster.namespace(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	remove = func() {
		end()
		_ = os.RemoveAll(dir)
	}
	if p, err = harness.NewProject(b.hone, dir, ns, files); err != nil {
		remove()
		return nil, nil, err
	}
	return p, remove, nil
}

func choose(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	var out []part
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no part %q", name)
		}
		out = append(out, parts[i])
	}
	return out, nil
}

// load returns the machine's load average: figures from a busy machine must be read with care.
func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(raw))[:3], " ")
}
