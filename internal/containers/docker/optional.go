package docker

import (
	"context"
	"fmt"

	cerrdefs "github.com/containerd/errdefs"
)

// Optional returns the client of an engine that need not be there while images are built elsewhere, as away reports: then an engine that
// cannot be reached has no images, and no properties.
func Optional(engine Client, away func() bool) Client { return optional{engine, away} }

type optional struct {
	Client
	away func() bool
}

// absent reports whether an error comes from an engine that need not be there.
func (o optional) absent(err error) bool { return IsUnreachable(err) && o.away() }

var _ Client = optional{}

// Ping implements Client.
func (o optional) Ping(ctx context.Context) (Info, error) {
	info, err := o.Client.Ping(ctx)
	if o.absent(err) {
		return Info{}, nil
	}
	return info, err
}

// Inspect implements Client.
func (o optional) Inspect(ctx context.Context, ref string) (image Image, found bool, err error) {
	image, found, err = o.Client.Inspect(ctx, ref)
	if o.absent(err) {
		return Image{}, false, nil
	}
	return image, found, err
}

// Images implements Client.
func (o optional) Images(ctx context.Context, label string) ([]Image, error) {
	images, err := o.Client.Images(ctx, label)
	if o.absent(err) {
		return nil, nil
	}
	return images, err
}

// Programs implements Client.
func (o optional) Programs(ctx context.Context, ref string, paths []string) ([]string, error) {
	found, err := o.Client.Programs(ctx, ref, paths)
	if o.absent(err) {
		return nil, fmt.Errorf("image %s: %w", ref, cerrdefs.ErrNotFound)
	}
	return found, err
}
