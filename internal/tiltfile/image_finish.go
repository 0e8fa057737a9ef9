package tiltfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// connectImages finds which images are built on which, and refuses circles.
func (d *imageDeclarations) connectImages() error {
	var all fault.List
	for _, im := range d.list {
		for _, ref := range im.bases {
			base := d.find(ref)
			switch {
			case base == im:
				all.Add(d.ErrorAt(im.site, "%s: image %q is built on itself", im.builtin, im.Ref))
			case base != nil && !slices.Contains(im.deps, base):
				im.deps = append(im.deps, base)
				im.DependsOn = append(im.DependsOn, base.Ref)
				base.used = true
			case base == nil && im.Custom != nil:
				d.Warn(im.site, "image_deps: no image %q is built here, so the command is not told about it", ref)
			}
		}
	}
	for _, im := range d.list {
		if path := imageCycle(im, nil); path != nil {
			all.Add(d.ErrorAt(im.site, "%s: images are built on each other in a circle: %s", im.builtin, strings.Join(path, " → ")))
			im.deps = nil // the circle has been reported
		}
	}
	return all.Err()
}

// imageCycle returns the references on a circle that starts and ends in an image, or nil.
func imageCycle(im *image, path []*image) []string {
	if i := slices.Index(path, im); i >= 0 {
		if i > 0 {
			return nil // found again from the image that the circle goes through
		}
		var names []string
		for _, p := range path {
			names = append(names, p.Ref)
		}
		return append(names, im.Ref)
	}
	for _, base := range im.deps {
		if c := imageCycle(base, append(path, im)); c != nil {
			return c
		}
	}
	return nil
}

// finishImages adds to the images what is known only at the end: the Tiltfiles, whose change re-evaluates them
// anyway, and the environment that the Tiltfile set.
func (d *imageDeclarations) finishImages() {
	for _, im := range d.list {
		ignoreTiltfiles(d.Evaluation, &im.Watch)
		if im.Custom != nil {
			im.Custom.Command = d.WithEnv(im.Custom.Command)
		}
	}
}

// warnUnusedImages tells of images that are built for nothing. suppress holds the references of those for which that is meant;
// "*" is all.
func (d *imageDeclarations) warnUnusedImages(suppress []string) {
	for _, im := range d.list {
		if im.used || slices.ContainsFunc(suppress, func(ref string) bool {
			return ref == "*" || ref == im.Ref || d.find(ref) == im
		}) {
			continue
		}
		at, from := d.UsersSite(im.site)
		d.Warn(at, "image %q is built%s, but no resource uses it%s; if that is meant, say so: update_settings(suppress_unused_image_warnings=[%q])",
			im.Ref, from, d.meant(im), im.Ref)
	}
}

// checkRestarts refuses restart_container() for images that run in Kubernetes, which cannot restart a container in place,
// and restart_process() where hone does not make the containers, so that nothing runs their processes that could.
func (d *imageDeclarations) checkRestarts(manifests []model.Manifest) error {
	for _, m := range manifests {
		for _, im := range d.list {
			if _, used := m.Image(im.Ref); !used {
				continue
			}
			for _, p := range im.steps {
				if p.order != stepRestart {
					continue
				}
				if err := d.checkRestart(m, im.Ref, p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (d *imageDeclarations) checkRestart(m model.Manifest, ref string, p *step) error {
	process := p.again != nil
	switch {
	case m.IsK8s() && !process:
		return d.Placed(p.site, fmt.Sprintf("live_update: restart_container() works with Docker Compose only, but image %s runs in Kubernetes resource %s", ref, m.Name),
			problem.New("", "restart_process() restarts the process, in the same container"))
	case m.IsCompose() && process:
		return d.Placed(p.site, fmt.Sprintf("live_update: restart_process() works in Kubernetes only, but image %s runs in Compose service %s", ref, m.Name),
			problem.New("", "use restart_container() with docker_build or custom_build"))
	case m.IsK8s() && m.K8s.CustomDeploy != nil && process && d.deliversItself(ref):
		return d.Placed(p.site, fmt.Sprintf("live_update: restart_process() needs hone to deliver the image or to deploy the pods, but a command delivers %s, and one deploys %s", ref, m.Name),
			problem.New("", "let custom_build leave the image in the engine (without skips_local_docker, disable_push and outputs_image_ref_to),\n"+
				"or "+inCustomDeploy))
	}
	return nil
}

// deliversItself reports whether the command that builds an image also brings it to where it runs, so that hone can add
// nothing to it.
func (d *imageDeclarations) deliversItself(ref string) bool {
	return slices.ContainsFunc(d.list, func(im *image) bool {
		c := im.Custom
		return im.Ref == ref && c != nil && (c.SkipsLocalDocker || c.DisablePush || c.OutputsImageRefTo != "")
	})
}

// inCustomDeploy says how to restart the process in pods that a command deploys.
const inCustomDeploy = "let run(…) have a process in the image restart itself, or deploy with k8s_yaml()"
