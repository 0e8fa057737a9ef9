package image

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/base/imageref"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/pkg/model"
)

// Image is an image that the Tiltfile builds.
type Image struct {
	model.ImageTarget
	ref     reference.Named
	means   imageref.Selector
	Builtin string
	Site    fault.Site
	// bases are references in the Dockerfile that may mean other built images.
	bases []string
	steps []*Step
	deps  []*Image
	used  bool
}

// index finds built images by reference.
type index struct {
	List []*Image
	// named holds the images by the name without the tag.
	named map[string][]*Image
	// parsed are the references in objects and Dockerfiles, by their text; nil for a text that is not a reference.
	parsed map[string]reference.Named
}

// ParseRef parses and normalises a reference: "api" is "docker.io/library/api".
func ParseRef(s string) (reference.Named, error) {
	ref, err := reference.ParseNormalizedNamed(s)
	if err != nil {
		return nil, fmt.Errorf("%q is not the reference of an image: %w", s, err)
	}
	return ref, nil
}

// add registers an image. The same reference must not be built twice.
func (x *index) add(im *Image) error {
	name := im.ref.Name()
	for _, other := range x.named[name] {
		if other.ref.String() == im.ref.String() {
			return fmt.Errorf("image %q is already built by %s at %s", im.Ref, other.Builtin, other.Site)
		}
	}
	if x.named == nil {
		x.named = map[string][]*Image{}
	}
	x.named[name] = append(x.named[name], im)
	x.List = append(x.List, im)
	return nil
}

// Parse parses a reference once for all objects that contain it; nil for a text that is not a reference.
func (x *index) Parse(ref string) reference.Named {
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

// Find returns the image that a reference in an object or a Dockerfile means, or nil.
func (x *index) Find(ref string) *Image {
	named := x.Parse(ref)
	if named == nil {
		return nil
	}
	return match(named, x.named[named.Name()])
}

// Refs returns the references of all built images.
func (x *index) Refs() []string {
	out := make([]string, len(x.List))
	for i, im := range x.List {
		out[i] = im.Ref
	}
	return out
}

// meant suggests the reference in an object or a Dockerfile for which an unused image was probably built: one with a
// similar spelling, else one that differs only in the registry or the organization.
func (x *index) meant(im *Image) string {
	var refs []string
	for _, ref := range slices.Sorted(maps.Keys(x.parsed)) {
		if named := x.parsed[ref]; named != nil && x.Find(ref) == nil {
			refs = append(refs, reference.FamiliarString(named))
		}
	}
	if hint := hint.DidYouMean(im.Ref, refs); hint != "" {
		return hint
	}
	for _, ref := range refs {
		if last := x.Parse(ref); last != nil && path.Base(last.Name()) == path.Base(im.ref.Name()) {
			return fmt.Sprintf(" (did you mean %s?)", ref)
		}
	}
	return ""
}

// FindInEnv returns the image that the value of an environment variable means, among those with match_in_env_vars, or
// nil.
func (x *index) FindInEnv(value string) *Image {
	inEnv := func(im *Image) bool { return im.MatchInEnvVars }
	if !slices.ContainsFunc(x.List, inEnv) {
		return nil
	}
	named, err := reference.ParseNormalizedNamed(value)
	if err != nil {
		return nil
	}
	if im := match(named, x.named[named.Name()]); im != nil && inEnv(im) {
		return im
	}
	return nil
}

// match returns the image that a reference means, or nil.
func match(named reference.Named, images []*Image) *Image {
	im, _ := imageref.Find(named, images, func(im *Image) imageref.Selector { return im.means })
	return im
}

// ordered returns the images with all images that they are built on, base images first.
func ordered(images []*Image) []*Image {
	var out []*Image
	var visit func(im *Image)
	visit = func(im *Image) {
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

// Targets returns images with all images that they are built on, and marks them as used.
func Targets(used []*Image) []model.ImageTarget {
	var out []model.ImageTarget
	for _, im := range ordered(used) {
		im.used = true
		out = append(out, im.ImageTarget)
	}
	return out
}
