package buildcontrol

import (
	"maps"
	"slices"
)

// fastPath returns the files that are copied into running containers without waiting for the source tree to settle: all files
// noticed since the newest update began, if they only need to be copied. Copying too early does no harm, since later
// changes are copied as well; a command or an image build that starts too early would have to be repeated.
func fastPath(r *resource) []string {
	u := r.update
	if len(u.Noticed) == 0 || !r.onlyCopies() {
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
