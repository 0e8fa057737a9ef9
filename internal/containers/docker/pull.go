package docker

import (
	"context"
	"fmt"

	"github.com/docker/docker/api/types/image"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// Pull implements Client.
func (e *Engine) Pull(ctx context.Context, ref, platform string, progress logstore.Logger) error {
	if err := e.agree(ctx); err != nil {
		return e.wrap("pull "+ref, err)
	}
	auth, err := e.config.registryAuth(ref)
	if err != nil {
		return fmt.Errorf("encode credentials for %s: %w", ref, err)
	}
	body, err := e.api.ImagePull(ctx, ref, image.PullOptions{RegistryAuth: auth, Platform: platform})
	if err == nil {
		err = readStream(body, func(m message) error {
			if m.ID != "" && m.Status != "" {
				progress.Progress("pull "+ref+" "+m.ID, "layer "+m.ID+": "+m.Status, m.Status == "Pull complete")
			}
			return nil
		})
		_ = body.Close()
	}
	return e.wrap("pull "+ref, ctxOr(ctx, err))
}
