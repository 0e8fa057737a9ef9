package buildcontrol

import (
	"maps"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/pkg/model"
)

// LackingContainer is a running container that does not have all changes since its image was built.
type LackingContainer struct {
	Pod       state.Pod
	Container model.Container
	// Image is the reference of the image target that it runs.
	Image string
	// Files are the changes that it lacks, absolute, sorted.
	Files []string
	// New says that nothing has been copied into the container yet.
	New bool
}

// Lacking returns the containers of current pods that run an image with live update steps and lack changes. It is level
// based: a container that was restarted has lost what had been copied, so it lacks every change since the image.
func Lacking(m model.Manifest, u state.Update, pods []state.Pod) []LackingContainer {
	if u.InPlaceBroken != "" || u.AppliedAt.IsZero() {
		return nil
	}
	var out []LackingContainer
	for _, p := range pods {
		if !p.Current || p.Deleting {
			continue
		}
		for _, c := range p.Containers {
			if c.State != model.ContainerRunning {
				continue
			}
			if im, ok := imageOf(m, u, c); ok {
				if files := lacks(m, im, u, c.ID); len(files) > 0 {
					out = append(out, LackingContainer{p, c, im.Ref, files, u.Synced[c.ID].IsZero()})
				}
			}
		}
	}
	return out
}

// imageOf returns the image target with live update steps that a container runs.
func imageOf(m model.Manifest, u state.Update, c model.Container) (model.ImageTarget, bool) {
	for _, im := range m.Images {
		if !im.LiveUpdate.Empty() && u.Images[im.Ref].Cluster == c.Image && c.Image != "" {
			return im, true
		}
	}
	return model.ImageTarget{}, false
}

// lacks returns what changed in the image or in the images below it since the container was updated last.
func lacks(m model.Manifest, im model.ImageTarget, u state.Update, container string) []string {
	since := u.Synced[container]
	files := map[string]bool{}
	var visit func(ref string)
	visit = func(ref string) {
		for p, at := range u.Changes[model.ImageID(ref)] {
			if at.After(since) {
				files[p] = true
			}
		}
		if t, ok := m.Image(ref); ok {
			for _, dep := range t.DependsOn {
				visit(dep)
			}
		}
	}
	visit(im.Ref)
	return slices.Sorted(maps.Keys(files))
}

func lackingFiles(lacking []LackingContainer) []string {
	files := map[string]bool{}
	for _, l := range lacking {
		for _, f := range l.Files {
			files[f] = true
		}
	}
	return slices.Sorted(maps.Keys(files))
}

// Stale reports whether a build that began at the given time has been overtaken: a file that it takes in changed since.
func Stale(u state.Update, began time.Time) bool {
	for id, files := range u.Changes {
		if id.Type != model.TargetImage {
			continue
		}
		for _, at := range files {
			if at.After(began) {
				return true
			}
		}
	}
	return false
}
