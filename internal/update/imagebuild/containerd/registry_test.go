package containerd

import (
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// push pushes an image to the registry with a password.
func push(t *testing.T, r *Registry, tag, password string, im v1.Image) error {
	t.Helper()
	ref, _ := r.Ref(tag)
	parsed, err := name.ParseReference(ref, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	return remote.Write(parsed, im, remote.WithAuth(&authn.Basic{Username: "hone", Password: password}), remote.WithContext(t.Context()))
}

// TestRegistry pushes a base, then an image on it: only the new layer travels, and the image has both under its name.
func TestRegistry(t *testing.T) {
	const full = "docker.io/library/api:hone-1"
	s, socket := listen(t)
	r, err := NewRegistry(socket)
	if err != nil {
		t.Fatal(err)
	}
	base, err := random.Image(chunk*3/2, 1)
	if err != nil {
		t.Fatal(err)
	}
	layer, err := random.Layer(1000, "application/vnd.docker.image.rootfs.diff.tar.gzip")
	if err != nil {
		t.Fatal(err)
	}
	app, err := mutate.AppendLayers(base, layer)
	if err != nil {
		t.Fatal(err)
	}
	_, password := r.Ref("")
	if err := push(t, r, "base", "wrong", base); err == nil {
		t.Error("pushed with a wrong password")
	}
	if err := push(t, r, "base", password, base); err != nil {
		t.Fatal(err)
	}
	before := s.wrote
	if err := push(t, r, "app", password, app); err != nil {
		t.Fatal(err)
	}
	if sent := s.wrote - before; sent > chunk {
		t.Errorf("sent %d bytes of layers that were there", sent)
	}
	config, err := app.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	var diffs []string
	for _, d := range config.RootFS.DiffIDs {
		diffs = append(diffs, d.String())
	}
	if all, shared := r.Size("base", diffs); all == 0 || shared != all {
		t.Errorf("of %d bytes of the base, the image has %d", all, shared)
	}
	if all, shared := r.Size("app", diffs[:1]); shared == 0 || shared >= all {
		t.Errorf("of %d bytes of the image, the base has %d", all, shared)
	}
	if all, shared := r.Size("app", diffs[1:]); all == 0 || shared != 0 {
		t.Errorf("of %d bytes of the image, %d are shared though the lowest layer differs", all, shared)
	}
	if err := r.Name(t.Context(), "app", full); err != nil {
		t.Fatal(err)
	}
	if err := r.Name(t.Context(), "other", full); err == nil {
		t.Error("named an image that was not pushed")
	}
	m, labels := s.manifestOf(t, full)
	pushed, err := app.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range pushed.Layers {
		if got := m.Layers[i]; got.Digest.String() != l.Digest.String() || got.Size != l.Size || got.MediaType != ocispec.MediaTypeImageLayerGzip {
			t.Errorf("layer %d: %+v", i, got)
		}
	}
	if m.Config.Digest.String() != pushed.Config.Digest.String() || len(labels) != len(pushed.Layers)+1 {
		t.Errorf("configuration %s, parts %v", m.Config.Digest, labels)
	}
	if !slices.Contains(s.protected, pushed.Layers[0].Digest.String()) {
		t.Error("the layer that was there may be collected before the image has a name")
	}
	if s.leases != 1 {
		t.Errorf("%d leases", s.leases)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if s.leases != 0 {
		t.Errorf("%d leases left", s.leases)
	}
}
