package state

import (
	"reflect"
	"slices"

	"github.com/hone-dev/hone/pkg/model"
)

// NeedsBuild reports whether going from one manifest to the other needs a build. Labels, links, trigger modes, auto_init, port
// forwards, dependencies, watched files, readiness, pod selectors and live update steps do not, except for the step that restarts
// the process, or the container of a service of Compose: it needs different containers. Another registry does: the images have to be there.
func NeedsBuild(was, is model.Manifest) bool {
	return moves(was, is) || !reflect.DeepEqual(BuildPart(was), BuildPart(is))
}

// moves reports whether the Tiltfile names another registry for the images.
func moves(was, is model.Manifest) bool {
	both := was.IsK8s() && is.IsK8s()
	return both && was.K8s.Registry != is.K8s.Registry
}

// BuildPart returns the part of a declaration that only a build brings into effect, without the place of its images.
func BuildPart(m model.Manifest) model.Manifest {
	m.Labels, m.Links, m.ResourceDeps, m.TriggerMode, m.AutoInit = nil, nil, nil, 0, false
	images := slices.Clone(m.Images)
	for i := range images {
		restart := images[i].LiveUpdate.RestartProcess
		supervised := m.IsCompose() && images[i].LiveUpdate.RestartContainer
		images[i] = buildPartOfImage(images[i])
		images[i].LiveUpdate.RestartContainer = supervised
		if restart != nil {
			images[i].LiveUpdate.RestartProcess = &model.RestartProcess{File: restart.File}
		}
	}
	m.Images = images
	if m.K8s != nil {
		k := *m.K8s
		k.PortForwards, k.Links, k.PodReadiness = nil, nil, ""
		k.ExtraPodSelectors, k.SelectorsOnly, k.Registry = nil, false, model.Registry{}
		if k.CustomDeploy != nil {
			d := *k.CustomDeploy
			d.Watch, d.LiveUpdate, d.ImageSelector, d.ContainerSelector = model.WatchSpec{}, model.LiveUpdate{}, "", ""
			k.CustomDeploy = &d
		}
		m.K8s = &k
	}
	if m.Local != nil {
		l := *m.Local
		l.Watch, l.Links, l.AllowParallel, l.Readiness = model.WatchSpec{}, nil, false, nil
		m.Local = &l
	}
	if c := m.Compose; c != nil {
		// The hash stands for the service; the project's files, which other services share, are ignored.
		m.Compose = &model.ComposeTarget{Project: model.ComposeProject{Name: c.Project.Name, Dir: c.Project.Dir},
			Service: c.Service, Image: c.Image, ImageTarget: c.ImageTarget, Hash: c.Hash}
	}
	return m
}

func buildPartOfImage(im model.ImageTarget) model.ImageTarget {
	im.LiveUpdate, im.Watch = model.LiveUpdate{}, model.WatchSpec{}
	return im
}
