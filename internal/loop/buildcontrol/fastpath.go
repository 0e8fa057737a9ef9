package buildcontrol

import (
	"maps"
	"slices"

	"github.com/hone-dev/hone/pkg/model"
)

// fastPath returns the files that are copied into running containers without waiting for the source tree to settle: all files
// noticed since the newest update began, if they only need to be copied. Copying too early does no harm, since later
// changes are copied as well; a command or an image build that starts too early would have to be repeated.
func fastPath(r *resource) []string {
	u := r.update
	if len(u.Noticed) == 0 || !copiesAll(r) {
		return nil
	}
	files := map[string]bool{}
	for _, noticed := range u.Noticed {
		for p, at := range noticed.After(u.AttemptedAt) {
			if at.After(u.Reached) { // else a part of an update has copied it
				files[p] = true
			}
		}
	}
	if len(files) == 0 || len(Live(*r.manifest, *u, r.pods)) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(files))
}

// copiesAll reports whether all files that have changed since the newest update began need no more than a copy, and whether
// copies are possible now.
func copiesAll(r *resource) bool {
	u := r.update
	if u.InPlaceBroken != "" || u.AppliedAt.IsZero() || u.AttemptedAt.IsZero() || r.manifest.IsLocal() || r.manifest.TriggerMode != model.TriggerAuto {
		return false
	}
	for id, noticed := range u.Noticed {
		steps := r.manifest.StepsFor(id)
		for p := range noticed.After(u.AttemptedAt) {
			if !steps.OnlyCopies(p) {
				return false
			}
		}
	}
	return settledFits(r)
}

// settledFits reports whether the changes that have settled, if any, can be copied along.
func settledFits(r *resource) bool {
	for id, paths := range r.update.Pending() {
		steps := r.manifest.StepsFor(id)
		if slices.ContainsFunc(paths, func(p string) bool { return !steps.OnlyCopies(p) }) {
			return false
		}
	}
	return true
}
