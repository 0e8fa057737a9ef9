package self

import (
	"context"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/doctor"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// section makes the section about a cluster: doctor.Cluster, or doctor.Beside.
type section func(ctx context.Context, known model.Cluster, broken error, connect func() (doctor.Kube, error)) (*doctor.Section, model.Cluster)

// ask asks the cluster of a kubeconfig for a section. The returned cluster is the zero value if it does not answer.
func ask(ctx context.Context, kc *k8s.Kubeconfig, of section) (*doctor.Section, model.Cluster) {
	var client *k8s.Client
	defer func() {
		if client != nil {
			_ = client.Close()
		}
	}()
	return of(ctx, kc.Cluster(), nil, func() (doctor.Kube, error) {
		var err error
		client, err = kc.Connect()
		return client, err
	})
}

// examineOthers asks the clusters that the project has worked in beside its own. It evaluates no Tiltfile: a cluster that the Tiltfile has
// declared, and that nothing was deployed to yet, is left out, and so is one that the kubeconfig no longer has. info is the engine that builds
// images; nil if it does not answer.
func examineOthers(ctx context.Context, g *command.Global, f flags.Project, info *docker.Info) (out []*doctor.Section) {
	path, err := f.Path()
	if err != nil {
		return nil
	}
	kc, err := k8s.Load(k8s.Config{Context: f.Context, Namespace: f.Namespace})
	if err != nil {
		return nil // which the section about its own cluster says
	}
	contexts, err := command.Projects().Clusters(path, kc.Cluster().Context)
	if err != nil {
		return nil
	}
	for _, on := range contexts {
		other, err := kc.In(on, "")
		if err != nil {
			continue
		}
		answered := g.Waiting("cluster " + on)
		s, found := ask(ctx, other, doctor.Beside)
		answered()
		if info != nil && found.Context != "" {
			s.Delivered(delivery(ctx, found, *info))
		}
		out = append(out, s)
	}
	return out
}
