package imagebuild

import (
	"context"
	"regexp"
	"slices"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/pkg/model"
)

// ownTag matches references that end in a content tag.
var ownTag = regexp.MustCompile(`[:-]` + tagPrefix + `[0-9a-f]{16}$`)

// PruneRequest selects the images to remove.
type PruneRequest struct {
	Settings model.DockerPruneSettings
	// Of are the references of the images in their Tiltfile: the settings belong to that Tiltfile and do not apply to
	// the images of other projects. All selects every image that hone has built on this engine instead.
	Of  []string
	All bool
	// Keep are references that are in use.
	Keep []string
}

// Pruned is the result of Prune.
type Pruned struct {
	// Refs are the references that were removed.
	Refs []string
	// Images is the number of images that were removed with them, and Bytes is their total size, with shared layers counted for each.
	Images int
	Bytes  int64
}

// Prune removes images that hone built earlier: those older than the settings' MaxAge. It keeps the newest KeepRecent of
// each image, those in use (by a container, or through Keep), the synclet image of this build of hone, and references
// that are not hone's own. It continues with the next image when one cannot be removed, and returns the first such
// error.
func (b *Builder) Prune(ctx context.Context, req PruneRequest) (Pruned, error) {
	var done Pruned
	images, err := b.docker.Images(ctx, Label)
	if err != nil {
		return done, err
	}
	var firstErr error
	seen := map[string]int{}
	deadline := b.now().Add(-req.Settings.MaxAge)
	for _, im := range images { // newest first
		name := im.Labels[Label]
		if !req.All && !slices.Contains(req.Of, name) || othersOwn(im) {
			continue
		}
		seen[name]++
		used := im.Labels[syncletLabel] == program.Build() ||
			slices.ContainsFunc(im.Tags, func(tag string) bool { return slices.Contains(req.Keep, tag) })
		if used || seen[name] <= req.Settings.KeepRecent || im.TaggedAt.After(deadline) {
			continue
		}
		if err := b.remove(ctx, im, &done); err != nil && !docker.IsInUse(err) && firstErr == nil {
			firstErr = err
		}
		if ctx.Err() != nil {
			return done, ctx.Err()
		}
	}
	return done, firstErr
}

// othersOwn reports whether an image has only references that hone did not make: it was built on one of hone's images and inherited
// its labels. It is not a version of the image that the label names.
func othersOwn(im docker.Image) bool {
	return len(im.Tags) > 0 && !slices.ContainsFunc(im.Tags, ownTag.MatchString)
}

// remove removes hone's own references from the image.
func (b *Builder) remove(ctx context.Context, im docker.Image, done *Pruned) error {
	own := slices.DeleteFunc(slices.Clone(im.Tags), func(tag string) bool { return !ownTag.MatchString(tag) })
	whole := len(own) == len(im.Tags)
	if len(im.Tags) == 0 {
		own = []string{im.ID}
	}
	for _, ref := range own {
		if err := b.docker.Remove(ctx, ref); err != nil && !docker.IsNotFound(err) {
			return err
		}
		done.Refs = append(done.Refs, ref)
	}
	if whole {
		done.Images++
		done.Bytes += im.Size
	}
	return nil
}
