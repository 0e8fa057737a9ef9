package imagebuild

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// Kept are the registries that hone keeps in the session's own cluster, by their namespaces. It may be used by several goroutines.
type Kept interface {
	// Start starts the registry if it is not there, or runs in another pod.
	Start(ctx context.Context, namespace string, pod model.RegistryPod) error
	// Dial connects to a registry. The error satisfies fs.ErrNotExist if none runs.
	Dial(ctx context.Context, namespace string) (net.Conn, error)
}

// Reaching makes the builder use the registries that hone keeps in the cluster.
func (b *Builder) Reaching(kept Kept) *Builder {
	b.registry.transport.reach(kept)
	return b
}

// Reaching makes the deliverer use the registries that hone keeps in the cluster.
func (d *Deliverer) Reaching(kept Kept) *Deliverer {
	d.registry.transport.reach(kept)
	return d
}

// Reaching makes the reader use the registries that hone keeps in the cluster.
func (r *Reader) Reaching(kept Kept) *Reader {
	r.registry.transport.reach(kept)
	return r
}

// registryTransport sends requests to registries: over the network, or through the cluster to one that hone keeps there.
type registryTransport struct {
	network http.RoundTripper
	// registries and kept, which connects to them, are nil where there are none.
	registries Kept
	kept       http.RoundTripper
}

var _ http.RoundTripper = (*registryTransport)(nil)

// reach sets the way to registries in the cluster.
func (t *registryTransport) reach(kept Kept) {
	t.registries = kept
	t.kept = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		namespace, _ := model.KeptIn(address)
		return kept.Dial(ctx, namespace)
	}}
}

// RoundTrip implements http.RoundTripper. A registry in the cluster has no TLS: the stream to its pod is part of the connection to the API server.
func (t *registryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.kept == nil || !keptHost(req.URL.Host) {
		return t.network.RoundTrip(req)
	}
	plain := req.Clone(req.Context())
	plain.URL.Scheme = "http"
	return t.kept.RoundTrip(plain)
}

// keptHost reports whether an address is the one of a registry that hone keeps.
func keptHost(host string) bool {
	_, kept := model.KeptIn(host)
	return kept
}

// started starts a registry that hone keeps, and waits for it. Other registries are left alone.
func (r *registryClient) started(ctx context.Context, registry model.Registry) error {
	namespace, kept := model.KeptIn(registry.Host)
	if !kept || r.transport.registries == nil {
		return nil
	}
	if err := r.transport.registries.Start(ctx, namespace, registry.Pod); err != nil {
		return &docker.Passing{Err: fmt.Errorf("start the registry in namespace %s: %w", namespace, err)} // the next attempt may have another image
	}
	return nil
}

// throughHone pushes images of an origin that does not reach the registry.
type throughHone struct {
	origin
	registry *registryClient
}

// Push implements origin. The registry gets only the layers that it lacks.
func (t throughHone) Push(ctx context.Context, ref string, _ logstore.Logger, _ func(percent int)) error {
	archive, err := t.Save(ctx, []string{ref})
	if err != nil {
		return err
	}
	defer archive.Close()
	file, err := os.CreateTemp("", "hone-image-*.tar")
	if err != nil {
		return fmt.Errorf("keep the image: %w", err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if _, err := io.Copy(file, archive); err != nil {
		return fmt.Errorf("keep the image: %w", err)
	}
	image, err := tarball.ImageFromPath(file.Name(), nil)
	if err != nil {
		return fmt.Errorf("read the image: %w", err)
	}
	if err := t.registry.write(ctx, ref, image); err != nil {
		return notPushed(ref, err)
	}
	return nil
}
