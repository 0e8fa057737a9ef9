package kubernetes

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/ignore"
	"github.com/hone-dev/hone/internal/tiltfile/image"
	"github.com/hone-dev/hone/internal/tiltfile/resource"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// customDeploy is one call of k8s_custom_deploy.
type customDeploy struct {
	model.CustomDeploy
	name  string
	site  fault.Site
	steps []*image.Step
	// cluster is the name of the cluster; empty for the session's own. placed is set if the call names one.
	cluster string
	placed  bool
}

func (d *Declarations) k8sCustomDeploy(c *eval.Call) (starlark.Value, error) {
	x := &customDeploy{site: c.Site()}
	var apply, del, applyBat, delBat value.Argv
	var deps, imageDeps value.Texts
	var applyDir, delDir string
	var applyEnv, delEnv value.TextMap
	var liveUpdate starlark.Value
	if err := c.Unpack("name", &x.name, "apply_cmd", &apply, "delete_cmd", &del, "deps", &deps,
		"image_selector??", &x.ImageSelector, "live_update??", &liveUpdate, "apply_dir??", &applyDir, "apply_env??", &applyEnv,
		"apply_cmd_bat??", &applyBat, "delete_dir??", &delDir, "delete_env??", &delEnv, "delete_cmd_bat??", &delBat,
		"container_selector??", &x.ContainerSelector, "image_deps??", &imageDeps, "cluster??", &x.cluster); err != nil {
		return nil, err
	}
	if err := resource.CheckName(x.name); err != nil {
		return nil, err
	}
	switch {
	case len(apply.Words) == 0:
		return nil, errors.New("apply_cmd: the command is empty")
	case len(del.Words) == 0:
		return nil, errors.New("delete_cmd: the command is empty")
	}
	if i := slices.IndexFunc(d.customs, func(o *customDeploy) bool { return o.name == x.name }); i >= 0 {
		return nil, fmt.Errorf("there is already a resource called %q, declared at %s", x.name, d.customs[i].site)
	}
	x.Apply, x.Delete = c.Cmd(apply, applyDir, applyEnv, false), c.Cmd(del, delDir, delEnv, false)
	x.Watch.Paths = c.AbsAll(deps.Values)
	for _, ref := range imageDeps.Values {
		if _, err := image.ParseRef(ref); err != nil {
			return nil, fmt.Errorf("image_deps: %w", err)
		}
	}
	x.ImageDeps = imageDeps.Values
	var err error
	if x.LiveUpdate, x.steps, err = image.ParseLiveUpdate(c, liveUpdate); err != nil {
		return nil, err
	}
	if err := x.checkSelectors(); err != nil {
		return nil, err
	}
	d.customs = append(d.customs, x)
	return nil, nil
}

// checkSelectors requires exactly one way to find the containers that are updated in place.
func (x *customDeploy) checkSelectors() error {
	if x.ImageSelector != "" {
		if _, err := image.ParseRef(x.ImageSelector); err != nil {
			return fmt.Errorf("image_selector: %w", err)
		}
	}
	switch {
	case x.LiveUpdate.Empty():
		return nil
	case x.LiveUpdate.RestartContainer:
		return errors.New("live_update: restart_container() works with Docker Compose only")
	case x.LiveUpdate.RestartProcess != nil:
		return problem.New("live_update: restart_process() needs hone to deploy the pods, but a command deploys these", image.InCustomDeploy)
	case x.ImageSelector != "" && x.ContainerSelector != "":
		return errors.New("live_update: give either image_selector= or container_selector=, not both")
	case x.ImageSelector == "" && x.ContainerSelector == "":
		return errors.New("live_update: select the containers to update with image_selector= or container_selector=")
	}
	return nil
}

// finishCustoms connects the custom deploys with the images that they depend on, and returns them as resources.
func (d *Declarations) finishCustoms() ([]*draft, error) {
	var out []*draft
	for _, x := range d.customs {
		r := &draft{name: x.name, base: x.name, site: x.site, custom: x, cluster: x.cluster, placed: x.placed, placedAt: x.site}
		for _, ref := range x.ImageDeps {
			if im := d.images.Find(ref); im != nil {
				r.images = append(r.images, im)
			} else {
				d.Warn(x.site, "image_deps: no image %q is built here%s, so the command does not receive it", ref, hint.DidYouMean(ref, d.images.Refs()))
			}
		}
		// The results of images are stored under the names of the images, which may differ from the names in image_deps.
		x.ImageDeps = slices.Clone(x.ImageDeps)
		for i, ref := range x.ImageDeps {
			if im := d.images.Find(ref); im != nil {
				x.ImageDeps[i] = im.Ref
			}
		}
		if im := d.images.Find(x.ImageSelector); x.ImageSelector != "" && !x.LiveUpdate.Empty() && im != nil {
			return nil, d.ErrorAt(x.site, "k8s_custom_deploy: image_selector: image %q is built by %s at %s: put the live_update there, and the image into image_deps=",
				im.Ref, im.Builtin, im.Site)
		}
		ignore.LeaveOutTiltfiles(d.Evaluation, &x.Watch)
		out = append(out, r)
	}
	return out, nil
}

// CheckSteps reports steps of custom deploys whose sources are outside of the paths that the deploys watch.
func (d *Declarations) CheckSteps() error {
	var all fault.List
	for _, x := range d.customs {
		all.Add(image.CheckSources(d.Evaluation, x.steps, x.Watch.Paths, fmt.Sprintf("resource %q", x.name)))
	}
	return all.Err()
}
