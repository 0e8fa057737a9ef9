package imagebuild

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// Machines find each other's images in a registry that the Tiltfile names. There, an image has two tags: one for its content, and one
// for the inputs of its build.

// keyPrefix begins every tag that is derived from the inputs of a build.
const keyPrefix = "in-"

// sharable reports whether an image can be used by machines that have not built it. A command may depend on more than it declares,
// unless it says otherwise, and extra tags belong into this machine's engine.
func sharable(t model.ImageTarget) bool {
	switch {
	case t.Supervised:
		return false
	case t.Docker != nil:
		return len(t.Docker.ExtraTags) == 0
	}
	return complete(t)
}

// declaresAll reports whether the inputs of a target are all that its image depends on.
func declaresAll(t model.ImageTarget) bool { return t.Docker != nil || complete(t) }

// complete reports whether a command builds an image and declares all of its inputs.
func complete(t model.ImageTarget) bool {
	return t.Custom != nil && t.Custom.DepsComplete && !t.Custom.BuildsNothing()
}

// shared is an image that another machine has built.
type shared struct {
	result model.ImageResult
	// registry has the image, and digest is its digest there.
	registry, digest string
}

// cached gets the image with a key from the image cache. The error is errNoImage if there is none.
type cached func(ctx context.Context, req Request, key string) (result model.ImageResult, digest string, err error)

// others returns the image that another machine has built from the inputs of a request, if the registry has one. is are the sums of these
// inputs if they are known. It returns them without an image, too, and with the key if the image of the build can be shared. get gets images
// from the image cache.
func (b *Builder) others(ctx context.Context, req Request, is sums, get cached) (_ sums, found shared, ok bool) {
	registry, ok := req.holder()
	if b.memory == nil || !ok {
		return is, found, false
	}
	found.registry = registry.Host
	if is.all == "" {
		var err error
		if is, err = b.sumUp(ctx, req); err != nil {
			return sums{}, found, false
		}
	}
	ref, err := keyRef(req, is)
	if err != nil || is.unresolved != nil {
		b.unshared.say(req.Logger, is.unresolved)
		return is, found, false
	}
	is.key = ref
	if req.renews() {
		return is, found, false
	}
	if !req.Share {
		if found.result, found.digest, err = get(ctx, req, ref); err != nil && !errors.Is(err, errNoImage) {
			b.unshared.warn(req.Logger, err)
		}
		return is, found, err == nil
	}
	tag, digest, err := b.registry.contentTag(ctx, ref, func(tag string) (string, error) { return LocalRef(req.Target.Ref, req.Registry, tag) })
	if err != nil {
		if !errors.Is(err, errNoImage) {
			b.unshared.say(req.Logger, err)
			is.key = ""
		}
		return is, found, false
	}
	found.digest, found.result = digest, model.ImageResult{Key: ref, StartedAt: b.now()}
	found.result.Local, err = LocalRef(req.Target.Ref, req.Registry, tag)
	if err == nil {
		found.result.Cluster, err = ClusterRef(req.Target.Ref, req.Registry, tag)
	}
	return is, found, err == nil
}

// keyRef returns the reference by which others find the image of the inputs.
func keyRef(req Request, is sums) (string, error) {
	registry, _ := req.holder()
	return LocalRef(req.Target.Ref, registry, keyPrefix+is.all)
}

// holds reports whether a key names an image in the repository where the image of the request would be shared.
func (b *Builder) holds(req Request, key string) bool {
	if _, shared := req.holder(); !shared {
		return false
	}
	place, err := keyRef(req, sums{})
	return err == nil && strings.HasPrefix(key, place)
}

// madeOf identifies an image as an input of another one.
func madeOf(r model.ImageResult) string {
	if r.Key != "" {
		return r.Key
	}
	return r.Local + " " + r.ImageID
}

// once says each reason only once.
type once struct {
	mu   sync.Mutex
	said map[string]bool // guarded by mu
}

func (o *once) say(log logstore.Logger, why error) {
	if o.first(log, why) {
		logstore.Infof(log, "Images are not shared: %v", why)
	}
}

func (o *once) warn(log logstore.Logger, why error) {
	if o.first(log, why) {
		logstore.Warnf(log, "WARNING: the image cache is not used: %s", problem.Text(why))
	}
}

// first reports whether a reason is a new one, and someone reads it.
func (o *once) first(log logstore.Logger, why error) bool {
	if why == nil || log == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.said == nil {
		o.said = map[string]bool{}
	}
	said := o.said[why.Error()]
	o.said[why.Error()] = true
	return !said
}

// share gives an image in a registry the tag of its inputs. Without it, other machines build the image themselves.
func (d *Deliverer) share(ctx context.Context, result model.ImageResult, log logstore.Logger) {
	if result.Key == "" {
		return
	}
	if err := d.registry.alias(ctx, result.Local, result.Key, result.Renews); err != nil && ctx.Err() == nil {
		d.unshared.say(log, err)
	}
}
