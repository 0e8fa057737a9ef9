package opened

import (
	"cmp"
	"context"
	"net"
	"os"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/project"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cluster/builderpod"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/podregistry"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/imagebuild"
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
		in = builderPods{p}
	}
	return buildkit.Choose(p.named(), in)
}

// Images returns the builder of images, which remembers the images that earlier sessions have built. The caller closes it.
func Images(engine docker.Client, elsewhere *buildkit.Choice, kept imagebuild.Kept) *imagebuild.Builder {
	return imagebuild.New(engine).Reaching(kept).Remember(imagebuild.NewMemory(command.ImagesDir())).With(func(declared model.Builder) imagebuild.Elsewhere {
		if is := elsewhere.For(declared); is != nil {
			return is
		}
		return nil
	})
}

// BuildsInCluster reports whether images are built in the cluster, where the Tiltfile declares a builder.
func (p *Project) BuildsInCluster(declared model.Builder) bool {
	return cmp.Or(p.named(), declared.At) == model.BuilderInCluster
}

// BuildsIn returns the part of the project in the cluster of a builder, and the client of that cluster; none without a kubeconfig.
func (p *Project) BuildsIn(pod model.BuilderPod) (in *Project, kube *k8s.Client, err error) {
	in = p
	if pod.Cluster != "" {
		if in, err = p.In(model.ClusterDeclaration{Context: pod.Cluster, Namespace: pod.Namespace}); err != nil {
			return nil, nil, err
		}
	}
	kube, err = in.Kube()
	return in, kube, err
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

// Registries returns the registries that hone keeps in the cluster. Their connections end with the project.
func (p *Project) Registries() imagebuild.Kept {
	return &registries{project: p, open: map[string]*podregistry.Registry{}}
}

// registries opens the registries of a project.
type registries struct {
	project *Project

	mu   sync.Mutex
	open map[string]*podregistry.Registry // by namespace; guarded by mu
}

var _ imagebuild.Kept = (*registries)(nil)

// Start implements imagebuild.Kept.
func (r *registries) Start(ctx context.Context, namespace string, pod model.RegistryPod) error {
	in, err := r.in(namespace)
	if err != nil {
		return err
	}
	return in.Start(ctx, pod)
}

// Dial implements imagebuild.Kept.
func (r *registries) Dial(ctx context.Context, namespace string) (net.Conn, error) {
	in, err := r.in(namespace)
	if err != nil {
		return nil, err
	}
	return in.Dial(ctx)
}

// in returns the registry of a namespace.
func (r *registries) in(namespace string) (*podregistry.Registry, error) {
	kube, err := r.project.Kube()
	switch {
	case err != nil:
		return nil, err
	case kube == nil:
		return nil, problem.New("there is no cluster for the registry: no kubeconfig was found", "set KUBECONFIG").See("builders")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	in := r.open[namespace]
	if in == nil {
		in = podregistry.New(podregistry.Options{Kube: kube, Namespace: namespace, Deploy: r.project.deployBuilders(kube)})
		r.open[namespace] = in
		r.project.atEnd(in.Close)
	}
	return in, nil
}

// atEnd has a function called when the project is closed.
func (p *Project) atEnd(end func() error) {
	p.held.mu.Lock()
	defer p.held.mu.Unlock()
	p.held.closers = append(p.held.closers, end)
}

// BuilderPod returns a replica of the builder of the cluster that has the given settings, which the caller closes.
func (p *Project) BuilderPod(kube *k8s.Client, pod model.BuilderPod, replica int) *builderpod.Daemon {
	return builderpod.New(builderpod.Options{Kube: kube, Pod: pod, Replica: replica, Namespace: p.Namespace, Deploy: p.deployBuilders(kube)})
}

// deployBuilders returns a function that applies the objects of a builder.
func (p *Project) deployBuilders(kube *k8s.Client) func(context.Context, model.Manifest, string) ([]model.AppliedObject, error) {
	return func(ctx context.Context, m model.Manifest, namespace string) ([]model.AppliedObject, error) {
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
	}
}

// builderPods runs builders in the clusters of a project.
type builderPods struct{ project *Project }

var _ buildkit.Pods = builderPods{}

// Builder implements buildkit.Pods. The pod's connections end with the project.
func (b builderPods) Builder(pod model.BuilderPod, replica int) (buildkit.Pod, error) {
	in, kube, err := b.project.BuildsIn(pod)
	if err != nil {
		return nil, err
	}
	d := in.BuilderPod(kube, pod, replica)
	in.atEnd(d.Close)
	return d, nil
}
