package imagebuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild/containerd"
	"github.com/hone-dev/hone/pkg/model"
)

// Elsewhere is a builder that keeps no images: it puts each where the Output of the request says.
type Elsewhere interface {
	// Build builds an image and returns the digest of its manifest. Its errors are like those of docker.Client.
	Build(ctx context.Context, req docker.BuildRequest) (digest string, err error)
	// OnThisMachine reports whether the builder reaches the loopback addresses of this machine.
	OnThisMachine() bool
	// InCluster reports whether the builder is a pod of the session's own cluster.
	InCluster() bool
	// Parts splits platforms ("linux/amd64,linux/arm64") into those that one build of it makes.
	Parts(platforms string) []string
	// String names the builder for people, and Describe says how it runs, too.
	String() string
	Describe() string
}

// With makes the builder build Dockerfiles elsewhere, where the function returns a builder for the one that the Tiltfile declares. Their
// images go straight to the registry or to the node that the plan of a request names. Only some are loaded into the engine, which needs them
// itself: the images of services, those with extra tags, and those for a cluster whose nodes are containers.
func (b *Builder) With(away func(declared model.Builder) Elsewhere) *Builder {
	b.away = away
	return b
}

// way is the way of an image from another builder.
type way int

const (
	toEngine   way = iota // which delivers it, or runs it
	toRegistry            // the builder pushes it
	overHere              // hone pushes it
	toNode                // the node's containerd takes in the blobs that it lacks
)

// exports is the number of times that an image is exported into a node: once more if the node has lost a blob.
const exports = 2

// way returns the way of the image of a request.
func (b *Builder) way(req Request) way {
	alone := len(req.Target.Docker.ExtraTags) == 0
	registry := req.To.Method == model.DeliverRegistry || req.To.Method == model.DeliverPush
	switch {
	case !alone:
		return toEngine
	case registry && b.cutOff(req):
		return overHere
	case registry:
		return toRegistry
	case req.To.Method == model.DeliverContainerd:
		return toNode
	}
	return toEngine
}

// making has another builder build an image, and puts that somewhere.
type making func(context.Context, Request, docker.BuildRequest) (model.ImageResult, error)

// madeElsewhere has the other builder build an image.
func (b *Builder) madeElsewhere(ctx context.Context, req Request, build docker.BuildRequest) (result model.ImageResult, err error) {
	if req.Registry.Kept() {
		logstore.Infof(build.Log, "Registry: %s, in the cluster", req.Registry.Host) // its start takes a while
	}
	if err := b.registry.started(ctx, req.Registry); err != nil {
		return result, err
	}
	by := b.way(req)
	made := map[way]making{toEngine: b.loaded, toRegistry: b.pushed, overHere: b.relayed, toNode: b.imported}[by]
	if parts := b.parts(req, build.Platform, by); len(parts) > 1 {
		if inRegistry := by == toRegistry || by == overHere; !inRegistry {
			return result, notJoined(req.Target.Ref, parts)
		}
		made = func(ctx context.Context, req Request, build docker.BuildRequest) (model.ImageResult, error) {
			return b.joined(ctx, req, build, parts)
		}
	}
	logstore.Infof(build.Log, "Builder: %s", b.away(req.Builder).Describe())
	err = b.onBases(ctx, req, build, func(build docker.BuildRequest) (err error) {
		result, err = made(ctx, req, build)
		return err
	})
	return result, err
}

// parts splits the platforms of an image by the builds that make them. Images that hone pushes have one each.
func (b *Builder) parts(req Request, platforms string, by way) []string {
	if by == overHere {
		return strings.Split(strings.ReplaceAll(platforms, " ", ""), ",")
	}
	return b.away(req.Builder).Parts(platforms)
}

// onBases gives the other builder the bases of an image that it cannot fetch, while do has it build the image.
func (b *Builder) onBases(ctx context.Context, req Request, build docker.BuildRequest, do func(docker.BuildRequest) error) error {
	from, err := b.carry(ctx, req)
	if err != nil {
		return err
	}
	defer from.Close()
	build.Bases = from.bases
	return do(build)
}

// pushPlace returns the name, without a tag, under which the other builder pushes the image.
func pushPlace(req Request) (place string, err error) {
	if place, err = LocalName(req.Target.Ref, req.Registry); err != nil {
		return "", err
	}
	full, err := fullRef(place)
	if err != nil {
		return "", err
	}
	return place, noPlace(full, place, req.To)
}

// pushed has the other builder push the image, and names it after its content in the registry.
func (b *Builder) pushed(ctx context.Context, req Request, build docker.BuildRequest) (result model.ImageResult, err error) {
	place, err := pushPlace(req)
	if err != nil {
		return result, err
	}
	build.Output = &docker.Output{Repository: place}
	digest, err := b.away(req.Builder).Build(ctx, build)
	if err != nil {
		return result, ofPush(place, err)
	}
	if req.Target.Supervised {
		return b.atopInRegistry(ctx, req, place+"@"+digest, func(id string) (model.ImageResult, error) { return strange(req, id) })
	}
	if result, err = strange(req, digest); err != nil {
		return result, err
	}
	if err := b.registry.tag(ctx, place+"@"+digest, result.Local); err != nil {
		return result, unnamed(result, err)
	}
	return result, nil
}

// ofPush explains the error of a build that pushes to a place: one of the push may pass, as one of the engine's pushes may.
func ofPush(place string, err error) error {
	if strings.Contains(err.Error(), "failed to push ") { // BuildKit has no code for it
		return notPushed(place, err)
	}
	return err
}

// unnamed is the problem of an image that was pushed without a name, which it does not get.
func unnamed(result model.ImageResult, err error) error {
	return problem.Wrap(err, fmt.Sprintf("the builder has pushed %s, but hone cannot name it there", result.Local),
		"make the registry reachable from this machine, and log in: docker login").See("builders")
}

// strange returns the names of an image that the engine does not have, after its content.
func strange(req Request, id string) (model.ImageResult, error) {
	result, err := named(req, id)
	result.ImageID = ""
	return result, err
}

// imported lets the node's containerd take in the image from the other builder. Blobs that the node has do not travel. One that the node loses
// meanwhile does, by another export.
func (b *Builder) imported(ctx context.Context, req Request, build docker.BuildRequest) (result model.ImageResult, err error) {
	node, err := containerd.Dial(req.To.Socket)
	if err != nil {
		return result, err
	}
	defer node.Close()
	for range exports {
		if result, err = b.exported(ctx, node, req, build); !errors.Is(err, containerd.ErrLost) {
			break
		}
		logstore.Infof(build.Log, "%v", err)
	}
	return result, err
}

// exported is one attempt of imported. The error satisfies containerd.ErrLost if the node has lost a blob meanwhile.
func (b *Builder) exported(ctx context.Context, node *containerd.Client, req Request, build docker.BuildRequest) (result model.ImageResult, err error) {
	into := node.Receive()
	defer into.Close()
	build.Output = &docker.Output{Into: into}
	manifest, err := b.away(req.Builder).Build(ctx, build)
	if err != nil {
		return result, cmp.Or(into.Err(), err) // the builder's says less
	}
	if req.Target.Supervised {
		sayAtop(req)
		if manifest, err = atopIn(ctx, req.Target, manifest, into, into); err != nil {
			return result, err
		}
	}
	err = into.Name(ctx, manifest, func(id string) (string, error) {
		if result, err = strange(req, id); err != nil {
			return "", err
		}
		return fullRef(result.Cluster)
	})
	return result, err
}

// loaded loads the image from the other builder into the engine.
func (b *Builder) loaded(ctx context.Context, req Request, build docker.BuildRequest) (result model.ImageResult, err error) {
	if err := b.docker.Alive(ctx); err != nil {
		if ctx.Err() != nil {
			return result, ctx.Err()
		}
		// The engine does not build: the update fails, and does not wait for it.
		return result, problem.Wrap(errors.New(problem.Text(err)), fmt.Sprintf("the image %s has to be loaded into the container engine", req.Target.Ref),
			"start the engine, or deliver images through a registry: default_registry(\"registry.example.com/you\") in the Tiltfile").See("builders")
	}
	place, err := LocalName(req.Target.Ref, req.Registry)
	if err != nil {
		return result, err
	}
	ref := place + ":loading-" + uuid.NewString()
	err = b.streamed(ctx, req, build, ref, func(archive io.Reader) error { return b.docker.Load(ctx, archive) })
	if err != nil {
		return result, err
	}
	im, found, err := b.docker.Inspect(ctx, ref)
	if err != nil || !found {
		return result, errors.Join(err, fmt.Errorf("the engine has not loaded %s", ref))
	}
	if result, err = b.inEngine(ctx, req, im.ID); err != nil {
		return result, err
	}
	return result, b.docker.Remove(ctx, ref) // that name only
}

// streamed builds an image whose archive take reads. take may be called again, for another attempt.
func (b *Builder) streamed(ctx context.Context, req Request, build docker.BuildRequest, ref string, take func(archive io.Reader) error) error {
	var last *reading
	build.Output = &docker.Output{Name: ref, Archive: func() io.WriteCloser {
		last = read(take)
		return last
	}}
	_, err := b.away(req.Builder).Build(ctx, build)
	switch {
	case last == nil:
		return err
	case err == nil:
		return last.Close()
	case last.broke():
		return last.err
	}
	return err
}

// reading is an archive that somebody reads while it is written.
type reading struct {
	*io.PipeWriter
	done chan struct{}
	err  error // valid once done is closed
}

var _ io.WriteCloser = (*reading)(nil)

// read starts to read an archive. Close ends it.
func read(take func(archive io.Reader) error) *reading {
	r, w := io.Pipe()
	out := &reading{PipeWriter: w, done: make(chan struct{})}
	go func() {
		defer close(out.done)
		if out.err = take(r); out.err == nil {
			_, out.err = io.Copy(io.Discard, r) // the end of an archive is followed by filling
		}
		r.CloseWithError(out.err)
	}()
	return out
}

// Close waits until the archive has been read, and returns the error of its reader.
func (r *reading) Close() error {
	_ = r.PipeWriter.Close() // never an error
	<-r.done
	return r.err
}

// broke reports whether the reader has failed, other than by the end of the archive.
func (r *reading) broke() bool {
	err := r.Close()
	return err != nil && !errors.Is(err, io.ErrUnexpectedEOF)
}

// tag gives an image that a registry has another tag.
func (r *registryClient) tag(ctx context.Context, from, to string) error {
	tag, err := name.NewTag(to)
	if err != nil {
		return err
	}
	parsed, err := name.NewDigest(from)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, layersTime)
	defer cancel()
	found, err := remote.Get(parsed, r.options(ctx)...)
	if err != nil {
		return err
	}
	return remote.Tag(tag, found, r.options(ctx)...)
}
