package state

import (
	"reflect"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// Built describes the results of builds, and how current they are.
type Built struct {
	// Images are the newest results, by reference, whether or not they are deployed.
	Images map[string]model.ImageResult
	// imagesFrom are the declarations that they were built from, by reference.
	imagesFrom map[string]model.ImageTarget
	// declared is the resource's declaration, and deployedFrom the one of the last deploy; nil if that failed.
	declared, deployedFrom *model.Manifest
}

// built records images that were built from a declaration of their resource, nil if it is unknown.
func (b *Built) built(images map[string]model.ImageResult, from *model.Manifest) {
	for ref, result := range images {
		result.Lacks = nil // they are changes now
		b.Images = with(b.Images, ref, result)
		if from == nil {
			continue
		}
		if im, ok := from.Image(ref); ok {
			b.imagesFrom = with(b.imagesFrom, ref, buildPartOfImage(im))
		}
	}
}

// Dirty reports whether an image has to be built again: its result lacks changed files, or was built from another declaration.
func (u Update) Dirty(im model.ImageTarget) bool {
	result, have := u.Images[im.Ref]
	if !have || !reflect.DeepEqual(u.imagesFrom[im.Ref], buildPartOfImage(im)) {
		return true
	}
	return u.Changes[im.ID()].Newest().After(result.StartedAt) || u.Noticed[im.ID()].Newest().After(result.StartedAt)
}

// includedUntil returns the time up to which the changes of a target are part of a deploy.
func (b Built) includedUntil(id model.TargetID, deploy Build) time.Time {
	if id.Type != model.TargetImage {
		return deploy.StartedAt
	}
	return b.Images[id.Name].StartedAt
}
