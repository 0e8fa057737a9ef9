package imagebuild

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/sync/errgroup"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// part is a part of an image for several platforms, for some of them: one build has made it.
type part struct {
	images []mutate.IndexAddendum
	took   time.Duration // of the transfer of the context
}

// joined has several builders build parts of an image side by side, each for some platforms, and joins the parts in the registry.
func (b *Builder) joined(ctx context.Context, req Request, build docker.BuildRequest, platforms []string) (result model.ImageResult, err error) {
	place, err := pushPlace(req)
	if err != nil {
		return result, err
	}
	one := func(ctx context.Context, _ int, build docker.BuildRequest) ([]mutate.IndexAddendum, error) {
		return b.pushedPart(ctx, req, build, place)
	}
	wrong := unnamed
	if b.cutOff(req) {
		dir, err := os.MkdirTemp("", "hone-image-")
		if err != nil {
			return result, fmt.Errorf("keep the image: %w", err)
		}
		defer os.RemoveAll(dir)
		one = func(ctx context.Context, i int, build docker.BuildRequest) ([]mutate.IndexAddendum, error) {
			return b.keptPart(ctx, req, build, place, filepath.Join(dir, strconv.Itoa(i)))
		}
		wrong = func(result model.ImageResult, err error) error { return notPushed(result.Local, err) }
	}
	parts, err := sideBySide(ctx, build, platforms, one)
	if err != nil {
		return result, err
	}
	whole := v1.ImageIndex(empty.Index)
	for _, p := range parts {
		whole = mutate.AppendManifests(whole, p.images...)
	}
	digest, err := whole.Digest()
	if err != nil {
		return result, fmt.Errorf("join the parts of %s: %w", req.Target.Ref, err)
	}
	if result, err = strange(req, digest.String()); err != nil {
		return result, err
	}
	logstore.Infof(build.Log, "Joining %s in %s", strings.Join(platforms, " and "), result.Local)
	if err := b.registry.writeIndex(ctx, result.Local, whole); err != nil {
		return result, wrong(result, err)
	}
	return result, nil
}

// sideBySide makes the parts of a build at the same time. Their reports reach the build on the caller's goroutine.
func sideBySide(ctx context.Context, build docker.BuildRequest, platforms []string,
	one func(context.Context, int, docker.BuildRequest) ([]mutate.IndexAddendum, error),
) ([]part, error) {
	all, ctx := errgroup.WithContext(ctx)
	parts, steps, waits := make([]part, len(platforms)), newSteps(len(platforms)), newWaits(len(platforms))
	for i, platform := range platforms {
		mine := build
		mine.Platform, mine.Log = platform, logstore.Indent(build.Log, platform+": ")
		mine.OnContext = func(took time.Duration) { parts[i].took = took }
		mine.OnStep = func(begun, all int) { steps.report(ctx, i, begun, all) }
		mine.OnWait = func(why string) { waits.report(ctx, waitOf{part: i, why: why}) }
		all.Go(func() (err error) {
			parts[i].images, err = one(ctx, i, mine)
			waits.report(ctx, waitOf{part: i, over: true})
			return err
		})
	}
	ended := make(chan error, 1)
	go func() { ended <- all.Wait() }()
	for {
		select {
		case now := <-steps.reports:
			if begun, all := steps.sum(now); build.OnStep != nil {
				build.OnStep(begun, all)
			}
		case now := <-waits.reports:
			if why, news := waits.sum(now); news && build.OnWait != nil {
				build.OnWait(why)
			}
		case err := <-ended:
			longest := slices.MaxFunc(parts, func(a, b part) int { return int(a.took - b.took) }).took
			if build.OnContext != nil && longest > 0 {
				build.OnContext(longest)
			}
			return parts, err
		}
	}
}

// steps are the steps of the parts of a build.
type steps struct {
	reports chan stepsOf
	of      []stepsOf
}

// stepsOf are the steps of one part.
type stepsOf struct{ part, begun, all int }

func newSteps(parts int) *steps {
	return &steps{reports: make(chan stepsOf), of: make([]stepsOf, parts)}
}

// report sends the steps of a part to the goroutine that sums them up.
func (s *steps) report(ctx context.Context, part, begun, all int) {
	select {
	case s.reports <- stepsOf{part, begun, all}:
	case <-ctx.Done():
	}
}

// sum takes in the steps of a part, and returns the sums over all parts.
func (s *steps) sum(now stepsOf) (begun, all int) {
	s.of[now.part] = now
	for _, p := range s.of {
		begun, all = begun+p.begun, all+p.all
	}
	return begun, all
}

// waits are the waits of the parts of a build. The whole waits while no part is built, and not all are over.
type waits struct {
	reports chan waitOf
	of      []waitOf
	said    string // the reason that was reported last
}

// waitOf is the reason why a part waits, if it does. over is set at its end.
type waitOf struct {
	part int
	why  string
	over bool
}

func newWaits(parts int) *waits {
	return &waits{reports: make(chan waitOf), of: make([]waitOf, parts)}
}

// report sends the wait of a part to the goroutine that sums them up.
func (w *waits) report(ctx context.Context, now waitOf) {
	select {
	case w.reports <- now:
	case <-ctx.Done():
	}
}

// sum takes in the wait of a part, and returns the reason why the whole waits. news is set if that is another one than before.
func (w *waits) sum(now waitOf) (why string, news bool) {
	w.of[now.part] = now
	var whys []string
	for _, p := range w.of {
		switch {
		case p.over:
		case p.why == "":
			return w.say("")
		default:
			whys = append(whys, p.why)
		}
	}
	return w.say(strings.Join(whys, "; "))
}

// say notes the reason that is reported.
func (w *waits) say(why string) (_ string, news bool) {
	news = why != w.said
	w.said = why
	return why, news
}

// pushedPart has the other builder push a part by its digest.
func (b *Builder) pushedPart(ctx context.Context, req Request, build docker.BuildRequest, place string) ([]mutate.IndexAddendum, error) {
	build.Output = &docker.Output{Repository: place}
	digest, err := b.away(req.Builder).Build(ctx, build)
	if err != nil {
		return nil, ofPush(place, err)
	}
	images, err := b.registry.images(ctx, place+"@"+digest)
	if err != nil {
		return nil, err
	}
	return atopEach(req.Target, images)
}

// keptPart has the other builder write a part for one platform into a folder, without the layers that the registry has.
func (b *Builder) keptPart(ctx context.Context, req Request, build docker.BuildRequest, place, dir string) ([]mutate.IndexAddendum, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep the image: %w", err)
	}
	image, _, err := b.kept(ctx, req, build, place, dir)
	if err != nil {
		return nil, err
	}
	made, err := ofPlatform(image)
	return []mutate.IndexAddendum{made}, err
}

// ofPlatform is an image as an index lists it.
func ofPlatform(image v1.Image) (made mutate.IndexAddendum, err error) {
	config, err := image.ConfigFile()
	if err != nil {
		return made, fmt.Errorf("read the image of the builder: %w", err)
	}
	return mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: config.Platform()}}, nil
}

// images returns the images of a part in the registry, with the attestations of the builder.
func (r *registryClient) images(ctx context.Context, ref string) (out []mutate.IndexAddendum, err error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return nil, err
	}
	found, err := remote.Get(parsed, r.options(ctx)...)
	if err != nil {
		return nil, err
	}
	if !found.MediaType.IsIndex() {
		image, err := found.Image()
		if err != nil {
			return nil, err
		}
		made, err := ofPlatform(image)
		return []mutate.IndexAddendum{made}, err
	}
	index, err := found.ImageIndex()
	if err != nil {
		return nil, err
	}
	list, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, is := range list.Manifests {
		image, err := index.Image(is.Digest)
		if err != nil {
			return nil, err
		}
		out = append(out, mutate.IndexAddendum{Add: image, Descriptor: is})
	}
	return out, nil
}

// writeIndex pushes an index, with its images that the registry lacks.
func (r *registryClient) writeIndex(ctx context.Context, ref string, index v1.ImageIndex) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return err
	}
	return remote.WriteIndex(tag, index, r.options(ctx)...)
}

// notJoined is the problem of an image whose parts have no place to be joined.
func notJoined(ref string, platforms []string) error {
	return problem.New(fmt.Sprintf("the image %s is for platforms that several builders build (%s), and only a registry joins such an image", ref, strings.Join(platforms, "; ")),
		"name a registry: default_registry(\"registry.example.com/you\") in the Tiltfile\nor give the image one platform: docker_build(…, platform=\""+platforms[0]+"\")").See("builders")
}
