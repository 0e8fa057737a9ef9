package docker

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
)

// Tag implements Client.
func (e *Engine) Tag(ctx context.Context, src, dst string) error {
	return e.wrap("tag "+dst, e.api.ImageTag(ctx, src, dst))
}

// Inspect implements Client.
func (e *Engine) Inspect(ctx context.Context, ref string) (Image, bool, error) {
	got, err := e.api.ImageInspect(ctx, ref)
	if IsNotFound(err) {
		return Image{}, false, nil
	}
	if err != nil {
		return Image{}, false, e.wrap("inspect image "+ref, err)
	}
	im := Image{ID: got.ID, Tags: got.RepoTags, Digests: got.RepoDigests, OS: got.Os, Arch: got.Architecture, Size: got.Size, Layers: got.RootFS.Layers,
		TaggedAt: got.Metadata.LastTagTime}
	if im.TaggedAt.IsZero() {
		im.TaggedAt, _ = time.Parse(time.RFC3339Nano, got.Created) // the zero time if the engine does not know it
	}
	if got.Config != nil {
		im.Entrypoint, im.Cmd, im.Labels = got.Config.Entrypoint, got.Config.Cmd, got.Config.Labels
		im.Env, im.User, im.WorkingDir = got.Config.Env, got.Config.User, got.Config.WorkingDir
	}
	return im, true, nil
}

// Images implements Client.
func (e *Engine) Images(ctx context.Context, label string) ([]Image, error) {
	if err := e.agree(ctx); err != nil {
		return nil, e.wrap("list images", err)
	}
	list, err := e.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", label))})
	if err != nil {
		return nil, e.wrap("list images", err)
	}
	out := make([]Image, 0, len(list))
	for _, entry := range list {
		im, found, err := e.Inspect(ctx, entry.ID)
		if err != nil {
			return nil, err
		}
		if found { // it may have been removed meanwhile
			out = append(out, im)
		}
	}
	newestFirst(out)
	return out, nil
}

func newestFirst(images []Image) {
	slices.SortStableFunc(images, func(a, b Image) int { return b.TaggedAt.Compare(a.TaggedAt) })
}

// Remove implements Client.
func (e *Engine) Remove(ctx context.Context, ref string) error {
	_, err := e.api.ImageRemove(ctx, ref, image.RemoveOptions{PruneChildren: true})
	return e.wrap("remove image "+ref, err)
}

// Save implements Client.
func (e *Engine) Save(ctx context.Context, refs []string) (io.ReadCloser, error) {
	rc, err := e.api.ImageSave(ctx, refs)
	if err != nil {
		return nil, e.wrap("save "+strings.Join(refs, " "), err)
	}
	return rc, nil
}

// Load implements Client.
func (e *Engine) Load(ctx context.Context, archive io.Reader) error {
	body := &lentReader{r: archive}
	defer body.giveBack()
	answer, err := e.api.ImageLoad(ctx, body, client.ImageLoadWithQuiet(true))
	if err == nil {
		err = readStream(answer.Body, func(message) error { return nil })
		_ = answer.Body.Close()
	}
	return e.wrap("load an image", ctxOr(ctx, err))
}
