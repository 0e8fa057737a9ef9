package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/containerd/containerd/v2/core/content"
	contentlocal "github.com/containerd/containerd/v2/plugins/content/local"
	"github.com/containerd/errdefs"
	"github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// exported is BuildKit's name for the store that an image goes to.
const exported = "export"

// smallBlob is the size in bytes up to which a layout takes each blob. Manifests and configurations are smaller.
const smallBlob = 1 << 20

// Receiver takes in the blobs of an image. It is safe for concurrent use.
type Receiver interface {
	// Receive begins to take in the blob of a digest, whose size is in bytes. The error satisfies fs.ErrExist if the blob is there, and stays
	// until the image is whole: it does not travel. ctx is for the whole blob.
	Receive(ctx context.Context, digest string, size int64) (Received, error)
}

// Received is a blob that is taken in. Close drops it unless it is committed.
type Received interface {
	io.WriteCloser
	// Offset is the number of bytes that are there. All may be there before the first write.
	Offset() int64
	// Commit ends the blob, if it is whole and has its digest.
	Commit() error
}

// store adds the place of the image, if it gets its blobs one by one, to the stores that a session serves.
func (o *Output) store(stores map[string]content.Store) error {
	switch {
	case o == nil:
	case o.Into != nil:
		stores[exported] = received{by: o.Into}
	case o.Layout != "":
		Hush() // the library would report that the file system has no fs-verity
		store, err := contentlocal.NewStore(o.Layout)
		if err != nil {
			return fmt.Errorf("keep the image: %w", err)
		}
		stores[exported] = sparse{store, o.Wants}
	}
	return nil
}

// sparse is a store that takes small blobs, and the large ones that are wanted. It claims to have the others, so that they do not travel.
type sparse struct {
	content.Store

	wants func(ctx context.Context, layer string) bool
}

// Writer implements content.Ingester.
func (s sparse) Writer(ctx context.Context, opts ...content.WriterOpt) (content.Writer, error) {
	is, err := described(opts)
	if err != nil {
		return nil, err
	}
	if is.Size > smallBlob && !s.wants(ctx, is.Digest.String()) {
		return nil, fmt.Errorf("layer %s: %w", is.Digest, errdefs.ErrAlreadyExists)
	}
	return s.Store.Writer(ctx, opts...)
}

// described returns the blob that the options of a writer describe.
func described(opts []content.WriterOpt) (ocispecs.Descriptor, error) {
	var o content.WriterOpts
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return o.Desc, err
		}
	}
	return o.Desc, nil
}

// received is the store of a receiver. It is only written to.
type received struct {
	readOnly

	by Receiver
}

var _ content.Store = received{}

// Info implements content.Store.
func (received) Info(context.Context, digest.Digest) (content.Info, error) {
	return content.Info{}, errdefs.ErrNotImplemented
}

// ReaderAt implements content.Store.
func (received) ReaderAt(context.Context, ocispecs.Descriptor) (content.ReaderAt, error) {
	return nil, errdefs.ErrNotImplemented
}

// Writer implements content.Store.
func (r received) Writer(ctx context.Context, opts ...content.WriterOpt) (content.Writer, error) {
	is, err := described(opts)
	if err != nil {
		return nil, err
	}
	blob, err := r.by.Receive(ctx, is.Digest.String(), is.Size)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("%s: %w", is.Digest, errdefs.ErrAlreadyExists)
	case err != nil:
		return nil, errors.New(err.Error()) // for one that says "unavailable", BuildKit would try again without an end
	}
	return receiving{blob, is}, nil
}

// receiving writes a blob to a receiver.
type receiving struct {
	Received

	is ocispecs.Descriptor
}

var _ content.Writer = receiving{}

// Digest implements content.Writer. The blob has it once it is committed.
func (r receiving) Digest() digest.Digest { return r.is.Digest }

// Commit implements content.Writer. It leaves out labels: the receiver decides for how long it keeps the blob.
func (r receiving) Commit(context.Context, int64, digest.Digest, ...content.Opt) error {
	return r.Received.Commit()
}

// Status implements content.Writer.
func (r receiving) Status() (content.Status, error) {
	return content.Status{Offset: r.Offset(), Total: r.is.Size}, nil
}

// Truncate implements content.Writer. Nobody goes back: bytes of another attempt are not there.
func (receiving) Truncate(int64) error { return errdefs.ErrNotImplemented }
