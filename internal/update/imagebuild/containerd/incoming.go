package containerd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	content "github.com/containerd/containerd/api/services/content/v1"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// ErrLost is the error about a blob that has gone before its image had a name: a lease keeps blobs from garbage collection only.
var ErrLost = errors.New("containerd has lost a blob of the image")

// Incoming is an image on its way into containerd, blob by blob. Those that containerd has do not travel. It is safe for concurrent use. Close
// it when the image has its name: the blobs that are no part of an image are garbage from then on.
type Incoming struct {
	client *Client

	mu      sync.Mutex
	lease   string // that protects the blobs; empty before the first one
	release func()
	failed  error // containerd's first
}

var (
	_ docker.Receiver = (*Incoming)(nil)
	_ docker.Blobs    = (*Incoming)(nil)
)

// Receive begins to take in an image.
func (c *Client) Receive() *Incoming { return &Incoming{client: c} }

// Close ends the protection of the blobs.
func (i *Incoming) Close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.release != nil {
		i.release()
	}
}

// Err returns the error of containerd that has stopped the image; nil if there was none.
func (i *Incoming) Err() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.failed
}

// fail notes an error of containerd. One of a request whose sender has gone says nothing about containerd.
func (i *Incoming) fail(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.failed == nil {
		i.failed = fmt.Errorf("import an image: %w", err)
	}
	return err
}

// held returns the lease of the image, for requests with ctx. It begins with the first blob, since the build before may take long.
func (i *Incoming) held(ctx context.Context) (lease, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.lease == "" {
		id, _, release, err := i.client.lease(context.WithoutCancel(ctx))
		if err != nil {
			return lease{}, err
		}
		i.lease, i.release = id, release
	}
	return lease{id: i.lease, held: inLease(ctx, i.lease)}, nil
}

// Receive implements docker.Receiver. Containerd puts a blob that it has under the lease in the same step in which it says so.
func (i *Incoming) Receive(ctx context.Context, digest string, size int64) (docker.Received, error) {
	l, err := i.held(ctx)
	if err != nil {
		return nil, i.fail(ctx, err)
	}
	u, err := i.client.newUpload(l.held)
	if err != nil {
		return nil, i.fail(ctx, err)
	}
	switch err := u.announce(digest, size); {
	case status.Code(err) == codes.AlreadyExists:
		u.end()
		return nil, fs.ErrExist
	case err != nil:
		u.end()
		return nil, i.fail(ctx, fmt.Errorf("store %s: %w", digest, err))
	}
	return &arriving{ctx: ctx, in: i, upload: u, digest: digest}, nil
}

// announce says which blob comes. The error has the code AlreadyExists if containerd has it. One of another namespace is there as a whole, and
// has only to be committed.
func (u *upload) announce(digest string, size int64) error {
	err := u.stream.Send(&content.WriteContentRequest{Action: content.WriteAction_STAT, Ref: u.ref, Total: size, Expected: digest})
	if err != nil {
		return streamErr(u.stream, err)
	}
	answer, err := u.stream.Recv()
	u.size = answer.GetOffset()
	return err
}

// arriving is a blob that containerd takes in.
type arriving struct {
	ctx    context.Context // of the blob
	in     *Incoming
	upload *upload
	digest string
}

// Offset implements docker.Received.
func (a *arriving) Offset() int64 { return a.upload.size }

// Write implements docker.Received.
func (a *arriving) Write(p []byte) (int, error) {
	if err := a.in.fail(a.ctx, a.upload.write(p)); err != nil {
		return 0, fmt.Errorf("store %s: %w", a.digest, err)
	}
	return len(p), nil
}

// Commit implements docker.Received.
func (a *arriving) Commit() error {
	if err := a.in.fail(a.ctx, a.upload.finish(a.digest)); err != nil {
		return fmt.Errorf("store %s: %w", a.digest, err)
	}
	return nil
}

// Close implements io.Closer.
func (a *arriving) Close() error {
	a.upload.end()
	return nil
}

// Open implements docker.Blobs, for the blobs of the image.
func (i *Incoming) Open(ctx context.Context, digest string) (docker.Blob, error) {
	return i.client.open(ctx, digest)
}

// Name ties the blobs of a manifest together, and puts the image where pods find it. Its full name follows from its content: name returns it for
// the content id ("sha256:…"). The manifest is the one that Import makes. The error satisfies ErrLost if a blob has gone.
func (i *Incoming) Name(ctx context.Context, manifest string, name func(id string) (string, error)) error {
	l, err := i.held(ctx)
	if err != nil {
		return fmt.Errorf("import an image: %w", err)
	}
	raw, err := i.client.read(ctx, manifest)
	if errors.Is(missing(err), fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrLost, manifest)
	}
	if err != nil {
		return fmt.Errorf("import an image: %w", err)
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("import an image: read its manifest: %w", err)
	}
	for _, blob := range append([]ocispec.Descriptor{m.Config}, m.Layers...) {
		switch _, there, err := i.client.protect(l, blob.Digest.String()); {
		case err != nil:
			return fmt.Errorf("import an image: %w", err)
		case !there:
			return fmt.Errorf("%w: %s", ErrLost, blob.Digest)
		}
	}
	full, err := name(m.Config.Digest.String())
	if err != nil {
		return err
	}
	target, err := i.client.storeManifest(l.held, Manifest(m.Config, m.Layers))
	if err == nil {
		err = i.client.setImage(l.held, full, target)
	}
	if err != nil {
		return fmt.Errorf("import %s: %w", full, err)
	}
	return nil
}
