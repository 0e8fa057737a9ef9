package up

import (
	"context"
	"slices"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// forecast returns a function that predicts the images with which a resource would be deployed, and a function that closes the
// connection to the engine.
func (l loaded) forecast(ctx context.Context) (of func(context.Context, model.Manifest) (buildanddeploy.Forecast, error), closeEngine func(), err error) {
	builds := func(m model.Manifest) bool { return m.IsK8s() && len(m.Images) > 0 && l.chosen(m.Name) }
	if l.cluster == nil || !slices.ContainsFunc(l.manifests, builds) {
		return nil, func() {}, nil
	}
	engine, err := docker.Open(ctx, l.Known)
	if err != nil {
		return nil, nil, err
	}
	here := provideEnvironment(engine)
	injects := buildanddeploy.NewSynclets(imagebuild.NewReader(engine), imagebuild.NewSyncletImage(engine, imagebuild.NewDeliverer(engine)), noExperience{}, here)
	images, closeImages := provideImages(engine)
	image := buildanddeploy.NewImage(here, images, nil, nil, injects)
	of = func(ctx context.Context, m model.Manifest) (buildanddeploy.Forecast, error) {
		return image.Forecast(ctx, buildanddeploy.Request{Manifest: m, Mode: model.UpdateAuto, Cluster: l.Known, Registry: l.registry, Namespace: l.Namespace})
	}
	return of, func() { closeImages(); _ = engine.Close() }, nil
}

// provideImages provides the builder of images, which remembers the images that earlier sessions have built.
func provideImages(engine docker.Client) (*imagebuild.Builder, func()) {
	b := imagebuild.New(engine).Remember(imagebuild.NewMemory(command.ImagesDir()))
	return b, b.Close
}

// noExperience is the experience of a process that has not updated any container.
type noExperience struct{}

var _ buildanddeploy.Experience = noExperience{}

// LockedOut implements buildanddeploy.Experience.
func (noExperience) LockedOut(string) bool { return false }
