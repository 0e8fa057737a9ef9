package tiltfile

import (
	"fmt"
	"slices"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/pkg/model"
)

// image is an image that the Tiltfile builds.
type image struct {
	model.ImageTarget
	ref     reference.Named
	builtin string
	site    site
	// bases are references in the Dockerfile that may mean other built images.
	bases []string
	steps []*step
	deps  []*image
	used  bool
}

// imageIndex finds built images by reference.
type imageIndex struct {
	list []*image
	// seen are references in objects and Dockerfiles, for suggestions.
	seen []string
}

// parseRef normalises a reference: "api" is "docker.io/library/api".
func parseRef(s string) (reference.Named, error) {
	ref, err := reference.ParseNormalizedNamed(s)
	if err != nil {
		return nil, fmt.Errorf("%q is not the reference of an image: %w", s, err)
	}
	return ref, nil
}

// add registers an image. The same reference must not be built twice.
func (x *imageIndex) add(im *image) error {
	for _, other := range x.list {
		if other.ref.String() == im.ref.String() {
			return fmt.Errorf("image %q is already built by %s at %s", im.Ref, other.builtin, other.site)
		}
	}
	x.list = append(x.list, im)
	return nil
}

// find returns the image that a reference in an object or a Dockerfile means, or nil. An image is found by its name;
// where several tags of one name are built, the tag counts too.
func (x *imageIndex) find(ref string) *image {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return nil
	}
	if f := reference.FamiliarString(named); !slices.Contains(x.seen, f) {
		x.seen = append(x.seen, f)
	}
	var match *image
	for _, im := range x.list {
		if im.ref.Name() != named.Name() {
			continue
		}
		if im.ref.String() == named.String() {
			return im
		}
		if match == nil && !x.several(im) {
			match = im
		}
	}
	return match
}

// refs returns the references of all built images.
func (x *imageIndex) refs() []string {
	out := make([]string, len(x.list))
	for i, im := range x.list {
		out[i] = im.Ref
	}
	return out
}

func (x *imageIndex) several(im *image) bool {
	return slices.ContainsFunc(x.list, func(o *image) bool { return o != im && o.ref.Name() == im.ref.Name() })
}

// findInEnv returns the image that the value of an environment variable means, if it asked to be looked for there.
func (x *imageIndex) findInEnv(value string) *image {
	named, err := reference.ParseNormalizedNamed(value)
	if err != nil {
		return nil
	}
	for _, im := range x.list {
		if !im.MatchInEnvVars || im.ref.Name() != named.Name() {
			continue
		}
		if im.ref.String() == named.String() || !x.several(im) {
			return im
		}
	}
	return nil
}

// ordered returns the images with everything that they are built on, base images first.
func ordered(images []*image) []*image {
	var out []*image
	var visit func(im *image)
	visit = func(im *image) {
		if slices.Contains(out, im) {
			return
		}
		for _, d := range im.deps {
			visit(d)
		}
		out = append(out, im)
	}
	for _, im := range images {
		visit(im)
	}
	return out
}
