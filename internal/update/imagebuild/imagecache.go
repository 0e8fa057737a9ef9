package imagebuild

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// Where images get to the cluster in another way than through a registry that others use, a registry may still hold them, by the tags of
// their inputs: the image cache. An image from there is pulled into the engine, and one that it lacks is pushed beside the deploy.

// cacheWait bounds the time for which Close waits for images that are being pushed: the user waits, too.
const cacheWait = 10 * headTime

// pushes are the images that are being pushed into the image cache.
type pushes struct {
	ctx  context.Context
	stop context.CancelFunc
	all  sync.WaitGroup
}

func newPushes() *pushes {
	ctx, stop := context.WithCancel(context.Background())
	return &pushes{ctx: ctx, stop: stop}
}

// Close waits for the images that are being pushed into the image cache, for a limited time, and ends the rest. It forgets the trials.
func (b *Builder) Close() {
	b.trials.forget()
	late := time.AfterFunc(cacheWait, b.pushes.stop)
	b.pushes.all.Wait()
	late.Stop()
	b.pushes.stop()
}

// holder returns the registry that holds the target's image by the tag of its inputs; none if the image is not shared.
func (r Request) holder() (model.Registry, bool) {
	switch {
	case r.Share:
		return r.Registry, true
	case r.Cache.Registry.Empty() || !sharable(r.Target):
		return model.Registry{}, false
	}
	return r.Cache.Registry, true
}

// find returns the image that pull would take into the engine, without its ID, and its digest in the registry. It takes nothing.
func (b *Builder) find(ctx context.Context, req Request, key string) (result model.ImageResult, digest string, err error) {
	engine, err := b.docker.Ping(ctx)
	if err != nil {
		return result, "", err
	}
	id, digest, err := b.registry.id(ctx, key, req.platform(), engine)
	if err != nil {
		return result, "", err
	}
	result, err = named(req, id)
	result.ImageID, result.StartedAt, result.Key = "", b.now(), key
	return result, digest, err
}

// pull takes an image of the image cache into the engine, with the tag of its content.
func (b *Builder) pull(ctx context.Context, req Request, key string) (result model.ImageResult, digest string, err error) {
	if digest, err = b.registry.digest(ctx, key); err != nil {
		return result, "", err
	}
	result, err = b.take(ctx, req, key)
	return result, digest, err
}

func (b *Builder) take(ctx context.Context, req Request, key string) (result model.ImageResult, err error) {
	if err = b.docker.Pull(ctx, key, req.platform(), req.Logger); err != nil {
		return result, err
	}
	im, found, err := b.docker.Inspect(ctx, key)
	if err == nil && !found {
		err = errNoImage
	}
	if err != nil {
		return result, err
	}
	if result, err = b.tagByContent(ctx, req, im.ID); err != nil {
		return result, err
	}
	result.StartedAt, result.Key = b.now(), key
	return result, b.docker.Remove(ctx, key) // that name only
}

// offer pushes an image into the image cache, beside the deploy.
func (b *Builder) offer(req Request, result model.ImageResult) {
	known := result.Key != "" && result.ImageID != ""
	if req.Share || !req.Cache.Push || !known {
		return
	}
	b.pushes.all.Go(func() {
		ctx := b.pushes.ctx
		err := b.push(ctx, result)
		if ctx.Err() != nil {
			err = errors.New("hone has ended before it was pushed")
		}
		b.unshared.warn(req.Logger, err)
	})
}

func (b *Builder) push(ctx context.Context, result model.ImageResult) error {
	switch _, err := b.registry.digest(ctx, result.Key); {
	case err == nil && !result.Renews:
		return nil
	case err != nil && !errors.Is(err, errNoImage):
		return err
	}
	if err := b.docker.Tag(ctx, result.ImageID, result.Key); err != nil {
		return err
	}
	err := b.docker.Push(ctx, result.Key, logstore.Discard, nil)
	return errors.Join(err, b.docker.Remove(context.WithoutCancel(ctx), result.Key)) // that name only
}
