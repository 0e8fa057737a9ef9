package containerd

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	images "github.com/containerd/containerd/api/services/images/v1"
	"github.com/containerd/containerd/api/types"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// leaseTime is the time that an import may take before its content counts as garbage, and releaseTime is the time that releasing a
// lease may take.
const (
	leaseTime   = time.Hour
	releaseTime = 5 * time.Second
)

func leaseEnd() string { return time.Now().Add(leaseTime).UTC().Format(time.RFC3339) }

// maxManifest bounds the archive's table of contents, in bytes.
const maxManifest = 4 << 20

// Import puts the image of a "docker save" archive that holds exactly one image under the full name
// ("docker.io/library/api:tag") where pods find it. Layers that containerd has are reused. An image of that name is
// replaced.
func (c *Client) Import(ctx context.Context, archive io.Reader, name string) error {
	_, held, release, err := c.lease(ctx)
	if err != nil {
		return fmt.Errorf("import an image: %w", err)
	}
	defer release()
	contents := contents{client: c, blobs: map[string]ocispec.Descriptor{}, links: map[string]string{}}
	if err := contents.read(held, archive); err != nil {
		return fmt.Errorf("import an image: %w", err)
	}
	target, err := contents.writeManifest(held)
	if err != nil {
		return fmt.Errorf("import an image: %w", err)
	}
	if err := c.setImage(held, name, target); err != nil {
		return fmt.Errorf("import %s: %w", name, err)
	}
	return nil
}

// contents is the content of an archive.
type contents struct {
	client   *Client
	blobs    map[string]ocispec.Descriptor // by name in the archive
	links    map[string]string
	manifest []archived
}

// archived is an entry of the archive's manifest.json.
type archived struct {
	Config string
	Layers []string
}

// read stores every blob of the archive as it arrives: the table of contents is at the end.
func (c *contents) read(ctx context.Context, archive io.Reader) error {
	r := tar.NewReader(archive)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		name := path.Clean(header.Name)
		switch {
		case header.Typeflag == tar.TypeSymlink:
			c.links[name] = path.Join(path.Dir(name), header.Linkname)
		case header.Typeflag == tar.TypeLink:
			c.links[name] = path.Clean(header.Linkname)
		case header.Typeflag != tar.TypeReg || bookkeeping(name):
		case name == "manifest.json":
			if err := json.NewDecoder(io.LimitReader(r, maxManifest)).Decode(&c.manifest); err != nil {
				return fmt.Errorf("read manifest.json: %w", err)
			}
		default:
			if err := c.blob(ctx, name, header.Size, r); err != nil {
				return fmt.Errorf("store %s: %w", name, err)
			}
		}
	}
}

// bookkeeping reports whether the file describes the archive and is not part of an image.
func bookkeeping(name string) bool {
	switch path.Base(name) {
	case "VERSION", "json", "repositories", "index.json", "oci-layout":
		return true
	}
	return false
}

func (c *contents) blob(ctx context.Context, name string, size int64, r io.Reader) error {
	buffered := bufio.NewReaderSize(r, chunk)
	head, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	media := MediaType(head)
	known := ""
	if digits, ok := strings.CutPrefix(name, "blobs/sha256/"); ok {
		known = "sha256:" + digits
	}
	digest, err := c.client.store(ctx, buffered, size, known, nil)
	if err != nil {
		return err
	}
	c.blobs[name] = descriptor(media, digest, size)
	return nil
}

// MediaType returns how a layer is packed, by its first bytes.
func MediaType(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return ocispec.MediaTypeImageLayerGzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return ocispec.MediaTypeImageLayerZstd
	}
	return ocispec.MediaTypeImageLayer
}

// find returns the blob of that name, following links.
func (c *contents) find(name string) (ocispec.Descriptor, error) {
	name = path.Clean(name)
	for range len(c.links) + 1 {
		if d, ok := c.blobs[name]; ok {
			return d, nil
		}
		name = c.links[name]
	}
	return ocispec.Descriptor{}, errors.New("the archive lacks a part of the image")
}

// writeManifest stores a manifest that ties the blobs together, and returns its descriptor.
func (c *contents) writeManifest(ctx context.Context) (target ocispec.Descriptor, err error) {
	if len(c.manifest) != 1 {
		return target, fmt.Errorf("the archive holds %d images, not one", len(c.manifest))
	}
	config, err := c.find(c.manifest[0].Config)
	if err != nil {
		return target, err
	}
	layers := make([]ocispec.Descriptor, len(c.manifest[0].Layers))
	for i, layer := range c.manifest[0].Layers {
		if layers[i], err = c.find(layer); err != nil {
			return target, err
		}
	}
	return c.client.storeManifest(ctx, Manifest(config, layers))
}

// Manifest returns the manifest that an import makes, given the digests and sizes of the image's parts and how its layers are packed.
func Manifest(config ocispec.Descriptor, layers []ocispec.Descriptor) ocispec.Manifest {
	m := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: descriptor(ocispec.MediaTypeImageConfig, config.Digest.String(), config.Size)}
	m.SchemaVersion = 2
	m.Layers = make([]ocispec.Descriptor, len(layers))
	for i, layer := range layers {
		m.Layers[i] = descriptor(packing(layer.MediaType), layer.Digest.String(), layer.Size)
	}
	return m
}

// packing returns the media type of a layer without the differences between Docker and OCI.
func packing(media string) string {
	switch {
	case strings.HasSuffix(media, "gzip"):
		return ocispec.MediaTypeImageLayerGzip
	case strings.HasSuffix(media, "zstd"):
		return ocispec.MediaTypeImageLayerZstd
	}
	return ocispec.MediaTypeImageLayer
}

// storeManifest stores a manifest, whose blobs live as long as it, and returns its descriptor.
func (c *Client) storeManifest(ctx context.Context, m ocispec.Manifest) (ocispec.Descriptor, error) {
	labels := map[string]string{"containerd.io/gc.ref.content.config": m.Config.Digest.String()}
	for i, layer := range m.Layers {
		labels[fmt.Sprintf("containerd.io/gc.ref.content.l.%d", i)] = layer.Digest.String()
	}
	data, err := json.Marshal(m)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	digest, err := c.store(ctx, bytes.NewReader(data), int64(len(data)), "", labels)
	if err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("store the manifest: %w", err)
	}
	return descriptor(ocispec.MediaTypeImageManifest, digest, int64(len(data))), nil
}

// setImage points the name at the target.
func (c *Client) setImage(ctx context.Context, name string, target ocispec.Descriptor) error {
	service := images.NewImagesClient(c.conn)
	image := &images.Image{Name: name, Target: &types.Descriptor{
		MediaType: target.MediaType, Digest: target.Digest.String(), Size: target.Size,
	}}
	_, err := service.Create(ctx, &images.CreateImageRequest{Image: image})
	if status.Code(err) == codes.AlreadyExists {
		_, err = service.Update(ctx, &images.UpdateImageRequest{Image: image})
	}
	if err != nil {
		return fmt.Errorf("name the image: %w", err)
	}
	return nil
}
