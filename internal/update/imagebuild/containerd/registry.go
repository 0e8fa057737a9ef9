package containerd

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// registryAddress is where a registry listens if the port is free. Engines remember the layers of a registry by its address, so that
// the next session has to compress and send no layer again.
const registryAddress = "127.0.0.1:10368"

// repository is the only repository of a registry.
const repository = "hone/node"

// headTime is the time that a client may take to send the head of a request.
const headTime = 2 * releaseTime

// Registry is an image registry of this process that keeps pushed images in the content store of a containerd. An engine that pushes
// to it asks for each layer whether it is there, and sends only the others, which "docker save" cannot do. It accepts only clients that know
// its password. It is safe for concurrent use. Close it after use.
type Registry struct {
	client   *Client
	server   *http.Server
	served   chan struct{} // closed when server has ended
	ctx      context.Context
	cancel   context.CancelFunc
	address  string
	password string

	mu      sync.Mutex
	leases  []lease            // guarded by mu; the last one protects new content
	uploads map[string]*upload // guarded by mu; by ID
	pushed  map[string]pushed  // guarded by mu; by tag
}

// lease protects content.
type lease struct {
	id      string
	held    context.Context
	release func()
	began   time.Time
}

// pushed is an image that was pushed. Its layers are in the order of diffs, the digests of their uncompressed content.
type pushed struct {
	manifest ocispec.Manifest
	diffs    []string
}

// NewRegistry serves a registry on this machine. It dials containerd's socket by the first request.
func NewRegistry(socket string) (*Registry, error) {
	client, err := Dial(socket)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", registryAddress)
	if err != nil { // another session has it
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			_ = client.Close()
			return nil, err
		}
	}
	r := &Registry{client: client, address: listener.Addr().String(), password: rand.Text(), served: make(chan struct{}),
		uploads: map[string]*upload{}, pushed: map[string]pushed{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: headTime,
		ErrorLog: log.New(io.Discard, "", 0)} // the engine tries TLS first
	go func() {
		defer close(r.served)
		_ = r.server.Serve(listener)
	}()
	return r, nil
}

// Close ends the registry. Content that no image uses is garbage from then on.
func (r *Registry) Close() error {
	r.cancel()
	err := r.server.Close()
	<-r.served
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.leases {
		l.release()
	}
	return errors.Join(err, r.client.Close())
}

// Ref returns the reference under which an engine pushes an image with a tag, and the password to do so.
func (r *Registry) Ref(tag string) (ref, password string) {
	return r.address + "/" + repository + ":" + tag, r.password
}

// Size returns the size of the layers of an image that was pushed with a tag, as they travel, and the part of it that an image with other
// layers has, too. Layers are named by the digests of their uncompressed content.
func (r *Registry) Size(tag string, layers []string) (all, shared int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	im := r.pushed[tag]
	for i, layer := range im.manifest.Layers {
		all += layer.Size
		if i < len(layers) && im.diffs[i] == layers[i] && all-layer.Size == shared {
			shared += layer.Size
		}
	}
	return all, shared
}

// Name gives an image that was pushed with a tag the full name under which pods find it.
func (r *Registry) Name(ctx context.Context, tag, name string) error {
	r.mu.Lock()
	im, ok := r.pushed[tag]
	r.mu.Unlock()
	if !ok {
		return fmt.Errorf("name %s: the engine has not pushed it", name)
	}
	l, err := r.lease()
	if err != nil {
		return err
	}
	held := inLease(ctx, l.id)
	target, err := r.client.storeManifest(held, im.manifest)
	if err == nil {
		err = r.client.setImage(held, name, target)
	}
	if err != nil {
		return fmt.Errorf("name %s: %w", name, err)
	}
	return nil
}

// lease returns the lease for new content. Leases expire, so an old one is replaced; until then it protects its content.
func (r *Registry) lease() (lease, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.leases); n > 0 && time.Since(r.leases[n-1].began) < leaseTime/2 {
		return r.leases[n-1], nil
	}
	id, held, release, err := r.client.lease(r.ctx)
	if err != nil {
		return lease{}, err
	}
	l := lease{id, held, release, time.Now()}
	r.leases = append(r.leases, l)
	return l, nil
}

// ServeHTTP implements http.Handler: as much of the protocol of the OCI distribution specification as a push needs.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if _, password, _ := req.BasicAuth(); subtle.ConstantTimeCompare([]byte(password), []byte(r.password)) != 1 {
		w.Header().Set("WWW-Authenticate", `Basic realm="hone"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	path := strings.TrimPrefix(req.URL.Path, "/v2/")
	path = strings.TrimPrefix(path, repository+"/")
	kind, rest, _ := strings.Cut(path, "/")
	id, uploads := strings.CutPrefix(rest, "uploads/")
	var err error
	switch {
	case path == "":
		w.WriteHeader(http.StatusOK)
	case kind == "blobs" && uploads:
		err = r.upload(w, req, id)
	case kind == "blobs" && req.Method == http.MethodHead:
		err = r.has(w, rest)
	case kind == "manifests" && req.Method == http.MethodPut:
		err = r.manifest(w, req, rest)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// has answers whether containerd has a blob, and protects it.
func (r *Registry) has(w http.ResponseWriter, sum string) error {
	l, err := r.lease()
	if err != nil {
		return err
	}
	size, ok, err := r.client.protect(l, sum)
	if err != nil {
		return err
	}
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	w.Header().Set("Content-Length", fmt.Sprint(size))
	w.Header().Set("Docker-Content-Digest", sum)
	return nil
}

// upload takes in a blob: POST begins, PATCH sends, PUT ends.
func (r *Registry) upload(w http.ResponseWriter, req *http.Request, id string) error {
	if req.Method == http.MethodPost {
		id = uuid.NewString()
		l, err := r.lease()
		if err != nil {
			return err
		}
		u, err := r.client.newUpload(l.held)
		if err != nil {
			return err
		}
		r.mu.Lock()
		r.uploads[id] = u
		r.mu.Unlock()
		r.accepted(w, id, u)
		return nil
	}
	r.mu.Lock()
	u := r.uploads[id]
	if req.Method != http.MethodPatch {
		delete(r.uploads, id)
	}
	r.mu.Unlock()
	switch {
	case u == nil:
		w.WriteHeader(http.StatusNotFound)
	case req.Method == http.MethodPatch:
		if err := u.take(req.Body); err != nil {
			u.end()
			return err
		}
		r.accepted(w, id, u)
	case req.Method == http.MethodPut:
		defer u.end()
		if err := u.take(req.Body); err != nil {
			return err
		}
		sum := req.URL.Query().Get("digest")
		if err := u.commit(sum); err != nil {
			return err
		}
		w.Header().Set("Docker-Content-Digest", sum)
		w.Header().Set("Location", "/v2/"+repository+"/blobs/"+sum)
		w.WriteHeader(http.StatusCreated)
	default:
		u.end()
		w.WriteHeader(http.StatusNoContent)
	}
	return nil
}

func (r *Registry) accepted(w http.ResponseWriter, id string, u *upload) {
	w.Header().Set("Location", "/v2/"+repository+"/blobs/uploads/"+id)
	w.Header().Set("Docker-Upload-UUID", id)
	w.Header().Set("Range", fmt.Sprintf("0-%d", max(u.size-1, 0)))
	w.WriteHeader(http.StatusAccepted)
}

// manifest notes the image that was pushed with a tag. Name stores a manifest of it: it says how the layers are packed, which the
// engine's need not.
func (r *Registry) manifest(w http.ResponseWriter, req *http.Request, tag string) error {
	text, err := io.ReadAll(io.LimitReader(req.Body, maxManifest))
	if err != nil {
		return err
	}
	sum := digest.FromBytes(text)
	var m ocispec.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("read the manifest: %w", err)
	}
	text, err = r.client.read(r.ctx, m.Config.Digest.String())
	if err != nil {
		return fmt.Errorf("read the image's configuration: %w", err)
	}
	var config ocispec.Image
	if err := json.Unmarshal(text, &config); err != nil || len(config.RootFS.DiffIDs) != len(m.Layers) {
		return fmt.Errorf("the image's configuration does not fit its layers: %w", err)
	}
	im := pushed{manifest: m}
	im.manifest.MediaType, im.manifest.Config.MediaType = ocispec.MediaTypeImageManifest, ocispec.MediaTypeImageConfig
	for i, diff := range config.RootFS.DiffIDs {
		im.diffs = append(im.diffs, diff.String())
		layer := &im.manifest.Layers[i]
		switch {
		case diff == layer.Digest:
			layer.MediaType = ocispec.MediaTypeImageLayer
		case layer.MediaType != ocispec.MediaTypeImageLayerZstd: // Docker's name for gzip, also of others
			layer.MediaType = ocispec.MediaTypeImageLayerGzip
		}
	}
	r.mu.Lock()
	r.pushed[tag] = im
	r.mu.Unlock()
	w.Header().Set("Docker-Content-Digest", sum.String())
	w.WriteHeader(http.StatusCreated)
	return nil
}
