package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// Base is an image that a build uses, and that its session serves. BuildKit reads the manifest and the configuration. Of the layers, it reads
// those that it lacks: one that it has made itself, and not forgotten, does not travel.
type Base struct {
	// Ref is the reference in the Dockerfile.
	Ref string
	// Digest is the digest of the manifest.
	Digest string
	Blobs  Blobs
}

// Blobs are the manifest, the configuration and the layers of images. They are safe for concurrent use.
type Blobs interface {
	// Open opens the blob of a digest. The error satisfies fs.ErrNotExist if there is none. ctx is for reading, too.
	Open(ctx context.Context, digest string) (Blob, error)
}

// Blob is an open blob.
type Blob interface {
	io.ReaderAt
	io.Closer
	// Size is in bytes.
	Size() int64
}

// storeID is the name under which the Dockerfile's frontend finds the blobs of a base.
func (b Base) storeID() string { return "hone-" + digest.Digest(b.Digest).Encoded() }

// named returns the setting by which a build takes the base instead of one from a registry.
func (b Base) named() (key, value string, err error) {
	named, err := reference.ParseNormalizedNamed(b.Ref)
	if err != nil {
		return "", "", fmt.Errorf("base %s: %w", b.Ref, err)
	}
	if _, err := digest.Parse(b.Digest); err != nil {
		return "", "", fmt.Errorf("base %s: %w", b.Ref, err)
	}
	name := strings.TrimSuffix(reference.FamiliarString(named), ":latest")
	return "context:" + name, "oci-layout://" + b.storeID() + "@" + b.Digest, nil
}

// and returns the content that a session serves, by the names that BuildKit gives it: the caches and the bases.
func (c *caches) and(bases []Base) map[string]content.Store {
	for _, base := range bases {
		c.stores["oci:"+base.storeID()] = served{blobs: base.Blobs}
	}
	return c.stores
}

// served is a store of content that is only read.
type served struct {
	readOnly

	blobs Blobs
}

var _ content.Store = served{}

// Info implements content.Store.
func (s served) Info(ctx context.Context, of digest.Digest) (content.Info, error) {
	blob, err := s.open(ctx, of)
	if err != nil {
		return content.Info{}, err
	}
	defer blob.Close()
	return content.Info{Digest: of, Size: blob.Size()}, nil
}

// ReaderAt implements content.Store.
func (s served) ReaderAt(ctx context.Context, of ocispecs.Descriptor) (content.ReaderAt, error) {
	return s.open(ctx, of.Digest)
}

func (s served) open(ctx context.Context, of digest.Digest) (Blob, error) {
	blob, err := s.blobs.Open(ctx, of.String())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", errdefs.ErrNotFound, err)
	}
	return blob, err
}

// readOnly refuses what changes a store, or lists it: the other side of the session is another machine.
type readOnly struct{}

// Update implements content.Store.
func (readOnly) Update(context.Context, content.Info, ...string) (content.Info, error) {
	return content.Info{}, errdefs.ErrNotImplemented
}

// Walk implements content.Store.
func (readOnly) Walk(context.Context, content.WalkFunc, ...string) error {
	return errdefs.ErrNotImplemented
}

// Delete implements content.Store.
func (readOnly) Delete(context.Context, digest.Digest) error { return errdefs.ErrNotImplemented }

// ListStatuses implements content.Store.
func (readOnly) ListStatuses(context.Context, ...string) ([]content.Status, error) {
	return nil, errdefs.ErrNotImplemented
}

// Status implements content.Store.
func (readOnly) Status(context.Context, string) (content.Status, error) {
	return content.Status{}, errdefs.ErrNotImplemented
}

// Abort implements content.Store.
func (readOnly) Abort(context.Context, string) error { return errdefs.ErrNotImplemented }

// Writer implements content.Store.
func (readOnly) Writer(context.Context, ...content.WriterOpt) (content.Writer, error) {
	return nil, errdefs.ErrNotImplemented
}
