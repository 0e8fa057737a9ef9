package buildanddeploy

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Forecast holds the images and the synclet that an update would deploy a resource with, as far as they are known before it.
type Forecast struct {
	// Images are the images by reference; those that are not known before their build have the name of deploy.Unbuilt.
	Images map[string]model.ImageResult
	// Plan are the images that have no build of the same inputs on this machine. If the forecast builds, it has all.
	Plan []api.PlanImage
	// Synclet is the injection into the pods; nil is none.
	Synclet *deploy.SyncletInjection
	// Again returns the reason for which an unchanged object is applied, as in deploy.Declared.
	Again func(*unstructured.Unstructured) (why string)
}

// unbuilt is the forecast for a resource whose images are not known.
func unbuilt(m model.Manifest) Forecast {
	f := Forecast{Images: map[string]model.ImageResult{}}
	for _, t := range m.Images {
		f.Images[t.Ref] = deploy.Unbuilt(t)
	}
	return f
}

// Forecast returns the images and the synclet that BuildAndDeploy would deploy with, and builds nothing. If the engine does not
// answer, no image is known.
func (b *Image) Forecast(ctx context.Context, req Request) (Forecast, error) {
	f, err := b.forecast(ctx, req, false)
	if err != nil {
		return unbuilt(req.Manifest), ctx.Err()
	}
	return f, nil
}

// Build returns a Forecast for which it builds the images that are not known. It delivers none, and one that a builder builds goes nowhere.
func (b *Image) Build(ctx context.Context, req Request) (Forecast, error) {
	return b.forecast(ctx, req, true)
}

func (b *Image) forecast(ctx context.Context, req Request, build bool) (Forecast, error) {
	work, err := b.plan(ctx, req)
	if err != nil {
		return Forecast{}, err
	}
	out := unbuilt(req.Manifest)
	out.Again = req.again()
	images, judged := maps.Clone(req.Results), map[string]model.ImageResult{}
	if images == nil {
		images = map[string]model.ImageResult{}
	}
	for _, w := range work {
		ref := w.target.Ref
		if w.build {
			delete(images, ref)
			asked := b.request(req, w, images)
			p := b.builder.Foresee(ctx, asked)
			if build && !p.Known {
				if p.Image, p.Digest, err = b.try(ctx, req, asked); err != nil {
					return Forecast{}, err
				}
			}
			if p.Known || build {
				images[ref] = p.Image
			}
			if !p.Known || p.Registry != "" || build {
				out.Plan = append(out.Plan, planned(req.Manifest.Name, ref, p))
			}
		}
		judged[ref] = images[ref]
	}
	if im := b.foreseeComposed(ctx, req.Manifest); im != nil {
		out.Plan = append(out.Plan, *im)
	}
	for _, w := range work {
		ref := w.target.Ref
		if known, ok := images[ref]; ok {
			out.Images[ref] = known
		} else if judged[ref], ok = b.builder.Last(w.target); !ok {
			judged[ref] = out.Images[ref]
		}
	}
	if b.synclets != nil {
		if out.Synclet, err = b.synclets.Foreseen(ctx, req, judged); err != nil {
			return Forecast{}, err
		}
	}
	return out, nil
}

// try builds an image for a forecast.
func (b *Image) try(ctx context.Context, req Request, build imagebuild.Request) (result model.ImageResult, digest string, err error) {
	logstore.Infof(req.Log, "Building image %s", build.Target.Ref)
	build.Logger, build.Reuse = logstore.Indent(req.Log, "  "), true
	return b.builder.Try(ctx, build)
}

// planned is an image as a plan shows it.
func planned(resource model.ManifestName, ref string, p imagebuild.Prospect) api.PlanImage {
	im := api.PlanImage{Image: ref, Resources: []string{string(resource)}, Source: api.ImageToBuild, Reference: p.Image.Cluster, ID: p.Image.ImageID,
		Registry: p.Registry, Digest: p.Digest}
	if !p.Known {
		im.Reason, im.Inputs = p.Reason(), p.Inputs[:min(len(p.Inputs), mostInputs)]
	}
	switch {
	case p.Registry != "":
		im.Source = api.ImageInRegistry
	case im.Reference != "":
		im.Source = api.ImageBuilt
	}
	return im
}

// mostInputs is the number of inputs that a plan lists for an image.
const mostInputs = 100
