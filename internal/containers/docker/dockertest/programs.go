package dockertest

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// programs are the programs of every image that is not built from scratch.
var programs = []string{"/bin/sh", "/bin/tar"}

// Programs implements Client.
func (f *Fake) Programs(ctx context.Context, ref string, paths []string) ([]string, error) {
	if err := f.begin(ctx, "Programs"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	id, ok := f.lookup(ref)
	if !ok {
		return nil, fmt.Errorf("look into image %s: no such image: %w", ref, cerrdefs.ErrNotFound)
	}
	if f.bare[id] {
		return nil, nil
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !slices.Contains(programs, p) }), nil
}

var fromLine = regexp.MustCompile(`(?mi)^FROM\s+(\S+)`)

// bareImage reports whether a Dockerfile builds an image from scratch.
func bareImage(contents string) bool {
	stages := fromLine.FindAllStringSubmatch(contents, -1)
	return len(stages) > 0 && stages[len(stages)-1][1] == "scratch"
}

// Load implements Client. It reads the manifest that Save writes.
func (f *Fake) Load(ctx context.Context, archive io.Reader) error {
	if err := f.begin(ctx, "Load"); err != nil {
		return err
	}
	var entries []struct {
		Config   string
		RepoTags []string
	}
	r := tar.NewReader(archive)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("load an image: %w", err)
		}
		if header.Name == "manifest.json" {
			if err := json.NewDecoder(r).Decode(&entries); err != nil {
				return fmt.Errorf("load an image: %w", err)
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range entries {
		id := "sha256:" + strings.TrimSuffix(strings.TrimPrefix(e.Config, "sha256:"), ".json")
		f.images[id] = docker.Image{ID: id, OS: f.info.OS, Arch: f.info.Arch, TaggedAt: time.Now()}
		f.bare[id] = true
		for _, tag := range e.RepoTags {
			f.tags[fullRef(tag)] = id
		}
	}
	return nil
}
