package model

import "slices"

// CustomDeploy is a deploy that the user's own commands make. Hone applies nothing itself: it runs Apply, which says on
// standard output, as YAML, which objects it applied, and Delete when the resource is to go.
type CustomDeploy struct {
	Apply  Cmd
	Delete Cmd
	// Watch is what the deploy depends on: a change of these files applies again.
	Watch WatchSpec
	// ImageDeps are the references, as the Tiltfile has them, of the images that Apply is told about, in that order.
	ImageDeps []string
	// LiveUpdate updates running containers in place. ImageSelector, the reference of an image, or ContainerSelector, the
	// name of a container, says which; exactly one of them is set when there are steps.
	LiveUpdate        LiveUpdate
	ImageSelector     string
	ContainerSelector string
}

// Takes reports whether a change of the file can go into a running container: it lies below a sync and below nothing that
// asks for more.
func (l LiveUpdate) Takes(path string) bool {
	return slices.ContainsFunc(l.Syncs, func(s Sync) bool { return IsChild(s.LocalPath, path) }) &&
		!slices.ContainsFunc(l.StopPaths, func(p string) bool { return IsChild(p, path) })
}

// OnlyCopies reports whether a change of a file asks for nothing but its copy: no command, no restart, no new image.
func (l LiveUpdate) OnlyCopies(path string) bool {
	return l.Takes(path) && !l.RestartContainer && !l.RestartProcess.Due(path) && !slices.ContainsFunc(l.Runs, func(r Run) bool {
		return len(r.Triggers) == 0 || slices.ContainsFunc(r.Triggers, func(t string) bool { return IsChild(t, path) })
	})
}

// CopiesEarly reports whether some changes may go into a container before all that changes with them is known.
func (l LiveUpdate) CopiesEarly() bool { return len(l.Syncs) > 0 && !l.RestartContainer }

// LiveUpdateOf returns the steps for containers that run the image with the given reference, and what leaves files out of
// them. The empty reference stands for containers whose image hone does not build, those that the manifest's custom deploy
// selects. It is not ok when there are no such steps.
func (m Manifest) LiveUpdateOf(ref string) (steps LiveUpdate, ignores []Ignore, ok bool) {
	if ref == "" {
		if m.K8s == nil || m.K8s.CustomDeploy == nil {
			return LiveUpdate{}, nil, false
		}
		d := m.K8s.CustomDeploy
		return d.LiveUpdate, d.Watch.Ignores, !d.LiveUpdate.Empty()
	}
	im, ok := m.Image(ref)
	return im.LiveUpdate, im.Watch.Ignores, ok && !im.LiveUpdate.Empty()
}

// StepsFor returns the live update that changed files of a target are for: that of the image, or of the custom deploy. It is
// empty for targets without one.
func (m Manifest) StepsFor(id TargetID) LiveUpdate {
	ref := ""
	if id.Type == TargetImage {
		ref = id.Name
	}
	steps, _, _ := m.LiveUpdateOf(ref)
	return steps
}
