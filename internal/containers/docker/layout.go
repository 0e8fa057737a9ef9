package docker

import (
	"context"
	"fmt"

	"github.com/containerd/containerd/v2/core/content"
	contentlocal "github.com/containerd/containerd/v2/plugins/content/local"
	"github.com/containerd/errdefs"
)

// exported is BuildKit's name for the store that an image goes to.
const exported = "export"

// smallBlob is the size in bytes up to which a layout takes each blob. Manifests and configurations are smaller.
const smallBlob = 1 << 20

// layout adds the folder that gets the image, if there is one, to the stores that a session serves.
func (o *Output) layout(stores map[string]content.Store) error {
	if o == nil || o.Layout == "" {
		return nil
	}
	Hush() // the library would report that the file system has no fs-verity
	store, err := contentlocal.NewStore(o.Layout)
	if err != nil {
		return fmt.Errorf("keep the image: %w", err)
	}
	stores[exported] = sparse{store, o.Wants}
	return nil
}

// sparse is a store that takes small blobs, and the large ones that are wanted. It claims to have the others, so that they do not travel.
type sparse struct {
	content.Store

	wants func(ctx context.Context, layer string) bool
}

// Writer implements content.Ingester.
func (s sparse) Writer(ctx context.Context, opts ...content.WriterOpt) (content.Writer, error) {
	var o content.WriterOpts
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return nil, err
		}
	}
	if o.Desc.Size > smallBlob && !s.wants(ctx, o.Desc.Digest.String()) {
		return nil, fmt.Errorf("layer %s: %w", o.Desc.Digest, errdefs.ErrAlreadyExists)
	}
	return s.Store.Writer(ctx, opts...)
}
