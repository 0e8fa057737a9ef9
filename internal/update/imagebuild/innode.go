package imagebuild

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// nodeRead is the number of bytes that are read at once from a node.
const nodeRead = 1 << 20

// readInNode calls read with an image that a node's containerd has. found is false if it has none.
func readInNode(ctx context.Context, engine docker.Client, to Plan, of model.ImageResult, read func(v1.Image) error) (found bool, err error) {
	digest, blobs, err := nodeBlobs(ctx, engine, to, of)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer blobs.Close()
	image, err := partial.CompressedToImage(blobImage{ctx, digest, blobs})
	if err != nil {
		return false, err
	}
	return true, read(image)
}

// blobImage is the image of one platform whose blobs are in a node's containerd, while the node is connected, or of a trial.
type blobImage struct {
	ctx    context.Context // of the reads
	digest string
	blobs  docker.Blobs
}

var _ partial.CompressedImageCore = blobImage{}

// RawManifest implements partial.CompressedImageCore.
func (n blobImage) RawManifest() ([]byte, error) { return n.read(n.digest) }

// RawConfigFile implements partial.CompressedImageCore.
func (n blobImage) RawConfigFile() ([]byte, error) {
	m, err := partial.Manifest(n)
	if err != nil {
		return nil, err
	}
	return n.read(m.Config.Digest.String())
}

// MediaType implements partial.CompressedImageCore.
func (n blobImage) MediaType() (types.MediaType, error) {
	m, err := partial.Manifest(n)
	if err != nil {
		return "", err
	}
	return m.MediaType, nil
}

// LayerByDigest implements partial.CompressedImageCore.
func (n blobImage) LayerByDigest(digest v1.Hash) (partial.CompressedLayer, error) {
	m, err := partial.Manifest(n)
	if err != nil {
		return nil, err
	}
	for _, layer := range m.Layers {
		if layer.Digest == digest {
			return blobLayer{n, layer}, nil
		}
	}
	return nil, fs.ErrNotExist
}

// read returns a small blob.
func (n blobImage) read(digest string) ([]byte, error) {
	blob, err := n.blobs.Open(n.ctx, digest)
	if err != nil {
		return nil, err
	}
	defer blob.Close()
	return io.ReadAll(io.NewSectionReader(blob, 0, min(blob.Size(), mostConfig)))
}

// blobLayer is a layer of such an image.
type blobLayer struct {
	in blobImage
	of v1.Descriptor
}

var _ partial.CompressedLayer = blobLayer{}

// Digest implements partial.CompressedLayer.
func (l blobLayer) Digest() (v1.Hash, error) { return l.of.Digest, nil }

// Size implements partial.CompressedLayer.
func (l blobLayer) Size() (int64, error) { return l.of.Size, nil }

// MediaType implements partial.CompressedLayer.
func (l blobLayer) MediaType() (types.MediaType, error) { return l.of.MediaType, nil }

// Compressed implements partial.CompressedLayer.
func (l blobLayer) Compressed() (io.ReadCloser, error) {
	blob, err := l.in.blobs.Open(l.in.ctx, l.of.Digest.String())
	if err != nil {
		return nil, err
	}
	return nodeStream{bufio.NewReaderSize(io.NewSectionReader(blob, 0, blob.Size()), nodeRead), blob}, nil
}

// nodeStream reads a blob from its beginning.
type nodeStream struct {
	io.Reader
	io.Closer
}
