package imagebuild

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild/containerd"
	"github.com/hone-dev/hone/pkg/model"
)

// saved is an image out of an engine, as a file in the form of "docker save", whose parts are found by their digests.
type saved struct {
	file  *os.File
	parts map[string]*io.SectionReader // by digest
}

var _ blobsHere = (*saved)(nil)

// savedBlobs saves an image of the engine.
func (b *Builder) savedBlobs(ctx context.Context, dep model.ImageResult) (manifest string, blobs blobsHere, err error) {
	_, found, err := b.docker.Inspect(ctx, dep.ImageID)
	if err != nil {
		return "", nil, err
	}
	if !found {
		return "", nil, fs.ErrNotExist
	}
	archive, err := b.docker.Save(ctx, []string{dep.ImageID})
	if err != nil {
		return "", nil, err
	}
	defer archive.Close()
	file, err := os.CreateTemp("", "hone-base-*.tar")
	if err != nil {
		return "", nil, fmt.Errorf("keep the base: %w", err)
	}
	s := &saved{file: file, parts: map[string]*io.SectionReader{}}
	if _, err = io.Copy(file, archive); err == nil {
		manifest, err = s.index()
	}
	if err != nil {
		_ = s.Close()
		return "", nil, fmt.Errorf("keep the base: %w", err)
	}
	return manifest, s, nil
}

// Close removes the file.
func (s *saved) Close() error {
	_ = s.file.Close() // it was only read
	return os.Remove(s.file.Name())
}

// Open implements docker.Blobs.
func (s *saved) Open(_ context.Context, digest string) (docker.Blob, error) {
	part := s.parts[digest]
	if part == nil {
		return nil, fs.ErrNotExist
	}
	return section{part}, nil
}

// section is a part of a file that stays open.
type section struct{ *io.SectionReader }

// Close implements io.Closer.
func (section) Close() error { return nil }

// index finds the parts of the archive, and returns the digest of the manifest that it makes of them.
func (s *saved) index() (string, error) {
	files, links, err := s.contents()
	if err != nil {
		return "", err
	}
	find := func(name string) *io.SectionReader {
		name = path.Clean(name)
		for range len(links) + 1 {
			if part := files[name]; part != nil {
				return part
			}
			name = links[name]
		}
		return nil
	}
	var listed []struct {
		Config string
		Layers []string
	}
	if err := decode(find("manifest.json"), &listed); err != nil {
		return "", err
	}
	if len(listed) != 1 {
		return "", fmt.Errorf("the archive holds %d images, not one", len(listed))
	}
	m := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest}
	m.SchemaVersion = 2
	var config ocispec.Image
	if err := decode(find(listed[0].Config), &config); err != nil {
		return "", err
	}
	if m.Config, err = s.described(find(listed[0].Config), ocispec.MediaTypeImageConfig, ""); err != nil {
		return "", err
	}
	if len(config.RootFS.DiffIDs) != len(listed[0].Layers) {
		return "", fmt.Errorf("the archive has %d layers of %d", len(listed[0].Layers), len(config.RootFS.DiffIDs))
	}
	for i, name := range listed[0].Layers {
		layer, err := s.layer(name, find(name), config.RootFS.DiffIDs[i])
		if err != nil {
			return "", err
		}
		m.Layers = append(m.Layers, layer)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	made, err := s.described(io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text))), m.MediaType, "")
	return made.Digest.String(), err
}

// contents returns the files of the archive, and where its links lead.
func (s *saved) contents() (files map[string]*io.SectionReader, links map[string]string, err error) {
	files, links = map[string]*io.SectionReader{}, map[string]string{}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, nil, err
	}
	for r := tar.NewReader(s.file); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, links, nil
		}
		if err != nil {
			return nil, nil, err
		}
		name := path.Clean(h.Name)
		switch h.Typeflag {
		case tar.TypeSymlink:
			links[name] = path.Join(path.Dir(name), h.Linkname)
		case tar.TypeLink:
			links[name] = path.Clean(h.Linkname)
		case tar.TypeReg:
			at, err := s.file.Seek(0, io.SeekCurrent) // the reader reads no further than to the end of the header
			if err != nil {
				return nil, nil, err
			}
			files[name] = io.NewSectionReader(s.file, at, h.Size)
		}
	}
}

// decode reads a part in JSON.
func decode(part *io.SectionReader, into any) error {
	if part == nil {
		return errors.New("the archive lacks a part of the image")
	}
	return json.NewDecoder(io.NewSectionReader(part, 0, part.Size())).Decode(into)
}

// layer notes a layer. One that is not named by its digest is not compressed, so it has the digest of its content.
func (s *saved) layer(name string, part *io.SectionReader, content digest.Digest) (ocispec.Descriptor, error) {
	if digits, ok := strings.CutPrefix(path.Clean(name), "blobs/sha256/"); ok {
		content = digest.Digest("sha256:" + digits)
	}
	if part == nil {
		return ocispec.Descriptor{}, errors.New("the archive lacks a layer")
	}
	head := make([]byte, min(4, part.Size()))
	if _, err := part.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return ocispec.Descriptor{}, err
	}
	return s.described(part, containerd.MediaType(head), content)
}

// described notes a part, and describes it. Without a digest, it takes the digest of the content.
func (s *saved) described(part *io.SectionReader, media string, is digest.Digest) (ocispec.Descriptor, error) {
	if is == "" {
		var err error
		if is, err = digest.FromReader(io.NewSectionReader(part, 0, part.Size())); err != nil {
			return ocispec.Descriptor{}, err
		}
	}
	s.parts[is.String()] = part
	return ocispec.Descriptor{MediaType: media, Digest: is, Size: part.Size()}, nil
}
