package buildcontrol

import (
	"maps"
	"slices"
	"time"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// Lacking returns the containers of current pods that run an image with live update steps and lack changes. It is level-based: a
// restarted container has lost the copied files, so it lacks every change since the image. A container whose steps begin with an
// initial sync lacks changes until it has had that sync. A change that has not settled yet counts only if it needs no more than a
// copy. A container in which an update is still running is left out.
func Lacking(m model.Manifest, u state.Update, pods []state.Pod) []model.LackingContainer {
	if u.InPlaceBroken != "" {
		return nil
	}
	return lacking(m, u, pods, scope{noticed: true, again: true})
}

// Lacking returns the containers that a candidate updates in place, with the files of the update that each of them lacks.
func (c Candidate) Lacking(m model.Manifest, u state.Update, pods []state.Pod) []model.LackingContainer {
	if !c.Until.IsZero() {
		return lacking(m, u, pods, partUntil(c.Until))
	}
	return Lacking(m, u, pods)
}

// Overlaid returns the containers that have files of updates in place, but lack some of the newest ones.
func Overlaid(m model.Manifest, u state.Update, pods []state.Pod) (out []model.ContainerRef) {
	lacks := map[string]bool{}
	for _, l := range lacking(m, u, pods, scope{noticed: true, again: true}) {
		lacks[l.ID] = true
	}
	for _, c := range Live(m, u, pods) {
		if known := u.Containers[c.ID]; known.Overlaid && (lacks[c.ID] || known.Behind != nil) {
			out = append(out, c)
		}
	}
	for _, p := range pods {
		for _, c := range p.Containers {
			if p.OfCompose() && c.State != model.ContainerRunning && u.Containers[c.ID].Overlaid { // it keeps its files
				out = append(out, m.ContainerRef(p.Pod, c, m.Compose.ImageTarget))
			}
		}
	}
	return out
}

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

// lacking returns the containers that lack something within a scope.
func lacking(m model.Manifest, u state.Update, pods []state.Pod, s scope) []model.LackingContainer {
	if len(u.Changes)+len(u.Noticed)+len(u.Owed) == 0 && !syncsFirst(m) {
		return nil
	}
	var out []model.LackingContainer
	for _, c := range slices.Concat(Live(m, u, pods), Stopped(m, u, pods)) {
		known := u.Containers[c.ID]
		if known.Behind != nil {
			continue // its changes are on their way, and newer ones come after that
		}
		if !known.Stuck.IsZero() && !s.again && len(lacks(m, c.Ref, u, known.Stuck, s)) == 0 {
			continue
		}
		l := model.LackingContainer{ContainerRef: c, Files: lacks(m, c.Ref, u, known.Synced, s), New: known.Synced.IsZero()}
		steps, _, _ := m.LiveUpdateOf(c.Ref)
		for _, f := range u.Owed[c.ID].Files {
			if steps.Takes(f) && !slices.Contains(l.Files, f) {
				l.Files = append(l.Files, f)
			}
		}
		if len(l.Files) > 0 || steps.InitialSync && l.New {
			out = append(out, l)
		}
	}
	return out
}

// syncsFirst reports whether a container of the resource lacks something although nothing has changed.
func syncsFirst(m model.Manifest) bool {
	if steps, _, ok := m.LiveUpdateOf(""); ok && steps.InitialSync {
		return true
	}
	return slices.ContainsFunc(m.Images, func(im model.ImageTarget) bool { return im.LiveUpdate.InitialSync })
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

// Stopped returns the containers of Compose that have crashed and can be updated while they stand: they keep their files.
func Stopped(m model.Manifest, u state.Update, pods []state.Pod) (out []model.ContainerRef) {
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
	if steps, _, ok := m.LiveUpdateOf(""); !ok || !allTaken(steps, u.Changes[m.DeployID()]) {
		return "", false
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

// customTakes reports whether the live update of a manifest's custom deploy takes all of the files.
func customTakes(m model.Manifest, files []string) bool {
	steps, _, ok := m.LiveUpdateOf("")
	return ok && !slices.ContainsFunc(files, func(f string) bool { return !steps.Takes(f) })
}

// allTaken reports whether a live update takes every change: a change that it does not take is for the deploy command, and
// until that has run, nothing is copied.
func allTaken(steps model.LiveUpdate, changes state.Changes) bool {
	for f := range changes.All() {
		if !steps.Takes(f) {
			return false
		}
	}
	return true
}

// lacks returns the files that have changed since the given time in the image, the images below it, or the dependencies of
// a custom deploy: the container has all earlier changes.
func lacks(m model.Manifest, ref string, u state.Update, since time.Time, s scope) []string {
	steps, _, _ := m.LiveUpdateOf(ref)
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
			if steps.OnlyCopies(p) && s.includes(steps, p, at) {
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
	if ref == "" {
		add(m.DeployID())
	} else {
		visit(ref)
	}
	return slices.Sorted(maps.Keys(files))
}

// Had returns the files that updates in place have copied into a container since the given time, up to which it was up to date.
func Had(m model.Manifest, u state.Update, c model.ContainerRef, since time.Time) []string {
	return lacks(m, c.Ref, u, since, scope{noticed: true, until: u.Containers[c.ID].Synced})
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
func Stale(u state.Update, began time.Time) bool {
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
