package tiltfile

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// customDeploy is one call of k8s_custom_deploy.
type customDeploy struct {
	model.CustomDeploy
	name  string
	site  site
	steps []*step
}

func k8sCustomDeployBuiltin(c *call) (starlark.Value, error) {
	d := &customDeploy{site: c.site()}
	var apply, del, applyBat, delBat argv
	var deps, imageDeps textList
	var applyDir, delDir string
	var applyEnv, delEnv textMap
	var liveUpdate starlark.Value
	if err := c.unpack("name", &d.name, "apply_cmd", &apply, "delete_cmd", &del, "deps", &deps,
		"image_selector??", &d.ImageSelector, "live_update??", &liveUpdate, "apply_dir??", &applyDir, "apply_env??", &applyEnv,
		"apply_cmd_bat??", &applyBat, "delete_dir??", &delDir, "delete_env??", &delEnv, "delete_cmd_bat??", &delBat,
		"container_selector??", &d.ContainerSelector, "image_deps??", &imageDeps); err != nil {
		return nil, err
	}
	if err := checkName(d.name); err != nil {
		return nil, err
	}
	switch {
	case len(apply.words) == 0:
		return nil, errors.New("apply_cmd: the command is empty")
	case len(del.words) == 0:
		return nil, errors.New("delete_cmd: the command is empty")
	}
	if i := slices.IndexFunc(c.customs, func(o *customDeploy) bool { return o.name == d.name }); i >= 0 {
		return nil, fmt.Errorf("there is already a resource called %q, declared at %s", d.name, c.customs[i].site)
	}
	d.Apply, d.Delete = c.cmd(apply, applyDir, applyEnv, false), c.cmd(del, delDir, delEnv, false)
	d.Watch.Paths = c.absAll(deps.values)
	for _, ref := range imageDeps.values {
		if _, err := parseRef(ref); err != nil {
			return nil, fmt.Errorf("image_deps: %w", err)
		}
	}
	d.ImageDeps = imageDeps.values
	var err error
	if d.LiveUpdate, d.steps, err = c.liveUpdate(liveUpdate); err != nil {
		return nil, err
	}
	if err := d.checkSelectors(); err != nil {
		return nil, err
	}
	c.customs = append(c.customs, d)
	return nil, nil
}

// checkSelectors wants exactly one way to find the containers that are updated in place.
func (d *customDeploy) checkSelectors() error {
	if d.ImageSelector != "" {
		if _, err := parseRef(d.ImageSelector); err != nil {
			return fmt.Errorf("image_selector: %w", err)
		}
	}
	switch {
	case d.LiveUpdate.Empty():
		return nil
	case d.LiveUpdate.RestartContainer:
		return errors.New("live_update: restart_container() works with Docker Compose only")
	case d.LiveUpdate.RestartProcess != nil:
		return problem.New("live_update: restart_process() needs hone to deploy the pods, but a command deploys these", inCustomDeploy)
	case d.ImageSelector != "" && d.ContainerSelector != "":
		return errors.New("live_update: give either image_selector= or container_selector=, not both")
	case d.ImageSelector == "" && d.ContainerSelector == "":
		return errors.New("live_update: say which containers are updated, with image_selector= or container_selector=")
	}
	return nil
}

// finishCustoms connects the custom deploys with the images that they depend on, and returns them as resources.
func (s *state) finishCustoms() ([]*resource, error) {
	var out []*resource
	for _, d := range s.customs {
		r := &resource{name: d.name, site: d.site, custom: d}
		for _, ref := range d.ImageDeps {
			if im := s.images.find(ref); im != nil {
				r.images = append(r.images, im)
			} else {
				s.warn(d.site, "image_deps: no image %q is built here%s, so the command is not told about it", ref, didYouMean(ref, s.images.refs()))
			}
		}
		// The results of images are known by the names that the images have, not by those that the deploy calls them.
		d.ImageDeps = slices.Clone(d.ImageDeps)
		for i, ref := range d.ImageDeps {
			if im := s.images.find(ref); im != nil {
				d.ImageDeps[i] = im.Ref
			}
		}
		if im := s.images.find(d.ImageSelector); d.ImageSelector != "" && !d.LiveUpdate.Empty() && im != nil {
			return nil, s.errorAt(d.site, "k8s_custom_deploy: image_selector: image %q is built by %s at %s: put the live_update there, and the image into image_deps=",
				im.Ref, im.builtin, im.site)
		}
		s.ignoreTiltfiles(&d.Watch)
		d.Apply, d.Delete = s.withEnv(d.Apply), s.withEnv(d.Delete)
		out = append(out, r)
	}
	return out, nil
}
