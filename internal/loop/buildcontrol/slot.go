package buildcontrol

import (
	"slices"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// Slots limit how much works on this machine at a time: builds, commands, Compose. An update that only sends objects to the API server
// does its work there, which has a limit of its own, and takes no slot; nor does an update that has built its images and deploys them.
// A limit that the Tiltfile sets counts every update, as in Tilt. Copying files into containers delays nothing else and takes none.
//
// An update that waits for a builder of its platform gives its slot away. It goes on as soon as the builder is there, also if no slot is free:
// the work is done at another machine.

// Underway describes a build that runs: whether it is a part of an update, and whether it takes a slot.
type Underway struct{ Part, Slot bool }

// limit is the number of slots.
func limit(t state.Tiltfile) int {
	if n := t.Result.Update.MaxParallel; n > 0 {
		return n
	}
	return model.DefaultMaxParallel
}

// countsAll reports whether the Tiltfile limits updates of every kind.
func (d *decision) countsAll() bool { return d.tiltfile.Result.Update.MaxParallel > 0 }

// needsSlot reports whether an update of a resource takes a slot.
func (d *decision) needsSlot(r *resource) bool {
	return !r.inPlace && (d.countsAll() || r.builds())
}

// takesSlot reports whether an update that runs takes a slot at present.
func (d *decision) takesSlot(r *resource) bool {
	switch {
	case r.awaitsBuilder():
		return false
	case d.countsAll():
		return r.running
	}
	return r.running && r.slot && !r.applies()
}

// applies reports whether a running update has built everything, and sends objects to the API server.
func (r *resource) applies() bool {
	now := r.update.Current
	return appliesObjects(r.manifest) && now != nil && now.Progress.Kind == model.StepApply
}

// awaitsBuilder reports whether a running update cannot build its image yet, since no builder of the image's platform is there.
func (r *resource) awaitsBuilder() bool {
	now := r.update.Current
	return now != nil && now.Progress.Kind == model.StepBuild && now.Progress.Waits != ""
}

// builds reports whether an update of a resource may build images or run commands. The images in use are kept unless files of them have
// changed, or the user asks for new ones.
func (r *resource) builds() bool {
	if !appliesObjects(r.manifest) {
		return true
	}
	asked := r.reason.Has(state.ReasonTrigger) || r.reason.Has(state.ReasonRebuild)
	return slices.ContainsFunc(r.manifest.Images, func(im model.ImageTarget) bool {
		return asked || r.update.Dirty(im)
	})
}

// appliesObjects reports whether hone itself deploys a resource, by requests to the API server alone.
func appliesObjects(m *model.Manifest) bool { return m.IsK8s() && m.K8s.CustomDeploy == nil }

// slots returns how many more updates that take one may start.
func (d *decision) slots() int { return limit(d.tiltfile) - len(d.inSlots()) }

// inSlots returns the resources that take a slot.
func (d *decision) inSlots() (names []model.ManifestName) {
	for _, r := range d.active {
		if d.takesSlot(r) {
			names = append(names, r.name)
		}
	}
	return names
}
