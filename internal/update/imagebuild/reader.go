package imagebuild

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// maxLayers bounds the compressed bytes of an image that are read to find its programs.
const maxLayers = 64 << 20

// Reader inspects images where they are: in the engine, or else where a builder or another machine has put them: in the node's containerd, or
// in the registry in their names. Construct it with NewReader; it is safe for concurrent use.
type Reader struct {
	engine   docker.Client
	registry *registryClient
	trials   *trials // nil knows of none

	mu   sync.Mutex
	seen map[string]docker.Image // by digest; guarded by mu
}

// NewReader returns a reader of the engine's images.
func NewReader(engine docker.Client) *Reader {
	return &Reader{engine: engine, registry: newRegistryClient(), seen: map[string]docker.Image{}}
}

// And makes the reader also read the images that a builder has tried.
func (r *Reader) And(b *Builder) *Reader {
	r.trials = b.trials
	return r
}

// Inspect returns an image that gets to the cluster as planned. A registry that does not answer counts as one that does not have it.
func (r *Reader) Inspect(ctx context.Context, of model.ImageResult, to Plan) (docker.Image, bool, error) {
	if tried := r.trials.of(of); tried != nil {
		return inspectTrial(ctx, tried)
	}
	im, found, err := r.engine.Inspect(ctx, of.Local)
	if idle := of.ImageID == "" && docker.IsUnreachable(err); idle { // the image never was there
		err = nil
	}
	switch {
	case err != nil || found:
		return im, found, err
	case to.inNodes():
		return r.inspectInNode(ctx, of, to)
	case !elsewhere(of.Local):
		return im, false, nil
	}
	digest, err := r.registry.digest(ctx, of.Local)
	if err != nil {
		return im, false, ctx.Err()
	}
	r.mu.Lock()
	im, found = r.seen[digest]
	r.mu.Unlock()
	if found {
		return im, true, nil
	}
	if im, err = r.registry.inspect(ctx, of.Local); err != nil {
		return docker.Image{}, false, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[digest] = im
	return im, true, nil
}

// inspectTrial is Inspect of a trial.
func inspectTrial(ctx context.Context, tried *trial) (out docker.Image, found bool, err error) {
	err = tried.read(ctx, func(im v1.Image) (err error) {
		out, err = properties(im)
		return err
	})
	return out, err == nil, err
}

// inspectInNode is Inspect in a node's containerd. One that does not answer counts as one that does not have it.
func (r *Reader) inspectInNode(ctx context.Context, of model.ImageResult, to Plan) (out docker.Image, found bool, err error) {
	limited, cancel := context.WithTimeout(ctx, headTime)
	defer cancel()
	found, err = readInNode(limited, r.engine, to, of, func(im v1.Image) (err error) {
		out, err = properties(im)
		return err
	})
	if err != nil {
		return out, false, ctx.Err()
	}
	return out, found, nil
}

// Programs returns at which of the absolute paths the image has an executable file; of an image outside of the engine, only one of them. If
// not enough of such an image can be read in time, the image is assumed to have the first one: containers tell later.
func (r *Reader) Programs(ctx context.Context, of model.ImageResult, to Plan, paths []string) ([]string, error) {
	tried := r.trials.of(of)
	node := to.inNodes()
	if tried == nil {
		found, err := r.engine.Programs(ctx, of.Local, paths)
		apart := node || elsewhere(of.Local)
		idle := of.ImageID == "" && docker.IsUnreachable(err)
		if lacks := docker.IsNotFound(err) || idle; !lacks || !apart {
			return found, err
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, layersTime)
	defer cancel()
	one := ""
	search := func(im v1.Image) (err error) {
		one, err = programOf(im, paths)
		return err
	}
	var err error
	switch {
	case tried != nil:
		err = tried.read(limited, search)
	case node:
		_, err = readInNode(limited, r.engine, to, of, search)
	default:
		err = r.registry.read(limited, of.Local, search)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return paths[:1], nil // containers tell later
	case one == "":
		return nil, nil
	}
	return []string{one}, nil
}

// elsewhere reports whether a reference names a registry that hone may have pushed to.
func elsewhere(ref string) bool {
	full, err := fullRef(ref)
	return err == nil && !strings.HasPrefix(full, "docker.io/library/")
}

// inspect returns an image without its tags.
func (r *registryClient) inspect(ctx context.Context, ref string) (out docker.Image, err error) {
	err = r.ask(ctx, ref, func(ctx context.Context, parsed name.Reference) error {
		im, err := r.only(ctx, parsed)
		if err == nil {
			out, err = properties(im)
		}
		return err
	})
	return out, err
}

// properties returns the properties of an image as an engine has them, without its tags.
func properties(im v1.Image) (out docker.Image, err error) {
	id, err := im.ConfigName()
	if err != nil {
		return out, err
	}
	file, err := im.ConfigFile()
	if err != nil {
		return out, err
	}
	c := file.Config
	return docker.Image{ID: id.String(), OS: file.OS, Arch: file.Architecture, TaggedAt: file.Created.Time, Labels: c.Labels,
		Entrypoint: c.Entrypoint, Cmd: c.Cmd, Env: c.Env, User: c.User, WorkingDir: c.WorkingDir}, nil
}

// only returns the image that has a reference: also the only one for a platform in an index, beside which BuildKit keeps attestations.
func (r *registryClient) only(ctx context.Context, parsed name.Reference) (v1.Image, error) {
	found, err := remote.Get(parsed, r.options(ctx)...)
	if err != nil {
		return nil, err
	}
	if !found.MediaType.IsIndex() {
		return found.Image()
	}
	index, err := found.ImageIndex()
	if err != nil {
		return nil, err
	}
	list, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	images := slices.DeleteFunc(slices.Clone(list.Manifests), func(d v1.Descriptor) bool {
		return !d.MediaType.IsImage() || d.Platform != nil && d.Platform.OS == "unknown"
	})
	if len(images) != 1 {
		return found.Image()
	}
	return index.Image(images[0].Digest)
}

// read calls read with an image that a registry has, until ctx is done.
func (r *registryClient) read(ctx context.Context, ref string, read func(v1.Image) error) error {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return err
	}
	im, err := r.only(ctx, parsed)
	if err != nil {
		return err
	}
	return read(im)
}

// programOf returns the first of the paths at which a layer of an image has a file that can be executed, or a link; empty if no layer has
// one. The layers of the base come first and usually have it near their beginning.
func programOf(im v1.Image, paths []string) (string, error) {
	layers, err := im.Layers()
	if err != nil {
		return "", err
	}
	left := int64(maxLayers)
	for _, layer := range layers {
		size, err := layer.Size()
		if err != nil {
			return "", err
		}
		if left -= size; left < 0 {
			return "", errTooLarge
		}
		if found, err := programIn(layer, paths); found != "" || err != nil {
			return found, err
		}
	}
	return "", nil
}

func programIn(layer v1.Layer, paths []string) (string, error) {
	files, err := layer.Uncompressed()
	if err != nil {
		return "", err
	}
	defer files.Close()
	for archive := tar.NewReader(files); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		name, runs := path.Join("/", header.Name), false
		switch header.Typeflag {
		case tar.TypeSymlink, tar.TypeLink:
			runs = true
		case tar.TypeReg:
			runs = header.Mode&0o111 != 0
		}
		if runs && slices.Contains(paths, name) {
			return name, nil
		}
	}
}
