package containerd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	content "github.com/containerd/containerd/api/services/content/v1"
	images "github.com/containerd/containerd/api/services/images/v1"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// Image is an image in containerd. It opens the blobs of this image and no others: who reads them may be another machine.
type Image struct {
	// Digest is the digest of the manifest.
	Digest string

	client *Client
	blobs  map[string]bool // by digest
}

var _ docker.Blobs = (*Image)(nil)

// Image returns the image that pods find under the full name ("docker.io/library/api:tag"). It is valid while the client is open. The error
// satisfies fs.ErrNotExist if there is none.
func (c *Client) Image(ctx context.Context, name string) (*Image, error) {
	found, err := images.NewImagesClient(c.conn).Get(inPods(ctx), &images.GetImageRequest{Name: name})
	if err != nil {
		return nil, fmt.Errorf("look up image %s: %w", name, missing(err))
	}
	out := &Image{Digest: found.GetImage().GetTarget().GetDigest(), client: c, blobs: map[string]bool{}}
	if err := out.list(ctx, out.Digest); err != nil {
		return nil, fmt.Errorf("look up image %s: %w", name, err)
	}
	return out, nil
}

// list notes a manifest and the blobs that it names, or a list of manifests and their blobs.
func (i *Image) list(ctx context.Context, digest string) error {
	i.blobs[digest] = true
	from, err := i.Open(ctx, digest)
	if err != nil {
		return err
	}
	var is struct {
		Manifests, Layers []ocispec.Descriptor
		Config            ocispec.Descriptor
	}
	if err := json.NewDecoder(io.NewSectionReader(from, 0, min(from.Size(), maxManifest))).Decode(&is); err != nil {
		return fmt.Errorf("read %s: %w", digest, err)
	}
	i.blobs[is.Config.Digest.String()] = true
	for _, layer := range is.Layers {
		i.blobs[layer.Digest.String()] = true
	}
	for _, m := range is.Manifests {
		if err := i.list(ctx, m.Digest.String()); err != nil && !errors.Is(err, fs.ErrNotExist) { // other platforms may be left out
			return err
		}
	}
	return nil
}

// missing makes the error about a thing that is not there satisfy fs.ErrNotExist.
func missing(err error) error {
	if status.Code(err) == codes.NotFound {
		return fs.ErrNotExist
	}
	return err
}

// Open implements docker.Blobs.
func (i *Image) Open(ctx context.Context, digest string) (docker.Blob, error) {
	if !i.blobs[digest] {
		return nil, fmt.Errorf("read %s: %w", digest, fs.ErrNotExist)
	}
	return i.client.open(ctx, digest)
}

// open opens a blob. The error satisfies fs.ErrNotExist if there is none.
func (c *Client) open(ctx context.Context, digest string) (docker.Blob, error) {
	service := content.NewContentClient(c.conn)
	info, err := service.Info(inPods(ctx), &content.InfoRequest{Digest: digest})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", digest, missing(err))
	}
	return &blob{ctx: ctx, service: service, digest: digest, size: info.GetInfo().GetSize()}, nil
}

// blob is content of containerd.
type blob struct {
	ctx     context.Context // of Open
	service content.ContentClient
	digest  string
	size    int64
}

// Size implements docker.Blob.
func (b *blob) Size() int64 { return b.size }

// Close implements io.Closer.
func (b *blob) Close() error { return nil }

// ReadAt implements io.ReaderAt.
func (b *blob) ReadAt(p []byte, off int64) (n int, err error) {
	if off >= b.size {
		return 0, io.EOF
	}
	ctx, cancel := context.WithCancel(inPods(b.ctx))
	defer cancel() // ends the stream
	want := min(int64(len(p)), b.size-off)
	stream, err := b.service.Read(ctx, &content.ReadContentRequest{Digest: b.digest, Offset: off, Size: want})
	for err == nil && int64(n) < want {
		var part *content.ReadContentResponse
		if part, err = stream.Recv(); err == nil {
			n += copy(p[n:], part.GetData())
		}
	}
	if err != nil {
		return n, fmt.Errorf("read %s: %w", b.digest, err)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
