package docker

import (
	"context"
	"fmt"

	cerrdefs "github.com/containerd/errdefs"
)

// Optional returns the client of an engine that need not be there, because images are built elsewhere: an engine that cannot be reached
// has no images, and no properties.
func Optional(engine Client) Client { return optional{engine} }

type optional struct{ Client }

var _ Client = optional{}

// Ping implements Client.
func (o optional) Ping(ctx context.Context) (Info, error) {
	info, err := o.Client.Ping(ctx)
	if IsUnreachable(err) {
		return Info{}, nil
	}
	return info, err
}

// Inspect implements Client.
func (o optional) Inspect(ctx context.Context, ref string) (image Image, found bool, err error) {
	image, found, err = o.Client.Inspect(ctx, ref)
	if IsUnreachable(err) {
		return Image{}, false, nil
	}
	return image, found, err
}

// Images implements Client.
func (o optional) Images(ctx context.Context, label string) ([]Image, error) {
	images, err := o.Client.Images(ctx, label)
	if IsUnreachable(err) {
		return nil, nil
	}
	return images, err
}

// Programs implements Client.
func (o optional) Programs(ctx context.Context, ref string, paths []string) ([]string, error) {
	found, err := o.Client.Programs(ctx, ref, paths)
	if IsUnreachable(err) {
		return nil, fmt.Errorf("image %s: %w", ref, cerrdefs.ErrNotFound)
	}
	return found, err
}
