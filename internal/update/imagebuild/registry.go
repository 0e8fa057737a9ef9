package imagebuild

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/hone-dev/hone/internal/containers/docker"
)

const (
	// headTime bounds the request whether a registry has an image; without an answer the image is pushed.
	headTime = 3 * time.Second
	// layersTime bounds the reading of an image's layers: a deploy waits for it.
	layersTime = 3 * headTime
	// digestTime is the time for which the digest of a base image is taken as known: each build waits for it. A registry that does not answer
	// is not asked again.
	digestTime = 200 * headTime
)

// errNoImage means that a registry has answered that it does not have an image.
var errNoImage = errors.New("the registry does not have the image")

// registryClient queries registries about images without an engine. Registries on this machine may use plain HTTP.
type registryClient struct {
	keychain  authn.Keychain
	transport *registryTransport

	mu     sync.Mutex
	failed map[string]error // by host; guarded by mu
}

// newRegistryClient returns a client that keeps no connections open: requests are rare, and most registries are local.
func newRegistryClient() *registryClient {
	return &registryClient{
		keychain:  authn.DefaultKeychain,
		transport: &registryTransport{network: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSHandshakeTimeout: headTime}},
		failed:    map[string]error{},
	}
}

func (r *registryClient) options(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(r.keychain), remote.WithTransport(r.transport),
		remote.WithRetryBackoff(remote.Backoff{Duration: 50 * time.Millisecond, Factor: 1, Steps: 1})}
}

// has reports whether the registry in ref certainly has the image. Any error counts as no.
func (r *registryClient) has(ctx context.Context, ref string) bool {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, headTime)
	defer cancel()
	_, err = remote.Head(parsed, r.options(ctx)...)
	return err == nil
}

// digest returns the digest of an image in the registry in its name.
func (r *registryClient) digest(ctx context.Context, ref string) (digest string, err error) {
	err = r.ask(ctx, ref, func(ctx context.Context, parsed name.Reference) error {
		head, err := remote.Head(parsed, r.options(ctx)...)
		if err == nil {
			digest = head.Digest.String()
		}
		return err
	})
	return digest, err
}

// id returns the ID that an engine gives to the image when it pulls it for a platform ("os/arch", or empty for its own), and its digest
// in the registry.
func (r *registryClient) id(ctx context.Context, ref, platform string, engine docker.Info) (id, digest string, err error) {
	err = r.ask(ctx, ref, func(ctx context.Context, parsed name.Reference) error {
		found, err := remote.Get(parsed, append(r.options(ctx), remote.WithPlatform(registryPlatform(platform, engine)))...)
		if err != nil {
			return err
		}
		digest = found.Digest.String()
		if engine.ManifestIDs {
			id = digest
			return nil
		}
		im, err := found.Image()
		if err != nil {
			return errNoImage // for this platform
		}
		config, err := im.ConfigName()
		id = config.String()
		return err
	})
	return id, digest, err
}

// registryPlatform returns the platform for which an engine pulls images.
func registryPlatform(platform string, engine docker.Info) v1.Platform {
	if asked, err := v1.ParsePlatform(platform); err == nil && platform != "" {
		return *asked
	}
	return v1.Platform{OS: engine.OS, Architecture: engine.Arch}
}

// contentTag returns the content tag of the image that has the reference, and its digest. at returns the reference of the same repository
// with another tag.
func (r *registryClient) contentTag(ctx context.Context, ref string, at func(tag string) (string, error)) (tag, digest string, err error) {
	err = r.ask(ctx, ref, func(ctx context.Context, parsed name.Reference) error {
		found, err := remote.Get(parsed, r.options(ctx)...)
		if err != nil {
			return err
		}
		ids := []string{found.Digest.String()} // the id in an engine that keeps images as containerd does
		if im, err := found.Image(); err == nil {
			if config, err := im.ConfigName(); err == nil {
				ids = append(ids, config.String())
			}
		}
		for _, id := range ids {
			candidate, err := ContentTag(id)
			if err != nil {
				return err
			}
			full, err := at(candidate)
			if err != nil {
				return err
			}
			other, err := name.ParseReference(full)
			if err != nil {
				return err
			}
			if head, err := remote.Head(other, r.options(ctx)...); err == nil && head.Digest == found.Digest {
				tag, digest = candidate, found.Digest.String()
				return nil
			}
		}
		return errNoImage
	})
	return tag, digest, err
}

// alias gives the image that a registry has as from the tag of to. An image that has this tag keeps it, unless it is replaced.
func (r *registryClient) alias(ctx context.Context, from, to string, replace bool) error {
	if !replace && r.has(ctx, to) {
		return nil
	}
	tag, err := name.NewTag(to)
	if err != nil {
		return err
	}
	return r.ask(ctx, from, func(ctx context.Context, parsed name.Reference) error {
		found, err := remote.Get(parsed, r.options(ctx)...)
		if err != nil {
			return err
		}
		return remote.Tag(tag, found, r.options(ctx)...)
	})
}

// ask sends requests about an image to its registry. A registry that has not answered is not asked again, so that it is waited for only
// once.
func (r *registryClient) ask(ctx context.Context, ref string, request func(context.Context, name.Reference) error) error {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return err
	}
	host := parsed.Context().RegistryStr()
	r.mu.Lock()
	err = r.failed[host]
	r.mu.Unlock()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, headTime)
	defer cancel()
	err = request(limited, parsed)
	var answer *transport.Error
	switch {
	case err == nil, errors.Is(err, errNoImage):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound:
		return errNoImage
	case errors.Is(err, fs.ErrNotExist): // hone keeps it, and has not started it yet
		return errNoImage
	}
	err = fmt.Errorf("ask registry %s: %w", host, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed[host] = err
	return err
}
