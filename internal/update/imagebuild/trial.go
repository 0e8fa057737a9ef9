package imagebuild

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild/containerd"
	"github.com/hone-dev/hone/pkg/model"
)

// Try is Build for an image that is only looked at: neither a registry nor a node gets it, no cache is written, and the image is not
// remembered. Its names are the ones that the next build gives it, and digest is the digest that they come from. Other trials may be based on it
// until Close. An image that the engine builds, or needs, gets there as by Build: then digest is empty.
func (b *Builder) Try(ctx context.Context, req Request) (result model.ImageResult, digest string, err error) {
	elsewhere := req.Target.Docker != nil && b.away(req.Builder) != nil
	if !elsewhere || b.way(req) == toEngine {
		result, err = b.Build(ctx, req)
		return result, "", err
	}
	if req.Logger == nil {
		req.Logger = logstore.Discard
	}
	if result, digest, err = b.tried(ctx, req); err != nil {
		return result, "", fmt.Errorf("build %s: %w", req.Target.Ref, err)
	}
	result.StartedAt = b.now()
	return result, digest, nil
}

// tried has the other builder build an image, and keeps the trial.
func (b *Builder) tried(ctx context.Context, req Request) (result model.ImageResult, id string, err error) {
	if strings.Contains(req.platform(), ",") {
		return result, "", problem.New(req.Target.Ref+" is built for several platforms, and has no digest before it is pushed",
			"preview without --build, or name one platform").See("builders")
	}
	way := b.way(req)
	if way == toRegistry {
		if _, err := pushPlace(req); err != nil {
			return result, "", err
		}
	}
	logstore.Infof(req.Logger, "Builder: %s", b.away(req.Builder).Describe())
	t, err := b.newTrial(ctx, req)
	if err != nil {
		return result, "", err
	}
	id = t.manifest
	if way == toNode { // hone makes the manifest there
		if id, err = t.asInNode(ctx); err != nil {
			return result, "", fmt.Errorf("make the manifest of the image: %w", err)
		}
	}
	if result, err = strange(req, id); err == nil {
		b.trials.put(result, t)
	}
	return result, id, err
}

// newTrial builds an image for a trial.
func (b *Builder) newTrial(ctx context.Context, req Request) (*trial, error) {
	dir, err := b.trials.folder()
	if err != nil {
		return nil, err
	}
	t := &trial{blobs: layout(dir)}
	if t.manifest, err = b.sketch(ctx, req, dir, func(string) bool { return false }); err != nil {
		return nil, err
	}
	if req.Target.Supervised {
		below, err := partial.CompressedToImage(blobImage{ctx, t.manifest, t.blobs})
		if err == nil {
			t.manifest, err = atopInto(req.Target, below, func(_ string, blob []byte) error { _, err := t.blobs.put(blob); return err })
		}
		if err != nil {
			return nil, err
		}
	}
	req.Logger, req.OnContext, req.OnStep, req.OnWait = logstore.Discard, nil, nil, nil
	t.fetch = func(ctx context.Context, layer string) error {
		_, err := b.sketch(ctx, req, dir, func(other string) bool { return other == layer })
		return err
	}
	return t, nil
}

// sketch has the other builder build an image, and puts its manifest, its configuration and the layers that are wanted into a folder.
func (b *Builder) sketch(ctx context.Context, req Request, dir string, wanted func(layer string) bool) (manifest string, err error) {
	build := buildRequest(req, *req.Target.Docker)
	build.CacheTo = slices.DeleteFunc(slices.Clone(build.CacheTo), func(c model.BuildCache) bool { return c.Type != model.CacheInline })
	build.Output = &docker.Output{Layout: dir, Wants: func(_ context.Context, layer string) bool { return wanted(layer) }}
	err = b.onBases(ctx, req, build, func(build docker.BuildRequest) (err error) {
		manifest, err = b.away(req.Builder).Build(ctx, build)
		return err
	})
	return manifest, err
}

// trial is an image that only its builder has. Its manifest and its configuration are in a folder, and a layer gets there when it is read. The
// builder itself reads a layer that it has lost.
type trial struct {
	blobs    layout
	manifest string // its digest
	// fetch builds the image once more, and takes in a layer.
	fetch func(ctx context.Context, layer string) error
	mu    sync.Mutex // of fetch
}

var _ docker.Blobs = (*trial)(nil)

// Open implements docker.Blobs.
func (t *trial) Open(ctx context.Context, digest string) (docker.Blob, error) {
	blob, err := t.blobs.Open(ctx, digest)
	if !errors.Is(err, fs.ErrNotExist) {
		return blob, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.fetch(ctx, digest); err != nil {
		return nil, err
	}
	return t.blobs.Open(ctx, digest)
}

// asInNode gives the image the manifest that it has in a node, by which the builder knows it as a base, and returns the digest of its
// configuration.
func (t *trial) asInNode(ctx context.Context) (config string, err error) {
	blob, err := t.Open(ctx, t.manifest)
	if err != nil {
		return "", err
	}
	defer blob.Close()
	var m ocispec.Manifest
	if err := json.NewDecoder(io.NewSectionReader(blob, 0, blob.Size())).Decode(&m); err != nil {
		return "", err
	}
	raw, err := json.Marshal(containerd.Manifest(m.Config, m.Layers))
	if err != nil {
		return "", err
	}
	t.manifest, err = t.blobs.put(raw)
	return m.Config.Digest.String(), err
}

// read calls read with the image.
func (t *trial) read(ctx context.Context, read func(v1.Image) error) error {
	image, err := partial.CompressedToImage(blobImage{ctx, t.manifest, t})
	if err != nil {
		return err
	}
	return read(image)
}

// trials are the trials of a Builder.
type trials struct {
	mu  sync.Mutex
	by  map[string]*trial // by their names on this machine; guarded by mu
	dir string            // of their blobs; empty before the first one; guarded by mu
}

// of returns the trial that has made an image; nil if none has.
func (t *trials) of(r model.ImageResult) *trial {
	if t == nil || r.Local == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.by[r.Local]
}

func (t *trials) put(r model.ImageResult, made *trial) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.by[r.Local] = made
}

// folder returns the folder of the blobs.
func (t *trials) folder() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir != "" {
		return t.dir, nil
	}
	dir, err := os.MkdirTemp("", "hone-trial-")
	if err != nil {
		return "", fmt.Errorf("keep the image: %w", err)
	}
	t.dir = dir
	return dir, nil
}

// forget removes the blobs.
func (t *trials) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.by)
	if t.dir != "" {
		_ = os.RemoveAll(t.dir) // what stays is small, and in a folder that systems clean up
	}
	t.dir = ""
}
