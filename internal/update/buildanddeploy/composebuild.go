package buildanddeploy

import (
	"context"
	"os"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// composedImage is the image that Compose builds for a service, as a build by hone. Only its inputs count: Compose builds it each time, and the
// next preview compares them. known is false if they are not all on this machine.
func composedImage(t *model.ComposeTarget) (req imagebuild.Request, known bool) {
	if t.Build == nil || t.Build.Remote || len(t.Build.Contexts) > 0 {
		return req, false
	}
	b := t.Build
	spec := &model.DockerBuild{Context: b.Context, Dockerfile: b.Dockerfile, Contents: b.Inline, BuildArgs: b.Args, Target: b.Target,
		Options: b.Options, ContextIgnores: t.Watch.Ignores}
	if spec.Contents == "" {
		text, err := os.ReadFile(b.Dockerfile)
		if err != nil {
			return req, false
		}
		spec.Contents = string(text)
	}
	return imagebuild.Request{Target: model.ImageTarget{Ref: t.Image, Docker: spec}}, true
}

// build has Compose build the image of a service, and notes its inputs.
func (b *Compose) build(ctx context.Context, req Request, log logstore.Logger) error {
	t, end := req.Manifest.Compose, func(string) {}
	if image, known := composedImage(t); known {
		end = b.images.builder.Note(ctx, image)
	}
	err := b.runner.Build(ctx, t.Project, compose.Build{Service: t.Service, NoCache: req.fromScratch()}, log)
	if err != nil {
		end("")
		return err
	}
	end(t.Image)
	return nil
}

// foreseeComposed returns the image that Compose would build of inputs that differ from the last build; nil if none do.
func (b *Image) foreseeComposed(ctx context.Context, m model.Manifest) *api.PlanImage {
	if m.Compose == nil {
		return nil
	}
	req, known := composedImage(m.Compose)
	if !known {
		return nil
	}
	p := b.builder.Foresee(ctx, req)
	if p.Known {
		return nil
	}
	im := planned(m.Name, m.Compose.Image, p)
	return &im
}
