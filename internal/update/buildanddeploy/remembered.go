package buildanddeploy

import (
	"context"

	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// Remembered is an image that an earlier build of the same inputs has made.
type Remembered struct {
	Request imagebuild.Request
	Image   model.ImageResult
}

// Remembered returns the images of a resource that BuildAndDeploy could use again, as the engine has them.
func (b *Image) Remembered(ctx context.Context, req Request) (out []Remembered, err error) {
	work, err := b.plan(ctx, req)
	if err != nil {
		return nil, err
	}
	images := map[string]model.ImageResult{}
	for _, w := range work {
		asked := b.request(req, w, images)
		p := b.builder.Foresee(ctx, asked)
		if !p.Known {
			continue
		}
		images[w.target.Ref] = p.Image
		if p.Image.ImageID != "" {
			out = append(out, Remembered{asked, p.Image})
		}
	}
	return out, nil
}
