package self

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/doctor"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// usualSample is the part of the remembered images that is built again, in percent, if no other is given.
const usualSample = "5"

// percent is a share of the remembered images: 1 to 100. It is a pflag.Value.
type percent int

// Set implements pflag.Value.
func (p *percent) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 100 {
		return errors.New("give a percentage, from 1 to 100")
	}
	*p = percent(n)
	return nil
}

// String implements pflag.Value.
func (p *percent) String() string { return strconv.Itoa(int(*p)) }

// Type implements pflag.Value.
func (p *percent) Type() string { return "percent" }

// checkCache builds a sample of the remembered images of the project again, with the named builder or else its own, and returns the section
// about their differences.
func checkCache(ctx context.Context, g *command.Global, f *flags.Project, named string, share percent) (*doctor.Section, error) {
	log := g.Printer(g.Stderr, g.Stderr)
	p, err := opened.Open(g, opened.Choice{Flags: f, Find: f.Resolve, Subcommand: opened.Examined, Builder: named}, log)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	tf := tiltfile.Load(ctx, p.Evaluation())
	if tf.Err != nil {
		return nil, command.WithCode(tf.Err, command.ExitTiltfile)
	}
	if slices.ContainsFunc(tf.Manifests, model.Manifest.IsK8s) { // its registry is in the names of images
		if _, err := p.Connect(ctx); err != nil {
			return nil, err
		}
	}
	elsewhere, err := p.Elsewhere()
	if err != nil {
		return nil, err
	}
	defer elsewhere.Close()
	elsewhere.For(tf.Builder) // from now on, it is known whether the engine is needed
	here, err := docker.Open(ctx, p.Known)
	if err != nil {
		return nil, err
	}
	defer here.Close()
	engine := docker.Optional(here, elsewhere.Away)
	builder := opened.Images(engine, elsewhere, p.Registries())
	defer builder.Close()
	all, err := remembered(ctx, p, tf, engine, builder)
	if err != nil {
		return nil, err
	}
	known, candidates, skipped := sortOut(all)
	var checked []doctor.CheckedImage
	for _, hit := range sampleOf(candidates, share) {
		c := doctor.CheckedImage{Ref: hit.Request.Target.Ref}
		logstore.Infof(log, "Building %s again, to compare it", c.Ref)
		hit.Request.Logger = logstore.Indent(log, "  ")
		c.Found, c.Err = builder.Recheck(ctx, hit.Request, hit.Image)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		checked = append(checked, c)
	}
	return doctor.Cache(known, checked, append(skipped, byCompose(tf.Manifests)...)), nil
}

// sortOut separates the images that can be compared from those that are skipped, and counts those that a deploy could use again.
func sortOut(all []buildanddeploy.Remembered) (known int, candidates []buildanddeploy.Remembered, skipped []doctor.SkippedImage) {
	for _, r := range all {
		why := r.Why
		if why == "" {
			known++
			why = imagebuild.Recheckable(r.Request)
		}
		if why == "" {
			candidates = append(candidates, r)
		} else {
			skipped = append(skipped, doctor.SkippedImage{Ref: r.Request.Target.Ref, Why: why})
		}
	}
	return known, candidates, skipped
}

// byCompose returns the images that Compose builds: hone remembers none of them.
func byCompose(manifests []model.Manifest) (skipped []doctor.SkippedImage) {
	for _, m := range manifests {
		if m.Compose != nil && m.Compose.Build != nil {
			skipped = append(skipped, doctor.SkippedImage{Ref: string(m.Name), Why: "Compose builds its image each time"})
		}
	}
	return skipped
}

// remembered returns the images of a project, with those that a deploy could use again.
func remembered(ctx context.Context, p *opened.Project, tf tiltfile.Result, engine docker.Client, builder *imagebuild.Builder) (all []buildanddeploy.Remembered, err error) {
	here, seen := buildanddeploy.NewEnvironment(engine), map[string]bool{}
	for _, m := range tf.Manifests {
		image := buildanddeploy.NewImage(here, builder, nil, nil, nil)
		if m.Compose != nil {
			image = buildanddeploy.NewImage(nil, builder, nil, nil, nil) // it stays in the engine
		}
		found, err := image.Remembered(ctx, buildanddeploy.Request{Manifest: m, Mode: model.UpdateAuto, Cluster: p.Known, Registry: tf.RegistryFor(m.Cluster()), Cache: tf.ImageCache, Builder: tf.Builder, Namespace: p.Namespace, Env: p.Env})
		if err != nil {
			return nil, err
		}
		for _, hit := range found {
			if ref := hit.Request.Target.Ref; !seen[ref] {
				seen[ref] = true
				all = append(all, hit)
			}
		}
	}
	return all, nil
}

// sampleOf chooses a part of the images, at least one.
func sampleOf(hits []buildanddeploy.Remembered, share percent) []buildanddeploy.Remembered {
	n := min(len(hits), max(1, (len(hits)*int(share)+99)/100))
	rand.Shuffle(len(hits), func(i, j int) { hits[i], hits[j] = hits[j], hits[i] })
	return hits[:n]
}
