package dockercompose

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"

	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/ignore"
	"github.com/hone-dev/hone/internal/tiltfile/image"
	"github.com/hone-dev/hone/pkg/model"
)

// settleImage decides where the image of a service comes from: an image that the Tiltfile builds under the service's
// image name replaces the one that Compose would build or pull.
func (d *Declarations) settleImage(r *composeResource, m *model.Manifest) error {
	t := m.Compose
	if im := d.imageOf(r); im != nil {
		m.Images = image.Targets([]*image.Image{im})
		t.ImageTarget, t.Build = im.Ref, nil
		return nil
	}
	if r.image != "" {
		d.Warn(r.site, "dc_resource: image: no image %q is built here%s", r.image, hint.DidYouMean(r.image, d.images.Refs()))
	}
	if t.Build == nil {
		return nil
	}
	t.Watch = d.watch(r)
	t.Hash = d.buildHash(r)
	return nil
}

// imageOf finds the image of the Tiltfile that a service runs.
func (d *Declarations) imageOf(r *composeResource) *image.Image {
	names := r.Names
	if r.image != "" {
		names = []string{r.image}
	}
	for _, name := range names {
		if im := d.images.Find(name); im != nil {
			return im
		}
	}
	return nil
}

// watch returns the files from which Compose builds an image. The Dockerfile, the Compose files and the Tiltfiles are
// not among them: their change evaluates the Tiltfile again. Files that the containers mount reach them without a
// build.
func (d *Declarations) watch(r *composeResource) model.WatchSpec {
	var w model.WatchSpec
	b := r.Build
	if b.Remote {
		return w
	}
	w.Paths = append([]string{b.Context}, b.Contexts...)
	if rules, ok := ignore.Dockerignore(d.Evaluation, b.Context, b.Dockerfile); ok {
		w.Ignores = append(w.Ignores, rules)
	}
	for _, dir := range b.Contexts {
		if rules, ok := ignore.Dockerignore(d.Evaluation, dir, ""); ok {
			w.Ignores = append(w.Ignores, rules)
		}
	}
	leave := func(path, source string) {
		if ignore.Under(w.Paths, path) {
			w.Ignores = append(w.Ignores, ignore.File(path, source))
		}
	}
	if b.Dockerfile != "" {
		leave(b.Dockerfile, "Dockerfile")
	}
	for _, path := range r.project.files {
		leave(path, "Compose file")
	}
	for _, path := range d.Paths() {
		leave(path, "Tiltfile")
	}
	for _, path := range r.Binds {
		if filepath.Dir(path) == path {
			continue // a mount of the whole file system is not for the sources
		}
		// A folder above the context is mounted with it.
		if ignore.Under(w.Paths, path) || slices.ContainsFunc(w.Paths, func(dir string) bool { return model.IsChild(path, dir) }) {
			w.Ignores = append(w.Ignores, ignore.File(path, "mounted by "+r.Name))
		}
	}
	return w
}

// buildHash adds the inputs of the build, including the Dockerfile, to the hash of a service. A missing Dockerfile is
// not an error here: Compose reports it when the service is built.
func (d *Declarations) buildHash(r *composeResource) string {
	h := sha256.New()
	h.Write([]byte(r.Hash + r.BuildHash))
	if r.Build.Dockerfile != "" {
		data, _ := d.ReadFile(r.Build.Dockerfile)
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
