package buildcontrol

import (
	"maps"
	"slices"
	"time"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// scope limits the changes that count as lacking in a container.
type scope struct {
	// noticed includes changes that have not settled, if they only need to be copied.
	noticed bool
	// again includes containers that are not to be tried again before something else has changed.
	again bool
	// until, unless zero, excludes later changes, and changes that no live update takes.
	until time.Time
}

// includes reports whether the scope covers a change. For a change that has not settled, noticed must be set as well.
func (s scope) includes(steps model.LiveUpdate, path string, at time.Time) bool {
	return s.until.IsZero() || !at.After(s.until) && steps.Takes(path)
}

// Live returns the running containers of current pods that can be updated in place, whether or not they lack changes. Pods
// do not state the architecture that they run on: see state.ArchOf.
func Live(m model.Manifest, u state.Update, pods []state.Pod) []model.ContainerRef {
	if u.AppliedAt.IsZero() || !m.HasLiveUpdate() {
		return nil
	}
	var out []model.ContainerRef
	for _, p := range pods {
		if !p.Stands() {
			continue
		}
		for _, c := range p.LastingContainers() {
			if c.State != model.ContainerRunning {
				continue
			}
			if ref, ok := liveRef(m, u, c); ok {
				out = append(out, m.ContainerRef(p.Pod, c, ref))
			}
		}
	}
	return out
}

// stopped returns the containers of Compose that have crashed and can be updated while they stand: they keep their files.
func stopped(m model.Manifest, u state.Update, pods []state.Pod) (out []model.ContainerRef) {
	if u.AppliedAt.IsZero() || !m.IsCompose() {
		return nil
	}
	for _, p := range pods {
		if _, failing := state.PodFailure(p.Pod); !failing || !p.Stands() {
			continue
		}
		for _, c := range p.Containers {
			if ref, ok := liveRef(m, u, c); ok && c.State != model.ContainerRunning {
				r := m.ContainerRef(p.Pod, c, ref)
				r.Stopped = true
				out = append(out, r)
			}
		}
	}
	return out
}

// liveRef finds the live update for a container, by the reference that model.Manifest.LiveUpdateOf takes.
func liveRef(m model.Manifest, u state.Update, c model.Container) (ref string, ok bool) {
	for _, im := range m.Images {
		if !im.LiveUpdate.Empty() && runsImage(c, u.Running[im.Ref]) {
			return im.Ref, true
		}
	}
	steps, _, ok := m.LiveUpdateOf("")
	if !ok || steps.MostEffort(paths(u.Changes[m.DeployID()].All())) == model.EffortImage {
		return "", false // the deploy command comes first
	}
	return "", selects(*m.K8s.CustomDeploy, c)
}

// runsImage reports whether a container runs an image. A container of Compose that the user has created again runs it under
// another name.
func runsImage(c model.Container, im model.ImageResult) bool {
	same := func(is, built string) bool { return is != "" && is == built }
	return same(c.Image, im.Cluster) || same(c.ImageID, im.ImageID)
}

// selects reports whether a custom deploy updates the container in place.
func selects(d model.CustomDeploy, c model.Container) bool {
	if d.ContainerSelector != "" {
		return d.ContainerSelector == c.Name
	}
	want, err := reference.ParseNormalizedNamed(d.ImageSelector)
	if err != nil {
		return false
	}
	got, err := reference.ParseNormalizedNamed(c.Image)
	if err != nil || want.Name() != got.Name() {
		return false
	}
	return reference.IsNameOnly(want) || want.String() == got.String()
}

// changed returns the files that have changed since the given time in the image of a container, the images below it, or the
// dependencies of a custom deploy: the container has all earlier changes.
func (ls Lanes) changed(l lane, since time.Time, s scope) []string {
	m, u := ls.manifest, ls.update
	steps, _, _ := m.LiveUpdateOf(l.Ref)
	files := map[string]bool{}
	add := func(id model.TargetID) {
		for _, changes := range []state.Changes{u.Changes[id], u.Earlier[id]} {
			for p, at := range changes.After(since) {
				if s.includes(steps, p, at) {
					files[p] = true
				}
			}
		}
		if !s.noticed {
			return
		}
		for p, at := range u.Noticed[id].After(since) {
			if steps.Effort(p) == model.EffortCopy && s.includes(steps, p, at) {
				files[p] = true
			}
		}
	}
	var visit func(ref string)
	visit = func(ref string) {
		add(model.ImageID(ref))
		if t, ok := m.Image(ref); ok {
			for _, dep := range t.DependsOn {
				visit(dep)
			}
		}
	}
	if l.Ref == "" {
		add(m.DeployID())
	} else {
		visit(l.Ref)
	}
	return slices.Sorted(maps.Keys(files))
}

// Had returns the files that updates in place have copied into a container since the given time, up to which it was up to date.
func (ls Lanes) Had(id string, since time.Time) []string {
	for _, l := range ls.running() {
		if l.ID == id {
			return ls.changed(l, since, scope{noticed: true, until: l.Has})
		}
	}
	return nil
}

// FilesOf returns the files that any of the containers lacks, sorted.
func FilesOf(lacking []model.LackingContainer) []string {
	files := map[string]bool{}
	for _, l := range lacking {
		for _, f := range l.Files {
			files[f] = true
		}
	}
	return slices.Sorted(maps.Keys(files))
}

// Stale reports whether a build that began at the given time has been overtaken: a file of one of its images has changed since,
// or the declaration has.
func Stale(u *state.Update, began time.Time) bool {
	if u.Declared.After(began) {
		return true
	}
	for id, changes := range u.Changes {
		if id.Type == model.TargetImage && changes.Newest().After(began) {
			return true
		}
	}
	return false
}
