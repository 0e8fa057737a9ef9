package imagebuild

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
)

// held is a small image in the memory of this process.
type held struct {
	image    v1.Image
	registry *registryClient
}

var _ origin = held{}

// Push pushes the image, with no engine. The push of a small image has no progress.
func (h held) Push(ctx context.Context, ref string, _ logstore.Logger, _ func(percent int)) error {
	if err := h.registry.write(ctx, ref, h.image); err != nil {
		return notPushed(ref, err)
	}
	return nil
}

// Save implements origin. The archive has the image under the only reference.
func (h held) Save(_ context.Context, refs []string) (io.ReadCloser, error) {
	tag, err := name.NewTag(refs[0])
	if err != nil {
		return nil, fmt.Errorf("image reference %q: %w", refs[0], err)
	}
	var archive bytes.Buffer
	if err := tarball.Write(tag, h.image, &archive); err != nil {
		return nil, fmt.Errorf("pack %s: %w", refs[0], err)
	}
	return io.NopCloser(&archive), nil
}

// notPushed is the problem of a registry that does not take an image from this machine. It may later.
func notPushed(ref string, err error) error {
	return &docker.Passing{Err: problem.Wrap(err, "cannot push "+ref, "check that the registry runs, and accepts pushes").See("clusters")}
}
