package buildcontrol

import (
	"maps"
	"slices"

	"github.com/hone-dev/hone/pkg/model"
)

// quick returns the files that are copied into running containers without waiting for the source tree to settle: all files
// noticed since the newest update began, if they only need to be copied. Copying too early does no harm, since later
// changes are copied as well; a command or an image build that starts too early would have to be repeated.
func quick(r *resource) []string {
	u := r.update
	if len(u.Noticed) == 0 || u.InPlaceBroken != "" || u.AppliedAt.IsZero() || u.AttemptedAt.IsZero() || r.manifest.IsLocal() ||
		r.manifest.TriggerMode != model.TriggerAuto {
		return nil
	}
	files := map[string]bool{}
	for id, noticed := range u.Noticed {
		steps := r.manifest.StepsFor(id)
		for p, at := range noticed.After(u.AttemptedAt) {
			if !steps.OnlyCopies(p) {
				return nil
			}
			if at.After(u.Reached) { // else a part of an update has copied it
				files[p] = true
			}
		}
	}
	if len(files) == 0 || !settledFits(r) {
		return nil
	}
	if len(Live(*r.manifest, *u, r.pods)) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(files))
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
