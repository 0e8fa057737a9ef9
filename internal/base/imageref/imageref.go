// Package imageref decides which references to images, in objects, Dockerfiles and containers, mean an image that the
// Tiltfile declares.
package imageref

import "github.com/distribution/reference"

// Selector is the reference under which an image is declared. Without a tag it takes every reference to its repository;
// with a tag or a digest it takes only the same one. So an image may be built on another tag of its own repository.
type Selector struct {
	// name is the normalised repository, exact the whole normalised reference, or empty for all tags.
	name, exact string
}

// Select returns the selector for a declared reference.
func Select(declared reference.Named) Selector {
	s := Selector{name: declared.Name()}
	if !reference.IsNameOnly(declared) {
		s.exact = declared.String()
	}
	return s
}

// Find returns the image that a reference means: the one declared with its tag or digest, else the one declared without
// a tag.
func Find[T any](use reference.Named, images []T, selector func(T) Selector) (found T, ok bool) {
	w := newWanted(use)
	for _, image := range images {
		s := selector(image)
		if !s.takes(w) {
			continue
		}
		found, ok = image, true
		if s.exact != "" {
			break
		}
	}
	return found, ok
}

// wanted is a reference that is looked for; one without a tag is the tag "latest".
type wanted struct{ name, exact string }

func newWanted(use reference.Named) wanted {
	return wanted{use.Name(), reference.TagNameOnly(use).String()}
}

func (s Selector) takes(w wanted) bool {
	return s.name == w.name && (s.exact == "" || s.exact == w.exact)
}
