package containerd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	content "github.com/containerd/containerd/api/services/content/v1"
	leases "github.com/containerd/containerd/api/services/leases/v1"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// upload writes a blob.
type upload struct {
	stream content.Content_WriteClient
	cancel context.CancelFunc
	ref    string
	size   int64
	hash   hash.Hash
}

// newUpload begins an upload. The caller ends it.
func (c *Client) newUpload(ctx context.Context) (*upload, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := content.NewContentClient(c.conn).Write(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	return &upload{stream: stream, cancel: cancel, ref: "hone-" + uuid.NewString(), hash: sha256.New()}, nil
}

// end ends the stream to containerd.
func (u *upload) end() { u.cancel() }

// take writes all that r has.
func (u *upload) take(r io.Reader) error {
	buf := make([]byte, chunk)
	for {
		n, err := io.ReadFull(r, buf)
		if err := u.write(buf[:n]); err != nil {
			return err
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// write writes the next bytes of the blob, one message for each chunk.
func (u *upload) write(p []byte) error {
	for part := range slices.Chunk(p, chunk) {
		if err := u.send(&content.WriteContentRequest{Action: content.WriteAction_WRITE, Ref: u.ref, Offset: u.size, Data: part}); err != nil {
			return err
		}
		u.hash.Write(part)
		u.size += int64(len(part))
	}
	return nil
}

// commit ends the blob, which must have the digest. A blob that is there already is as good.
func (u *upload) commit(digest string) error {
	if sum := "sha256:" + hex.EncodeToString(u.hash.Sum(nil)); sum != digest {
		return fmt.Errorf("the blob has the digest %s, not %s", sum, digest)
	}
	return u.finish(digest)
}

// finish is commit for a blob whose digest only containerd compares.
func (u *upload) finish(digest string) error {
	err := u.send(&content.WriteContentRequest{Action: content.WriteAction_COMMIT, Ref: u.ref, Total: u.size, Offset: u.size, Expected: digest})
	if status.Code(err) == codes.AlreadyExists {
		return nil
	}
	return err
}

// send sends one message and waits until it is acknowledged.
func (u *upload) send(req *content.WriteContentRequest) error {
	if err := u.stream.Send(req); err != nil {
		return streamErr(u.stream, err)
	}
	_, err := u.stream.Recv()
	return err
}

// protect looks a blob up and puts it under the lease. Ok is false if there is none.
func (c *Client) protect(l lease, digest string) (size int64, ok bool, err error) {
	got, err := content.NewContentClient(c.conn).Info(l.held, &content.InfoRequest{Digest: digest})
	if status.Code(err) == codes.NotFound {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("look up %s: %w", digest, err)
	}
	_, err = leases.NewLeasesClient(c.conn).AddResource(l.held, &leases.AddResourceRequest{ID: l.id,
		Resource: &leases.Resource{ID: digest, Type: "content"}})
	if err != nil {
		return 0, false, fmt.Errorf("protect %s: %w", digest, err)
	}
	return got.Info.Size, true, nil
}

// read returns a small blob.
func (c *Client) read(ctx context.Context, digest string) ([]byte, error) {
	ctx, cancel := context.WithCancel(inPods(ctx))
	defer cancel() // ends the stream
	stream, err := content.NewContentClient(c.conn).Read(ctx, &content.ReadContentRequest{Digest: digest})
	if err != nil {
		return nil, err
	}
	var out []byte
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if out = append(out, part.Data...); len(out) > maxManifest {
			return nil, fmt.Errorf("%s is larger than %d bytes", digest, maxManifest)
		}
	}
}
