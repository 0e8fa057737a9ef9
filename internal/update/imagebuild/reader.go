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
)

// maxLayers bounds the compressed bytes of an image that are read to find its programs.
const maxLayers = 64 << 20

// Reader inspects images where they are: in the engine, or else in the registry in their names, where another machine may have pushed
// them. Construct it with NewReader; it is safe for concurrent use.
type Reader struct {
	engine   docker.Client
	registry *registryClient

	mu   sync.Mutex
	seen map[string]docker.Image // by digest; guarded by mu
}

// NewReader returns a reader of the engine's images.
func NewReader(engine docker.Client) *Reader {
	return &Reader{engine: engine, registry: newRegistryClient(), seen: map[string]docker.Image{}}
}

// Inspect returns an image. A registry that does not answer counts as one that does not have it.
func (r *Reader) Inspect(ctx context.Context, ref string) (docker.Image, bool, error) {
	im, found, err := r.engine.Inspect(ctx, ref)
	if err != nil || found || !elsewhere(ref) {
		return im, found, err
	}
	digest, err := r.registry.digest(ctx, ref)
	if err != nil {
		return im, false, ctx.Err()
	}
	r.mu.Lock()
	im, found = r.seen[digest]
	r.mu.Unlock()
	if found {
		return im, true, nil
	}
	if im, err = r.registry.inspect(ctx, ref); err != nil {
		return docker.Image{}, false, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[digest] = im
	return im, true, nil
}

// Programs returns at which of the absolute paths the image has an executable file; of an image in a registry, only one of them. If the
// registry does not send enough of the image in time, the image is assumed to have the first one: containers tell later.
func (r *Reader) Programs(ctx context.Context, ref string, paths []string) ([]string, error) {
	found, err := r.engine.Programs(ctx, ref, paths)
	if !docker.IsNotFound(err) || !elsewhere(ref) || len(paths) == 0 {
		return found, err
	}
	one, err := r.registry.program(ctx, ref, paths)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return paths[:1], nil //nolint:nilerr // containers tell later
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
		if err != nil {
			return err
		}
		id, err := im.ConfigName()
		if err != nil {
			return err
		}
		file, err := im.ConfigFile()
		if err != nil {
			return err
		}
		c := file.Config
		out = docker.Image{ID: id.String(), OS: file.OS, Arch: file.Architecture, TaggedAt: file.Created.Time, Labels: c.Labels,
			Entrypoint: c.Entrypoint, Cmd: c.Cmd, Env: c.Env, User: c.User, WorkingDir: c.WorkingDir}
		return nil
	})
	return out, err
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

// program returns the first of the paths at which a layer of an image has a file that can be executed, or a link; empty if no layer has
// one. The layers of the base come first and usually have it near their beginning.
func (r *registryClient) program(ctx context.Context, ref string, paths []string) (string, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, layersTime)
	defer cancel()
	im, err := r.only(ctx, parsed)
	if err != nil {
		return "", err
	}
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
