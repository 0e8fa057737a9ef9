package up

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// forecast returns a function that predicts the images with which a resource would be deployed, and a function that closes the
// connection to the engine. Unless build is nil, the images that are not known are built, and build receives the output.
func (l loaded) forecast(ctx context.Context, build logstore.Logger) (of func(context.Context, model.Manifest) (buildanddeploy.Forecast, error), closeEngine func(), err error) {
	builds := func(m model.Manifest) bool {
		used := m.Compose != nil || len(l.clusters) > 0 && m.IsK8s()
		return used && m.Builds() && l.chosen(m.Name)
	}
	if !slices.ContainsFunc(l.manifests, builds) {
		return nil, func() {}, nil
	}
	elsewhere, closeElsewhere, err := openElsewhere(l.Project)
	if err != nil {
		return nil, nil, err
	}
	elsewhere.For(l.builder) // so that it is known whether the engine is needed
	engine, closeDocker, err := openEngine(ctx, l.Project, elsewhere)
	if err != nil {
		closeElsewhere()
		return nil, nil, err
	}
	kept := l.Registries()
	images, closeImages := provideImages(engine, elsewhere, kept)
	forCompose := buildanddeploy.NewImage(nil, images, nil, nil, nil)
	here := provideEnvironment(engine)
	injects := buildanddeploy.NewSynclets(imagebuild.NewReader(engine).Reaching(kept).And(images), imagebuild.NewSyncletImage(engine, imagebuild.NewDeliverer(engine).Reaching(kept)), noExperience{}, here)
	forCluster := buildanddeploy.NewImage(here, images, nil, nil, injects)
	var building sync.Mutex // held while images are built: several resources may use the same ones
	of = func(ctx context.Context, m model.Manifest) (buildanddeploy.Forecast, error) {
		in := l.in(m)
		image, req := forCluster, buildanddeploy.Request{Manifest: m, Mode: model.UpdateAuto, Cluster: in.Known, Registry: l.registry(m.Cluster()), Cache: l.cache, Builder: l.builder, Namespace: in.Namespace, Env: in.Env, Log: build}
		req.Cache.Push = false // a plan delivers nothing
		if m.Compose != nil {
			image = forCompose
		}
		if build == nil {
			return image.Forecast(ctx, req)
		}
		building.Lock()
		defer building.Unlock()
		return image.Build(ctx, req)
	}
	return of, func() { closeImages(); closeDocker(); closeElsewhere() }, nil
}

// plannedImages collects the images of forecasts.
type plannedImages struct {
	mu  sync.Mutex
	all []api.PlanImage // guarded by mu
}

// collect adds the images of each forecast.
func (p *plannedImages) collect(of func(context.Context, model.Manifest) (buildanddeploy.Forecast, error)) func(context.Context, model.Manifest) (buildanddeploy.Forecast, error) {
	return func(ctx context.Context, m model.Manifest) (buildanddeploy.Forecast, error) {
		f, err := of(ctx, m)
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, im := range f.Plan {
			p.add(im)
		}
		return f, err
	}
}

// add adds an image, or the resources that use it.
func (p *plannedImages) add(im api.PlanImage) {
	at := slices.IndexFunc(p.all, func(other api.PlanImage) bool { return other.Image == im.Image })
	if at < 0 {
		p.all = append(p.all, im)
		return
	}
	all := slices.Concat(p.all[at].Resources, im.Resources)
	slices.Sort(all)
	p.all[at].Resources = slices.Compact(all)
}

// sorted returns the images by name.
func (p *plannedImages) sorted() []api.PlanImage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.SortedFunc(slices.Values(p.all), func(a, b api.PlanImage) int { return strings.Compare(a.Image, b.Image) })
}

// markServices marks the services of Compose that get another image as changed.
func markServices(steps []api.PlanStep, images []api.PlanImage) {
	for i, s := range steps {
		differs := func(im api.PlanImage) bool { return im.Reason != "" && slices.Contains(im.Resources, s.Resource) }
		if s.Object.Kind == api.PlanCompose && slices.ContainsFunc(images, differs) {
			steps[i].Changed = true
		}
	}
}

// provideImages provides the builder of images.
func provideImages(engine docker.Client, elsewhere *buildkit.Choice, kept imagebuild.Kept) (*imagebuild.Builder, func()) {
	b := opened.Images(engine, elsewhere, kept)
	return b, b.Close
}

// noExperience is the experience of a process that has not updated any container.
type noExperience struct{}

var _ buildanddeploy.Experience = noExperience{}

// LockedOut implements buildanddeploy.Experience.
func (noExperience) LockedOut(string) bool { return false }
