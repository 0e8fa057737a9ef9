package imagebuild

import (
	"context"

	"github.com/hone-dev/hone/pkg/model"
)

// Note begins to note the inputs of an image that another program builds now, so that Foresee knows them later. The caller calls end when
// the build is over: with the name of the image in the engine, or with an empty one if there is none.
func (b *Builder) Note(ctx context.Context, req Request) (end func(ref string)) {
	if b.memory == nil {
		return func(string) {}
	}
	reading, stop := context.WithCancel(ctx)
	b.unlist(req)
	sum := b.summing(reading, req, sums{})
	return func(ref string) {
		defer b.forgetFiles(req)
		defer stop()
		im, found, err := b.docker.Inspect(ctx, ref)
		if ref == "" || err != nil || !found {
			stop()
			<-sum.done
			return
		}
		b.remember(ctx, sum, req, model.ImageResult{Local: ref, Cluster: ref, ImageID: im.ID})
	}
}
