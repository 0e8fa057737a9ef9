package model

// CustomDeploy is a deploy by the user's own commands. hone applies nothing itself: it runs Apply, which prints the applied
// objects to standard output as YAML, and runs Delete when the resource is removed.
type CustomDeploy struct {
	Apply  Cmd
	Delete Cmd
	// Watch is the files that the deploy depends on: a change runs Apply again.
	Watch WatchSpec
	// ImageDeps are the references in the Tiltfile of the images that are passed to Apply, in that order.
	ImageDeps []string
	// LiveUpdate updates running containers in place. ImageSelector, the reference of an image, or ContainerSelector, the
	// name of a container, selects the containers. Exactly one of them is set if there are steps.
	LiveUpdate        LiveUpdate
	ImageSelector     string
	ContainerSelector string
}

// Attached reports whether the objects belong to others, as with the extension k8s_attach: the delete command does nothing.
func (d CustomDeploy) Attached() bool { return d.Delete.String() == "true" }

// CopiesEarly reports whether a change may be copied into a container before all changes of the same save are known.
func (l LiveUpdate) CopiesEarly() bool { return len(l.Syncs) > 0 && !l.RestartContainer }

// LiveUpdateOf returns the steps for containers that run the image with the given reference, and the ignores that exclude
// files from them. The empty reference selects the containers of the manifest's custom deploy, whose image hone does not
// build. ok is false if there are no such steps.
func (m Manifest) LiveUpdateOf(ref string) (steps LiveUpdate, ignores []Ignore, ok bool) {
	if ref == "" {
		d := m.CustomDeploy()
		if d == nil {
			return LiveUpdate{}, nil, false
		}
		return d.LiveUpdate, d.Watch.Ignores, !d.LiveUpdate.Empty()
	}
	im, ok := m.Image(ref)
	return im.LiveUpdate, im.Watch.Ignores, ok && !im.LiveUpdate.Empty()
}

// StepsFor returns the live update that handles changed files of a target: the live update of the image or of the custom
// deploy. It is empty for targets without one.
func (m Manifest) StepsFor(id TargetID) LiveUpdate {
	ref := ""
	if id.Type == TargetImage {
		ref = id.Name
	}
	steps, _, _ := m.LiveUpdateOf(ref)
	return steps
}
