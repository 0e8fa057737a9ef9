package imagebuild

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/base/imageref"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// Label marks every image that docker_build makes, so that old ones can be distinguished from images that hone must not
// remove. Its value is the image's reference in the Tiltfile.
const Label = "dev.hone.image"

// Request describes the build of one image.
type Request struct {
	Target model.ImageTarget
	// Deps are the results of the images that the target is based on, by their reference in the Tiltfile.
	Deps map[string]model.ImageResult
	// Registry is the registry of the delivery plan; it determines the image's name.
	Registry model.Registry
	// To is the way of the image into the cluster, which a builder elsewhere takes at once; the zero value leaves the image in the engine.
	To Plan
	// NoCache runs every step again.
	NoCache bool
	// Renew builds the image even if a registry has one of the same inputs, and replaces that one. NoCache implies it.
	Renew bool
	// Reuse takes the known image of the same inputs even if a command builds it that may depend on more than it declares. Unless the
	// request renews the image, the known image of other targets is always taken.
	Reuse bool
	// Share looks for the image of the same inputs in the registry, where another machine may have pushed it, and gives the result a Key,
	// so that Deliver can make it known there.
	Share bool
	// Builder is the builder that the Tiltfile declares.
	Builder model.Builder
	// Cache is the image cache, for an image that is not shared where it is delivered.
	Cache model.ImageCache
	// MayLack, unless nil, makes Build take the last image of the target if no input has changed but files, and it returns true for
	// these. The result has them as Lacks.
	MayLack func(files []string) bool
	// Platform ("linux/amd64") is for targets that name none, when DOCKER_DEFAULT_PLATFORM is not set.
	Platform string
	// Env ("K=V") is added to the environment of the user's build command.
	Env []string
	// Logger receives output and progress; nil discards them.
	Logger logstore.Logger
	// OnBuild, if set, is called when a build begins, because no image of the same inputs was found.
	OnBuild func()
	// OnContext, if set, receives the duration of the build context's transfer to the engine, if there was one, before Build returns.
	OnContext func(took time.Duration)
	// OnStep, if set, receives the number of begun steps of a Dockerfile, and the number of all steps, whenever one of them changes.
	// Build calls it on the caller's goroutine. A build command has no steps.
	OnStep func(begun, all int)
	// OnWait, if set, receives the reason why a Dockerfile waits for a builder of its platform, whenever there is another one, and an empty one
	// when the wait is over. Build calls it on the caller's goroutine.
	OnWait func(why string)
}

// renews reports whether a new image takes the place of the one in the registry.
func (r Request) renews() bool { return r.Renew || r.NoCache }

// Builder builds images. Construct it with New.
type Builder struct {
	docker   docker.Client
	away     func(declared model.Builder) Elsewhere // it returns nil for the engine's own builder
	registry *registryClient
	unshared *once
	memory   *Memory // nil remembers nothing
	pushes   *pushes
	trials   *trials
	now      func() time.Time
	read     func(path string) (sum uint64, err error) // reads a file

	mu      sync.Mutex
	files   map[string]*listing // of requests that are being worked on, by the path of their list; guarded by mu
	digests map[string]noted    // of base images that the engine lacks, by reference; guarded by mu
}

// New returns a builder that uses the engine.
func New(engine docker.Client) *Builder {
	return &Builder{docker: engine, away: func(model.Builder) Elsewhere { return nil }, registry: newRegistryClient(), unshared: &once{}, pushes: newPushes(), trials: &trials{by: map[string]*trial{}}, now: time.Now, read: sumContent,
		files: map[string]*listing{}, digests: map[string]noted{}}
}

// Remember makes the builder record in a memory which image a build made of its inputs.
func (b *Builder) Remember(in *Memory) *Builder {
	b.memory = in
	return b
}

// Build builds one image target and returns its references. An error of the user is a problem; see docker.UserError
// and CommandError.
func (b *Builder) Build(ctx context.Context, req Request) (model.ImageResult, error) {
	if req.Logger == nil {
		req.Logger = logstore.Discard
	}
	defer b.forgetFiles(req)
	if last, ok := b.recalled(ctx, req); ok {
		logstore.Infof(req.Logger, "%s was built by an earlier session: %s", last.Local, lackText(last))
		return last, nil
	}
	known, is, ok := b.reuse(ctx, req)
	if ok {
		logstore.Infof(req.Logger, "Nothing has changed since %s was built: it is used again", known.Local)
		b.offer(req, known)
		return known, nil
	}
	is, found, ok := b.others(ctx, req, is, b.pull)
	if ok {
		b.taken(ctx, req, is, found.result)
		logstore.Infof(req.Logger, "The registry has the image of these inputs: %s is not built", found.result.Local)
		return found.result, nil
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	b.unlist(req)
	sum := b.summing(reading, req, is)
	if req.OnBuild != nil {
		req.OnBuild()
	}
	result, err := b.build(ctx, req)
	if err != nil {
		stop()
		<-sum.done
		return result, err
	}
	keyed := result
	keyed.Key, keyed.Renews = is.key, req.renews()
	if b.remember(ctx, sum, req, keyed) {
		result = keyed
		b.offer(req, result)
	}
	return result, nil
}

func (b *Builder) build(ctx context.Context, req Request) (model.ImageResult, error) {
	switch {
	case req.Target.Docker != nil:
		return b.dockerBuild(ctx, req, *req.Target.Docker)
	case req.Target.Custom != nil:
		return b.customBuild(ctx, req, *req.Target.Custom)
	}
	return model.ImageResult{}, fmt.Errorf("build %s: the target defines no build", req.Target.Ref)
}

// Reusable reports whether the image of an earlier build still exists: in the engine, or where to puts it.
func (b *Builder) Reusable(ctx context.Context, prior model.ImageResult, to Plan) bool {
	_, ok := b.still(ctx, prior, to)
	return ok
}

// still returns the image of an earlier build, if it still exists. One that the engine has lost, and that pods get from the containerd of
// their nodes or from a registry, has no ImageID then.
func (b *Builder) still(ctx context.Context, prior model.ImageResult, to Plan) (now model.ImageResult, ok bool) {
	if prior.Local == "" {
		return prior, false
	}
	now, lost := prior, prior.ImageID != ""
	now.ImageID = ""
	if lost {
		im, found, err := b.docker.Inspect(ctx, prior.Local)
		has := found && im.ID == prior.ImageID
		if has || err != nil {
			return prior, has
		}
		if to.Base || !stays(prior) {
			return prior, false
		}
	}
	switch to.Method {
	case model.DeliverContainerd:
		return now, inNode(ctx, to, now)
	case model.DeliverKIND, model.DeliverK3D:
		return now, nodesOf(to).have(ctx, b.docker, now)
	case model.DeliverShared, model.DeliverNone:
		if lost {
			return now, false
		}
		if here := (Plan{Method: model.DeliverContainerd, Socket: to.Socket}); to.Socket != "" && inNode(ctx, here, now) { // a command has delivered it
			return now, true
		}
	case model.DeliverRegistry, model.DeliverPush:
	}
	return now, b.registry.has(ctx, now.Local)
}

// dockerBuild builds the image of a Dockerfile.
func (b *Builder) dockerBuild(ctx context.Context, req Request, spec model.DockerBuild) (model.ImageResult, error) {
	started := b.now()
	build, made := buildRequest(req, spec), b.made
	if b.away(req.Builder) != nil {
		made = b.madeElsewhere
	}
	result, err := made(ctx, req, build)
	if err != nil {
		return model.ImageResult{}, fmt.Errorf("build %s: %w", req.Target.Ref, err)
	}
	result.StartedAt = started
	return result, nil
}

// made has the engine build an image.
func (b *Builder) made(ctx context.Context, req Request, build docker.BuildRequest) (model.ImageResult, error) {
	id, err := b.docker.Build(ctx, build)
	if err != nil {
		return model.ImageResult{}, err
	}
	return b.inEngine(ctx, req, id)
}

// inEngine names an image that the engine has, and puts the synclet into it where that is needed.
func (b *Builder) inEngine(ctx context.Context, req Request, id string) (model.ImageResult, error) {
	id, err := b.supervised(ctx, req, id)
	if err != nil {
		return model.ImageResult{}, err
	}
	result, err := b.tagByContent(ctx, req, id)
	if err != nil {
		return model.ImageResult{}, err
	}
	for _, extra := range req.Target.Docker.ExtraTags {
		if err := b.docker.Tag(ctx, id, extra); err != nil {
			return model.ImageResult{}, err
		}
	}
	return result, nil
}

// buildRequest is the build of a Dockerfile as the engine gets it.
func buildRequest(req Request, spec model.DockerBuild) docker.BuildRequest {
	return docker.BuildRequest{
		Context: spec.Context, Ignores: spec.ContextIgnores, Dockerfile: spec.Dockerfile,
		Contents:  rewriteBases(spec, req.Deps),
		BuildArgs: spec.BuildArgs, Target: spec.Target, Secrets: spec.Secrets, SSH: spec.SSH, Network: spec.Network,
		CacheFrom: spec.CacheFrom, CacheTo: spec.CacheTo, ExtraHosts: spec.ExtraHosts, Platform: platform(spec.Platform, req.Platform),
		Pull: spec.Pull, NoCache: req.NoCache, Image: req.Target.Ref, Labels: map[string]string{Label: req.Target.Ref}, Log: req.Logger, OnContext: req.OnContext, OnStep: req.OnStep, OnWait: req.OnWait,
	}
}

// tagByContent names the image in the engine after its content.
func (b *Builder) tagByContent(ctx context.Context, req Request, id string) (model.ImageResult, error) {
	result, err := named(req, id)
	if err != nil {
		return result, err
	}
	return result, b.docker.Tag(ctx, id, result.Local)
}

// named returns the names of an image, which come from its content.
func named(req Request, id string) (model.ImageResult, error) {
	tag, err := ContentTag(id)
	if err != nil {
		return model.ImageResult{}, err
	}
	result := model.ImageResult{ImageID: id}
	if result.Local, err = LocalRef(req.Target.Ref, req.Registry, tag); err != nil {
		return model.ImageResult{}, err
	}
	if result.Cluster, err = ClusterRef(req.Target.Ref, req.Registry, tag); err != nil {
		return model.ImageResult{}, err
	}
	return result, nil
}

// platform returns the platform that the image is built for.
func (r Request) platform() string {
	if r.Target.Docker != nil {
		return platform(r.Target.Docker.Platform, r.Platform)
	}
	return platform("", r.Platform)
}

// platform returns the platform to build for: the one in the Tiltfile, else the one in the user's environment, else the cluster's.
func platform(target, cluster string) string {
	if target != "" {
		return target
	}
	if env := os.Getenv("DOCKER_DEFAULT_PLATFORM"); env != "" {
		return env
	}
	return cluster
}

// rewriteBases returns the Dockerfile with the references of built images replaced by the references of the builds.
func rewriteBases(spec model.DockerBuild, deps map[string]model.ImageResult) string {
	if len(deps) == 0 {
		return spec.Contents
	}
	return Rewrite(spec.Contents, spec.BuildArgs, func(use string) (string, bool) { return resolve(use, deps) })
}

// resolve returns the built image for the reference use.
func resolve(use string, deps map[string]model.ImageResult) (string, bool) {
	named, err := reference.ParseNormalizedNamed(use)
	if err != nil {
		return "", false
	}
	ref, ok := imageref.Find(named, slices.Collect(maps.Keys(deps)), selector)
	return deps[ref].Local, ok && deps[ref].Local != ""
}

// selector returns the selector of an image target. Its reference has been parsed before.
func selector(ref string) imageref.Selector {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return imageref.Selector{}
	}
	return imageref.Select(named)
}
