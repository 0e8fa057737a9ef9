package buildanddeploy

import (
	"context"

	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// Remembered is an image of a resource, and the one that an earlier build of the same inputs has made.
type Remembered struct {
	Request imagebuild.Request
	Image   model.ImageResult
	// Why is the reason why there is no such image that can be read; empty if there is.
	Why string
}

// Remembered returns the images of a resource, with those that BuildAndDeploy could use again.
func (b *Image) Remembered(ctx context.Context, req Request) (out []Remembered, err error) {
	work, err := b.plan(ctx, req)
	if err != nil {
		return nil, err
	}
	images := map[string]model.ImageResult{}
	for _, w := range work {
		asked := b.request(req, w, images)
		p := b.builder.Foresee(ctx, asked)
		r := Remembered{Request: asked, Image: p.Image}
		switch {
		case !p.Known:
			r.Why = p.Reason()
		case p.Registry != "":
			r.Why = "this engine does not have it, " + p.Registry + " does"
		case p.Image.ImageID == "" && w.target.Custom != nil:
			r.Why = "its command keeps it out of this engine"
		}
		if p.Known {
			images[w.target.Ref] = p.Image
		}
		out = append(out, r)
	}
	return out, nil
}
