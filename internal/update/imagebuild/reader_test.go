package imagebuild

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// layerOf returns a layer with some files, links and folders.
func layerOf(t *testing.T, headers ...tar.Header) v1.Layer {
	t.Helper()
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

func withLayers(t *testing.T, layers ...v1.Layer) v1.Image {
	t.Helper()
	im, err := mutate.Config(empty.Image, v1.Config{Entrypoint: []string{"/serve"}, Cmd: []string{"all"}, Env: []string{"PATH=/bin"}, User: "7", WorkingDir: "/src"})
	if err == nil {
		im, err = mutate.AppendLayers(im, layers...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestReader inspects images in a registry: with an image in an index that also has attestations, a second question costs one request.
func TestReader(t *testing.T) {
	program := tar.Header{Name: "bin/sh", Mode: 0o755}
	for _, tc := range []struct {
		name   string
		layers []v1.Layer
		index  bool
		want   []string
	}{
		{name: "a program", layers: []v1.Layer{layerOf(t), layerOf(t, program)}, want: []string{"/bin/sh"}},
		{name: "in an index", layers: []v1.Layer{layerOf(t, program)}, index: true, want: []string{"/bin/sh"}},
		{name: "a link", layers: []v1.Layer{layerOf(t, tar.Header{Name: "./bin/tar", Linkname: "busybox", Typeflag: tar.TypeSymlink})}, want: []string{"/bin/tar"}},
		{name: "no program", layers: []v1.Layer{layerOf(t, tar.Header{Name: "bin/sh", Mode: 0o644}, tar.Header{Name: "sbin/sh", Mode: 0o755},
			tar.Header{Name: "bin/tar/", Mode: 0o755, Typeflag: tar.TypeDir})}},
		{name: "nothing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var asked atomic.Int32
			serve := registry.New(registry.Logger(nopLog))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				serve.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			ref := strings.TrimPrefix(server.URL, "http://") + "/api:1"
			im := withLayers(t, tc.layers...)
			id, err := im.ConfigName()
			if err != nil {
				t.Fatal(err)
			}
			if tc.index {
				putIndex(t, ref, im)
			} else if err := put(ref, im); err != nil {
				t.Fatal(err)
			}
			reader := NewReader(dockertest.New())
			for i := range 2 {
				asked.Store(0)
				got, found, err := reader.Inspect(t.Context(), model.ImageResult{Local: ref}, Plan{})
				want := docker.Image{ID: id.String(), Entrypoint: []string{"/serve"}, Cmd: []string{"all"}, Env: []string{"PATH=/bin"}, User: "7", WorkingDir: "/src"}
				if err != nil || !found || !cmp.Equal(want, got) {
					t.Errorf("%v, %v\n%s", found, err, cmp.Diff(want, got))
				}
				if n := asked.Load(); i > 0 && n > 2 { // whether it is a registry, and the digest
					t.Errorf("%d requests for an image that is known", n)
				}
			}
			got, err := reader.Programs(t.Context(), model.ImageResult{Local: ref}, Plan{}, []string{"/bin/sh", "/bin/tar"})
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("programs %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func putIndex(t *testing.T, ref string, im v1.Image) {
	t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: im, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "riscv64"}}},
		mutate.IndexAddendum{Add: labelled(t, "attestation"), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"}}})
	if err := remote.WriteIndex(parsed, index, remote.WithTransport(newRegistryClient().transport)); err != nil {
		t.Fatal(err)
	}
}

// TestReaderWithoutAnswer inspects images that neither the engine nor a registry describes.
func TestReaderWithoutAnswer(t *testing.T) {
	lost := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(lost.Close)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, tc := range []struct {
		name, ref string
		ctx       context.Context
		fails     bool
		programs  []string
	}{
		{"a registry that fails", strings.TrimPrefix(lost.URL, "http://") + "/api:1", t.Context(), false, []string{"/bin/sh"}},
		{"no registry in the name", "api:1", t.Context(), false, nil},
		{"an end", "example.com/api:1", ctx, true, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reader := NewReader(dockertest.New())
			if _, found, err := reader.Inspect(tc.ctx, model.ImageResult{Local: tc.ref}, Plan{}); found || (err != nil) != tc.fails {
				t.Errorf("found %v, %v", found, err)
			}
			got, err := reader.Programs(tc.ctx, model.ImageResult{Local: tc.ref}, Plan{}, []string{"/bin/sh", "/bin/tar"})
			if !slices.Equal(got, tc.programs) || (err != nil) != (tc.programs == nil) {
				t.Errorf("programs %q, %v", got, err)
			}
		})
	}
}
