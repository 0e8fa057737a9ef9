package containerd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	content "github.com/containerd/containerd/api/services/content/v1"
	"github.com/google/uuid"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// chunk is the number of bytes of a blob in one message; containerd accepts up to 16 MB.
const chunk = 1 << 20

func descriptor(media, sum string, size int64) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: media, Digest: digest.Digest(sum), Size: size}
}

// store writes a blob of size bytes into containerd's content store and returns its digest. A blob whose digest is known
// beforehand is not sent if containerd has it. New blobs get the labels.
func (c *Client) store(ctx context.Context, r io.Reader, size int64, known string, labels map[string]string) (string, error) {
	service := content.NewContentClient(c.conn)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream
	stream, err := service.Write(ctx)
	if err != nil {
		return "", err
	}
	ref := "hone-" + uuid.NewString()
	if known != "" {
		ask := &content.WriteContentRequest{Action: content.WriteAction_STAT, Ref: ref, Total: size, Expected: known}
		if err := stream.Send(ask); err != nil {
			return "", streamErr(stream, err)
		}
		if _, err := stream.Recv(); status.Code(err) == codes.AlreadyExists {
			_, err := io.Copy(io.Discard, r)
			return known, err
		} else if err != nil {
			return "", err
		}
	}
	sum, err := send(stream, ref, r, size)
	if err != nil {
		return "", err
	}
	commit := &content.WriteContentRequest{Action: content.WriteAction_COMMIT, Ref: ref, Total: size, Offset: size,
		Expected: sum, Labels: labels}
	if err := stream.Send(commit); err != nil {
		return "", streamErr(stream, err)
	}
	if _, err := stream.Recv(); err != nil && status.Code(err) != codes.AlreadyExists {
		return "", fmt.Errorf("commit: %w", err)
	}
	return sum, nil
}

// send writes the blob's bytes piece by piece, each acknowledged, and returns its digest.
func send(stream content.Content_WriteClient, ref string, r io.Reader, size int64) (string, error) {
	hash := sha256.New()
	buf := make([]byte, min(size, chunk))
	for offset := int64(0); offset < size; {
		n, err := io.ReadFull(r, buf[:min(size-offset, chunk)])
		if err != nil {
			return "", err
		}
		hash.Write(buf[:n])
		req := &content.WriteContentRequest{Action: content.WriteAction_WRITE, Ref: ref, Total: size, Offset: offset, Data: buf[:n]}
		if err := stream.Send(req); err != nil {
			return "", streamErr(stream, err)
		}
		if _, err := stream.Recv(); err != nil {
			return "", err
		}
		offset += int64(n)
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil)), nil
}

// streamErr finds out why a stream accepts no more data: Send itself reports only that it ended.
func streamErr(stream content.Content_WriteClient, err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	if _, err := stream.Recv(); err != nil {
		return err
	}
	return err
}
