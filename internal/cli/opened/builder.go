package opened

import (
	"cmp"
	"context"
	"os"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/project"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cluster/builderpod"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// buildersProject is the project that owns the builders in clusters. Projects of a namespace share a builder if they want the same
// settings, so it belongs to none of them.
const buildersProject = "hone-builders"

// Elsewhere returns the builder that takes the place of the container engine, which the caller closes.
func (p *Project) Elsewhere() (*buildkit.Choice, error) {
	kube, err := p.Kube()
	if err != nil {
		return nil, err
	}
	var in buildkit.Pods
	if kube != nil {
		in = builderPods{p, kube}
	}
	return buildkit.Choose(p.named(), in)
}

// BuildsInCluster reports whether images are built in the cluster, where the Tiltfile declares a builder.
func (p *Project) BuildsInCluster(declared model.Builder) bool {
	return cmp.Or(p.named(), declared.At) == model.BuilderInCluster
}

// named returns the builder that the user names; empty for none.
func (p *Project) named() string { return cmp.Or(p.Choice.Builder, os.Getenv(command.BuilderVariable)) }

// Builders returns the part of the cluster that holds its builders; nil without a kubeconfig.
func (p *Project) Builders(ctx context.Context) (*buildanddeploy.Cluster, error) {
	kube, err := p.Kube()
	if kube == nil {
		return nil, err
	}
	return p.builders(ctx, kube)
}

func (p *Project) builders(ctx context.Context, kube *k8s.Client) (*buildanddeploy.Cluster, error) {
	is, err := p.is(ctx)
	if err != nil {
		return nil, err
	}
	return buildanddeploy.NewCluster(kube, buildanddeploy.ClusterOptions{Ledgers: p.ledgers(is), Own: command.Ledgers(), Project: project.Project{ID: buildersProject},
		ProjectPath: command.Projects().Path, Command: p.Command, Tiltfile: p.Path, Debug: p.Debug, RunID: p.run.ID, Env: p.Env})
}

// BuilderPod returns a replica of the builder of the cluster that has the given settings, which the caller closes.
func (p *Project) BuilderPod(kube *k8s.Client, pod model.BuilderPod, replica int) *builderpod.Daemon {
	return builderpod.New(builderpod.Options{Kube: kube, Pod: pod, Replica: replica, Namespace: p.Namespace, Deploy: func(ctx context.Context, m model.Manifest, namespace string) ([]model.AppliedObject, error) {
		select {
		case p.held.deploys <- struct{}{}: // replicas would wait for each other's lock in the ledger
			defer func() { <-p.held.deploys }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		in, err := p.builders(ctx, kube) // Close waits for this with the lock that Kube takes
		if err != nil {
			return nil, err
		}
		return in.Deploy(ctx, buildanddeploy.Request{Manifest: m, Namespace: namespace, Log: logstore.Discard}, nil)
	}})
}

// builderPods runs builders in the cluster of a project.
type builderPods struct {
	project *Project
	kube    *k8s.Client
}

var _ buildkit.Pods = builderPods{}

// Builder implements buildkit.Pods. The pod's connections end with the project.
func (b builderPods) Builder(pod model.BuilderPod, replica int) buildkit.Pod {
	d := b.project.BuilderPod(b.kube, pod, replica)
	b.project.held.mu.Lock()
	defer b.project.held.mu.Unlock()
	b.project.held.closers = append(b.project.held.closers, d.Close)
	return d
}
