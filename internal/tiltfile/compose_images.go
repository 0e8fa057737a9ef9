package tiltfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// composeImages settles who makes the image of a service: an image that the Tiltfile builds under the name by which the
// service calls it takes the place of what Compose would build or pull.
func (s *state) composeImages(r *composeResource, m *model.Manifest) error {
	t := m.Compose
	if im := s.composeImage(r); im != nil {
		for _, i := range ordered([]*image{im}) {
			i.used = true
			m.Images = append(m.Images, i.ImageTarget)
		}
		t.ImageTarget, t.Build = im.Ref, nil
		return nil
	}
	if r.image != "" {
		s.warn(r.site, "dc_resource: image: no image %q is built here%s", r.image, didYouMean(r.image, s.imageRefs()))
	}
	if t.Build == nil {
		return nil
	}
	t.Watch = s.composeWatch(r)
	t.Hash = s.composeBuildHash(r)
	return nil
}

// composeImage finds the image of the Tiltfile that a service runs.
func (s *state) composeImage(r *composeResource) *image {
	names := r.Names
	if r.image != "" {
		names = []string{r.image}
	}
	for _, name := range names {
		if im := s.images.find(name); im != nil {
			return im
		}
	}
	return nil
}

func (s *state) imageRefs() []string {
	out := make([]string, len(s.images.list))
	for i, im := range s.images.list {
		out[i] = im.Ref
	}
	return out
}

// composeWatch returns the files that Compose builds an image from. The Dockerfile, the Compose files and the Tiltfiles
// are not among them: a change of those evaluates the Tiltfile again. What the containers mount reaches them without a
// build.
func (s *state) composeWatch(r *composeResource) model.WatchSpec {
	var w model.WatchSpec
	b := r.Build
	if b.Remote {
		return w
	}
	w.Paths = append([]string{b.Context}, b.Contexts...)
	if rules, ok := s.dockerignore(b.Context, b.Dockerfile); ok {
		w.Ignores = append(w.Ignores, rules)
	}
	for _, dir := range b.Contexts {
		if rules, ok := s.dockerignore(dir, ""); ok {
			w.Ignores = append(w.Ignores, rules)
		}
	}
	leave := func(path, source string) {
		if anyParent(w.Paths, path) {
			w.Ignores = append(w.Ignores, ignoreFile(path, source))
		}
	}
	if b.Dockerfile != "" {
		leave(b.Dockerfile, "Dockerfile")
	}
	for _, path := range r.project.files {
		leave(path, "Compose file")
	}
	for _, path := range s.tiltfilePaths() {
		leave(path, "Tiltfile")
	}
	for _, path := range r.Binds {
		if filepath.Dir(path) == path {
			continue // who mounts the whole machine does not do it for the sources
		}
		// A folder above the context is mounted with it.
		if anyParent(w.Paths, path) || slices.ContainsFunc(w.Paths, func(dir string) bool { return model.IsChild(path, dir) }) {
			w.Ignores = append(w.Ignores, ignoreFile(path, "mounted by "+r.Name))
		}
	}
	return w
}

// composeBuildHash adds to the hash of a service what Compose builds it from, the Dockerfile with it. A Dockerfile that
// does not exist is for Compose to complain about, once the service is built.
func (s *state) composeBuildHash(r *composeResource) string {
	h := sha256.New()
	h.Write([]byte(r.Hash + r.BuildHash))
	if r.Build.Dockerfile != "" {
		data, _ := s.readFile(r.Build.Dockerfile)
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkRestarts refuses restart_container() for images that run in Kubernetes, which cannot restart a container in place,
// and restart_process() where hone does not make the containers, so that nothing runs their processes that could.
func (s *state) checkRestarts(manifests []model.Manifest) error {
	for _, m := range manifests {
		for _, im := range s.images.list {
			if _, used := m.Image(im.Ref); !used {
				continue
			}
			for _, p := range im.steps {
				if p.order != stepRestart {
					continue
				}
				if err := s.checkRestart(m, im.Ref, p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *state) checkRestart(m model.Manifest, ref string, p *step) error {
	process := p.again != nil
	switch {
	case m.IsK8s() && !process:
		return s.placed(p.site, fmt.Sprintf("live_update: restart_container() works with Docker Compose only, but image %s runs in Kubernetes resource %s", ref, m.Name),
			problem.New("", "restart_process() restarts the process, in the same container"))
	case m.IsCompose() && process:
		return s.placed(p.site, fmt.Sprintf("live_update: restart_process() works in Kubernetes only, but image %s runs in Compose service %s", ref, m.Name),
			problem.New("", "use restart_container() with docker_build or custom_build"))
	case m.IsK8s() && m.K8s.CustomDeploy != nil && process && s.deliversItself(ref):
		return s.placed(p.site, fmt.Sprintf("live_update: restart_process() needs hone to deliver the image or to deploy the pods, but a command delivers %s, and one deploys %s", ref, m.Name),
			problem.New("", "let custom_build leave the image in the engine (without skips_local_docker, disable_push and outputs_image_ref_to),\n"+
				"or "+inCustomDeploy))
	}
	return nil
}

// deliversItself reports whether the command that builds an image also brings it to where it runs, so that hone can add
// nothing to it.
func (s *state) deliversItself(ref string) bool {
	return slices.ContainsFunc(s.images.list, func(im *image) bool {
		c := im.Custom
		return im.Ref == ref && c != nil && (c.SkipsLocalDocker || c.DisablePush || c.OutputsImageRefTo != "")
	})
}

// inCustomDeploy says how to restart the process in pods that a command deploys.
const inCustomDeploy = "let run(…) have a process in the image restart itself, or deploy with k8s_yaml()"
