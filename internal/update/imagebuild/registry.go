package imagebuild

import (
	"context"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// headTime bounds the request whether a registry has an image; without an answer the image is pushed.
const headTime = 3 * time.Second

// registryClient queries registries about images without an engine. Registries on this machine may use plain HTTP.
type registryClient struct {
	keychain  authn.Keychain
	transport http.RoundTripper
}

// newRegistryClient returns a client that keeps no connections open: requests are rare, and most registries are local.
func newRegistryClient() *registryClient {
	return &registryClient{
		keychain:  authn.DefaultKeychain,
		transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSHandshakeTimeout: headTime},
	}
}

// has reports whether the registry in ref certainly has the image. Any error counts as no.
func (r *registryClient) has(ctx context.Context, ref string) bool {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, headTime)
	defer cancel()
	_, err = remote.Head(parsed, remote.WithContext(ctx), remote.WithAuthFromKeychain(r.keychain),
		remote.WithTransport(r.transport),
		remote.WithRetryBackoff(remote.Backoff{Duration: 50 * time.Millisecond, Factor: 1, Steps: 1}))
	return err == nil
}
