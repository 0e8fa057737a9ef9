package imagebuild

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/opencontainers/go-digest"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// onlyHere reports whether only this machine reaches a registry: by its loopback addresses.
func onlyHere(host string) bool {
	host, _, _ = strings.Cut(host, "/")
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip.IsLoopback()
}

// relayed pushes the image of another builder from here, to a registry that the builder does not reach. Layers that the registry has do not
// travel.
func (b *Builder) relayed(ctx context.Context, req Request, build docker.BuildRequest) (result model.ImageResult, err error) {
	place, err := LocalName(req.Target.Ref, req.Registry)
	if err != nil {
		return result, err
	}
	dir, err := os.MkdirTemp("", "hone-image-")
	if err != nil {
		return result, fmt.Errorf("keep the image: %w", err)
	}
	defer os.RemoveAll(dir)
	image, manifest, err := b.kept(ctx, req, build, place, dir)
	if err != nil {
		return result, err
	}
	if result, err = strange(req, manifest); err != nil || b.registry.has(ctx, result.Local) {
		return result, err
	}
	if err := b.registry.write(ctx, result.Local, image); err != nil {
		return result, notPushed(result.Local, err)
	}
	return result, nil
}

// kept has another builder write an image into a folder, without the layers that the registry has, and returns it with the digest of its manifest.
// It has the synclet if its target requires that.
func (b *Builder) kept(ctx context.Context, req Request, build docker.BuildRequest, place, dir string) (image v1.Image, manifest string, err error) {
	build.Output = &docker.Output{Layout: dir, Wants: func(ctx context.Context, layer string) bool { return !b.registry.hasLayer(ctx, place, layer) }}
	if manifest, err = b.away(req.Builder).Build(ctx, build); err != nil {
		return nil, "", err
	}
	if image, err = partial.CompressedToImage(blobImage{ctx, manifest, layout(dir)}); err != nil {
		return nil, "", fmt.Errorf("read the image of the builder: %w", err)
	}
	if !req.Target.Supervised {
		return image, manifest, nil
	}
	sayAtop(req)
	if image, err = atop(req.Target, image); err != nil {
		return nil, "", err
	}
	above, err := image.Digest()
	return image, above.String(), err
}

// layout is a folder with blobs by their digests.
type layout string

var _ docker.Blobs = layout("")

// Open implements docker.Blobs.
func (l layout) Open(_ context.Context, is string) (docker.Blob, error) {
	parsed, err := digest.Parse(is) // it becomes the name of a file
	if err != nil {
		return nil, fs.ErrNotExist
	}
	return openFile(l.path(parsed))
}

// put adds a blob, and returns its digest.
func (l layout) put(blob []byte) (string, error) {
	is := digest.FromBytes(blob)
	return is.String(), os.WriteFile(l.path(is), blob, 0o600)
}

func (l layout) path(is digest.Digest) string {
	return filepath.Join(string(l), "blobs", is.Algorithm().String(), is.Encoded())
}

// write pushes an image.
func (r *registryClient) write(ctx context.Context, ref string, image v1.Image) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return err
	}
	return remote.Write(tag, image, r.options(ctx)...)
}

// hasLayer reports whether a repository certainly has a layer.
func (r *registryClient) hasLayer(ctx context.Context, repository, digest string) bool {
	parsed, err := name.NewDigest(repository + "@" + digest)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, headTime)
	defer cancel()
	layer, err := remote.Layer(parsed, r.options(ctx)...)
	if err != nil {
		return false
	}
	has, err := partial.Exists(layer)
	return err == nil && has
}
