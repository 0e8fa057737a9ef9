package buildanddeploy

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/pkg/model"
)

// Forecast holds the images and the synclet that an update would deploy a resource with, as far as they are known before it.
type Forecast struct {
	// Images are the images by reference; those that are not known before their build have the name of deploy.Unbuilt.
	Images map[string]model.ImageResult
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
	work, err := b.plan(ctx, req)
	if err != nil {
		return unbuilt(req.Manifest), ctx.Err()
	}
	images, judged := maps.Clone(req.Results), map[string]model.ImageResult{}
	if images == nil {
		images = map[string]model.ImageResult{}
	}
	for _, w := range work {
		ref := w.target.Ref
		if w.build {
			delete(images, ref)
			if known, ok := b.builder.Known(ctx, b.request(req, w, images)); ok {
				images[ref] = known
			}
		}
		judged[ref] = images[ref]
	}
	out := unbuilt(req.Manifest)
	out.Again = req.again()
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
			return unbuilt(req.Manifest), ctx.Err()
		}
	}
	return out, nil
}
