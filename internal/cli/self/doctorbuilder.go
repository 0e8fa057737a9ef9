package self

import (
	"context"

	"github.com/hone-dev/hone/internal/cli/doctor"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cluster/builderpod"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// examineBuilder asks the named builder, if any, and how one would run in the cluster. It starts none.
func examineBuilder(ctx context.Context, f flags.Project, named string, cluster model.Cluster) *doctor.Section {
	b := doctor.Builders{Named: named}
	if b.Named != "" && b.Named != model.BuilderInCluster {
		b.Ping = func(ctx context.Context) (docker.Info, error) { return pingBuilder(ctx, b.Named) }
	}
	if cluster.Context != "" {
		b.InCluster = func(ctx context.Context) (how string, err error) {
			err = askBuilder(f, func(d *builderpod.Daemon) error {
				plan, err := d.Plan(ctx)
				how = plan.String()
				return err
			})
			return how, err
		}
		b.There = func(ctx context.Context) (there []builderpod.Standing, err error) {
			err = askBuilder(f, func(d *builderpod.Daemon) error {
				there, err = d.Standing(ctx)
				return err
			})
			return there, err
		}
	}
	return doctor.Builder(ctx, b)
}

func pingBuilder(ctx context.Context, named string) (docker.Info, error) {
	c, err := buildkit.Choose(named, nil)
	if err != nil {
		return docker.Info{}, err
	}
	defer c.Close()
	if is := c.For(model.Builder{}); is != nil {
		return is.Ping(ctx)
	}
	return docker.Info{}, nil
}

// askBuilder asks the cluster about its builders.
func askBuilder(f flags.Project, ask func(*builderpod.Daemon) error) error {
	kc, err := k8s.Load(k8s.Config{Context: f.Context, Namespace: f.Namespace})
	if err != nil {
		return err
	}
	kube, err := kc.Connect()
	if err != nil {
		return err
	}
	defer kube.Close()
	d := builderpod.New(builderpod.Options{Kube: kube, Namespace: kc.Cluster().Namespace})
	defer d.Close()
	return ask(d)
}
