package imagebuild

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/opencontainers/go-digest"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// keptHere is a registry of a namespace that this process serves.
type keptHere struct {
	at      string // its address; empty until it is started
	serves  string // its address once it is started
	started []string
	fails   error // of Start
}

var _ Kept = (*keptHere)(nil)

// Start implements Kept.
func (k *keptHere) Start(_ context.Context, namespace string, pod model.RegistryPod) error {
	if k.fails != nil {
		return k.fails
	}
	k.started = append(k.started, namespace+" "+pod.Image)
	k.at = k.serves
	return nil
}

// Dial implements Kept.
func (k *keptHere) Dial(ctx context.Context, namespace string) (net.Conn, error) {
	if namespace != "shop" || k.at == "" {
		return nil, fs.ErrNotExist
	}
	return new(net.Dialer).DialContext(ctx, "tcp", k.at)
}

// TestKeptRegistry writes to a registry that hone keeps, and reads from it, by a name that no network knows. One that is not started yet has no
// images.
func TestKeptRegistry(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	kept := &keptHere{serves: strings.TrimPrefix(server.URL, "http://")}
	client := newRegistryClient()
	client.transport.reach(kept)
	reg := model.KeptRegistry("shop", model.RegistryPod{})
	ref := reg.Host + "/web:hone-1"
	if _, err := client.digest(t.Context(), ref); !errors.Is(err, errNoImage) {
		t.Fatalf("a registry that is not there answers: %v", err)
	}
	kept.fails = errors.New("no such image")
	if err := client.started(t.Context(), reg); !docker.IsPassing(err) || !errors.Is(err, kept.fails) {
		t.Errorf("a registry that does not start: %v", err)
	}
	kept.fails = nil
	if err := client.started(t.Context(), reg); err != nil {
		t.Fatal(err)
	}
	if err := client.started(t.Context(), model.Registry{Host: "registry.example.com"}); err != nil {
		t.Fatal(err)
	}
	if want := "shop " + model.DefaultRegistryImage; strings.Join(kept.started, ", ") != want {
		t.Errorf("started %q, not %q", kept.started, want)
	}
	if _, err := client.digest(t.Context(), ref); !errors.Is(err, errNoImage) {
		t.Errorf("an empty registry answers: %v", err)
	}
	im, err := random.Image(10, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.write(t.Context(), ref, im); err != nil {
		t.Fatal(err)
	}
	want, err := im.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := client.digest(t.Context(), ref); err != nil || got != want.String() {
		t.Errorf("digest %s, not %s: %v", got, want, err)
	}
	// The engine does not reach the registry: hone pushes its images.
	there := reg.Host + "/api:hone-1"
	if err := (throughHone{held{image: im}, client}).Push(t.Context(), there, nil, nil); err != nil {
		t.Fatal(err)
	}
	id, err := im.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := client.inspect(t.Context(), there); err != nil || got.ID != id.String() {
		t.Errorf("an image of the engine arrives as %+v, not as %s: %v", got, id, err)
	}
	if _, err := client.digest(t.Context(), model.KeptRegistry("other", model.RegistryPod{}).Host+"/web:hone-1"); err == nil {
		t.Error("a registry of another namespace answers")
	}
}

// TestBlobsOfIndex reads all of an image for several platforms: its index, and the manifest, the configuration and the layers of each platform.
func TestBlobsOfIndex(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	client := newRegistryClient()
	ref := strings.TrimPrefix(server.URL, "http://") + "/base:hone-1"
	index, err := random.Index(10, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.writeIndex(t.Context(), ref, index); err != nil {
		t.Fatal(err)
	}
	is, blobs, err := client.blobs(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	list, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	all := []string{is}
	for _, of := range list.Manifests {
		image, err := index.Image(of.Digest)
		if err != nil {
			t.Fatal(err)
		}
		m, err := image.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, of.Digest.String(), m.Config.Digest.String(), m.Layers[0].Digest.String())
	}
	for _, want := range all {
		blob, err := blobs.Open(t.Context(), want)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		content := make([]byte, blob.Size())
		if _, err := blob.ReadAt(content, 0); err != nil && !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		if got := digest.FromBytes(content).String(); got != want {
			t.Errorf("%s is %s", want, got)
		}
		_ = blob.Close()
	}
}

// TestOfPush lets a push that a registry does not take be tried again, and no error of the Dockerfile.
func TestOfPush(t *testing.T) {
	for text, passes := range map[string]bool{
		"build: failed to push r.example.com/web: unexpected status from POST request: 404 Not Found": true,
		"build: failed to push r.example.com/web: connection refused":                                 true,
		"build: [2/2] RUN make failed with exit code 1":                                               false,
	} {
		cause := errors.New(text)
		if err := ofPush("r.example.com/web", cause); docker.IsPassing(err) != passes || !errors.Is(err, cause) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
