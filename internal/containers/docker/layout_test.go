package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/errdefs"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// refusing is a receiver that takes nothing.
type refusing struct{ err error }

// Receive implements Receiver.
func (r refusing) Receive(context.Context, string, int64) (Received, error) { return nil, r.err }

// TestReceiverRefuses: BuildKit takes a blob that is there as written. It does not wait for a receiver that is not there, and reads nothing.
func TestReceiverRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		there bool
	}{
		"there":       {err: fmt.Errorf("blob: %w", fs.ErrExist), there: true},
		"unavailable": {err: fmt.Errorf("node: %w", errdefs.ErrUnavailable)},
		"other":       {err: errors.New("disk full")},
	} {
		t.Run(name, func(t *testing.T) {
			stores := map[string]content.Store{}
			if err := (&Output{Into: refusing{tt.err}}).store(stores); err != nil {
				t.Fatal(err)
			}
			store := stores[exported]
			_, err := store.Writer(t.Context(), content.WithDescriptor(ocispecs.Descriptor{Digest: "sha256:1", Size: 1}))
			if err == nil || errdefs.IsAlreadyExists(err) != tt.there || errdefs.IsUnavailable(err) {
				t.Errorf("got %v", err)
			}
			if _, err := store.ReaderAt(t.Context(), ocispecs.Descriptor{}); err == nil {
				t.Error("the store was read")
			}
			if _, err := store.Info(t.Context(), ""); err == nil {
				t.Error("the store says what it has")
			}
		})
	}
}
