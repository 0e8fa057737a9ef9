package image

import (
	"fmt"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/ignore"
	"github.com/hone-dev/hone/pkg/model"
)

// Connect finds the images that each image is built on, and refuses circles.
func (d *Declarations) Connect() error {
	var all fault.List
	for _, im := range d.List {
		for _, ref := range im.bases {
			base := d.Find(ref)
			switch {
			case base == im:
				all.Add(d.Placed(im.Site, fmt.Sprintf("%s: image %q is built on itself", im.Builtin, im.Ref), builtOnItself(im)))
			case base != nil && !slices.Contains(im.deps, base):
				im.deps = append(im.deps, base)
				im.DependsOn = append(im.DependsOn, base.Ref)
				base.used = true
			case base == nil && im.Custom != nil:
				d.Warn(im.Site, "image_deps: no image %q is built here, so the command does not receive it", ref)
			}
		}
	}
	for _, im := range d.List {
		if path := imageCycle(im, nil); path != nil {
			all.Add(d.ErrorAt(im.Site, "%s: images are built on each other in a circle: %s", im.Builtin, strings.Join(path, " → ")))
			im.deps = nil // the circle has been reported
		}
	}
	return all.Err()
}

// builtOnItself is the mend for an image whose base is the image itself: an image that is declared without a tag is every
// tag of its repository.
func builtOnItself(im *Image) error {
	if !reference.IsNameOnly(im.ref) {
		return problem.New("", "name another base image")
	}
	return problem.New("", fmt.Sprintf("%q takes every tag of its repository: declare it with a tag, such as %q, and name that in the objects",
		im.Ref, im.Ref+":dev"))
}

// imageCycle returns the references on a circle that starts and ends in an image, or nil.
func imageCycle(im *Image, path []*Image) []string {
	if i := slices.Index(path, im); i >= 0 {
		if i > 0 {
			return nil // the circle is reported for the images on it
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

// Finish completes the images once the program has ended: they ignore the Tiltfiles, whose change causes a new evaluation
// anyway, and their commands get the environment that the Tiltfile set. It returns the paths that nothing should watch.
func (d *Declarations) Finish() []model.Ignore {
	for _, im := range d.List {
		ignore.LeaveOutTiltfiles(d.Evaluation, &im.Watch)
		if im.Custom != nil {
			im.Custom.Command = d.WithEnv(im.Custom.Command)
		}
	}
	return d.leaveOutCaches()
}

// Calls returns the calls that declare the images of a manifest.
func (d *Declarations) Calls(m model.Manifest) []fault.Call {
	var out []fault.Call
	for _, im := range d.List {
		if _, used := m.Image(im.Ref); used {
			out = append(out, fault.Call{Name: im.Builtin, Site: im.Site})
		}
	}
	return out
}

// WarnUnused warns of images that no resource uses. suppress holds the references of images that are unused on purpose;
// "*" is all.
func (d *Declarations) WarnUnused(suppress []string) {
	for _, im := range d.List {
		if im.used || slices.ContainsFunc(suppress, func(ref string) bool {
			return ref == "*" || ref == im.Ref || d.Find(ref) == im
		}) {
			continue
		}
		at, from := d.UsersSite(im.Site)
		d.Warn(at, "image %q is built%s, but no resource uses it%s; if that is intended, suppress this warning: update_settings(suppress_unused_image_warnings=[%q])",
			im.Ref, from, d.meant(im), im.Ref)
	}
}

// CheckRestarts refuses restart_container() for images that run in Kubernetes, which cannot restart a container in
// place, and restart_process() where hone does not create the containers, so that nothing in them can restart their
// processes.
func (d *Declarations) CheckRestarts(manifests []model.Manifest) error {
	for _, m := range manifests {
		for _, im := range d.List {
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

func (d *Declarations) checkRestart(m model.Manifest, ref string, p *Step) error {
	process := p.again != nil
	switch {
	case m.IsK8s() && !process:
		return d.Placed(p.site, fmt.Sprintf("live_update: restart_container() works with Docker Compose only, but image %s runs in Kubernetes resource %s", ref, m.Name),
			problem.New("", "restart_process() restarts the process, in the same container"))
	case m.IsCompose() && process:
		return d.Placed(p.site, fmt.Sprintf("live_update: restart_process() works in Kubernetes only, but image %s runs in Compose service %s", ref, m.Name),
			problem.New("", "use restart_container() with docker_build or custom_build"))
	}
	return nil
}

// InCustomDeploy is the mend for restarting the process in pods that a command deploys.
const InCustomDeploy = "let run(…) have a process in the image restart itself, or deploy with k8s_yaml()"
