package imagebuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// registryBlobs are the blobs of a repository. Those that were read are files until Close: a builder reads a blob in pieces.
type registryBlobs struct {
	registry *registryClient
	of       name.Repository
	manifest *remote.Descriptor
	images   []v1.Descriptor // of an index; none for an image
	dir      string
	mu       sync.Mutex // of the files
}

var _ blobsHere = (*registryBlobs)(nil)

// blobs returns the blobs of an image, and the digest of its manifest. The error satisfies fs.ErrNotExist if the registry lacks it.
func (r *registryClient) blobs(ctx context.Context, ref string) (digest string, blobs blobsHere, err error) {
	out := &registryBlobs{registry: r}
	err = r.ask(ctx, ref, func(ctx context.Context, parsed name.Reference) error {
		out.of = parsed.Context()
		if out.manifest, err = remote.Get(parsed, r.options(ctx)...); err != nil || !out.manifest.MediaType.IsIndex() {
			return err
		}
		index, err := v1.ParseIndexManifest(bytes.NewReader(out.manifest.Manifest))
		if err == nil {
			out.images = index.Manifests
		}
		return err
	})
	if errors.Is(err, errNoImage) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", nil, err
	}
	if out.dir, err = os.MkdirTemp("", "hone-base-"); err != nil {
		return "", nil, fmt.Errorf("keep the base: %w", err)
	}
	return out.manifest.Digest.String(), out, nil
}

// Close removes the files.
func (b *registryBlobs) Close() error { return os.RemoveAll(b.dir) }

// Open implements docker.Blobs.
func (b *registryBlobs) Open(ctx context.Context, digest string) (docker.Blob, error) {
	if digest == b.manifest.Digest.String() {
		return inMemory(b.manifest.Manifest), nil
	}
	parsed, err := name.NewDigest(b.of.Name() + "@" + digest) // it becomes the name of a file
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(b.images, func(is v1.Descriptor) bool { return is.Digest.String() == digest }) {
		image, err := remote.Get(parsed, b.registry.options(ctx)...) // a registry has no manifest among its blobs
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", parsed, err)
		}
		return inMemory(image.Manifest), nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	path := filepath.Join(b.dir, strings.TrimPrefix(digest, "sha256:"))
	if _, err := os.Stat(path); err != nil {
		if err := b.download(ctx, parsed, path); err != nil {
			return nil, fmt.Errorf("read %s: %w", parsed, err)
		}
	}
	return openFile(path)
}

// inMemory is a blob in memory.
func inMemory(raw []byte) docker.Blob {
	return section{io.NewSectionReader(bytes.NewReader(raw), 0, int64(len(raw)))}
}

// download copies a blob into a file, which is whole if it is there.
func (b *registryBlobs) download(ctx context.Context, of name.Digest, path string) error {
	layer, err := remote.Layer(of, b.registry.options(ctx)...)
	if err != nil {
		return err
	}
	from, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// openFile opens a file as a blob.
func openFile(path string) (docker.Blob, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return blobFile{file, info.Size()}, nil
}

// blobFile is a blob in a file.
type blobFile struct {
	*os.File

	size int64
}

// Size implements docker.Blob.
func (f blobFile) Size() int64 { return f.size }
