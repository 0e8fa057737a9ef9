package tiltfile

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/pkg/model"
)

// image is an image that the Tiltfile builds.
type image struct {
	model.ImageTarget
	ref     reference.Named
	builtin string
	site    fault.Site
	// bases are references in the Dockerfile that may mean other built images.
	bases []string
	steps []*step
	deps  []*image
	used  bool
}

// imageIndex finds built images by reference.
type imageIndex struct {
	list []*image
	// named holds the images by the name without the tag.
	named map[string][]*image
	// parsed are references in objects and Dockerfiles as they are written; nil where they are none.
	parsed map[string]reference.Named
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
	name := im.ref.Name()
	for _, other := range x.named[name] {
		if other.ref.String() == im.ref.String() {
			return fmt.Errorf("image %q is already built by %s at %s", im.Ref, other.builtin, other.site)
		}
	}
	if x.named == nil {
		x.named = map[string][]*image{}
	}
	x.named[name] = append(x.named[name], im)
	x.list = append(x.list, im)
	return nil
}

// parse reads a reference once for all objects that hold it.
func (x *imageIndex) parse(ref string) reference.Named {
	named, ok := x.parsed[ref]
	if ok {
		return named
	}
	if x.parsed == nil {
		x.parsed = map[string]reference.Named{}
	}
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		named = nil
	}
	x.parsed[ref] = named
	return named
}

// find returns the image that a reference in an object or a Dockerfile means, or nil. An image is found by its name;
// where several tags of one name are built, the tag counts too.
func (x *imageIndex) find(ref string) *image {
	named := x.parse(ref)
	if named == nil {
		return nil
	}
	return x.match(named, func(*image) bool { return true })
}

// refs returns the references of all built images.
func (x *imageIndex) refs() []string {
	out := make([]string, len(x.list))
	for i, im := range x.list {
		out[i] = im.Ref
	}
	return out
}

// meant suggests the reference in an object or a Dockerfile for which an image that nothing uses was probably built: one
// that is spelled much like its own, else one that differs only in the registry or the organization.
func (x *imageIndex) meant(im *image) string {
	var refs []string
	for _, ref := range slices.Sorted(maps.Keys(x.parsed)) {
		if named := x.parsed[ref]; named != nil && x.find(ref) == nil {
			refs = append(refs, reference.FamiliarString(named))
		}
	}
	if hint := hint.DidYouMean(im.Ref, refs); hint != "" {
		return hint
	}
	for _, ref := range refs {
		if last := x.parse(ref); last != nil && path.Base(last.Name()) == path.Base(im.ref.Name()) {
			return fmt.Sprintf(" (did you mean %s?)", ref)
		}
	}
	return ""
}

// findInEnv returns the image that the value of an environment variable means, if it asked to be looked for there.
func (x *imageIndex) findInEnv(value string) *image {
	if !slices.ContainsFunc(x.list, func(im *image) bool { return im.MatchInEnvVars }) {
		return nil
	}
	named, err := reference.ParseNormalizedNamed(value)
	if err != nil {
		return nil
	}
	return x.match(named, func(im *image) bool { return im.MatchInEnvVars })
}

// match returns the fitting image with the reference's tag, else the only one of its name.
func (x *imageIndex) match(named reference.Named, fits func(*image) bool) *image {
	same := x.named[named.Name()]
	for _, im := range same {
		if fits(im) && im.ref.String() == named.String() {
			return im
		}
	}
	if len(same) == 1 && fits(same[0]) {
		return same[0]
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

// targetsOf returns images with what they are built on, and notes that they are used.
func targetsOf(used []*image) []model.ImageTarget {
	var out []model.ImageTarget
	for _, im := range ordered(used) {
		im.used = true
		out = append(out, im.ImageTarget)
	}
	return out
}
