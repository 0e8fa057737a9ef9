package buildcontrol

import (
	"iter"
	"slices"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// effort returns the most that the changes which request an update require. They have settled.
func (r *resource) effort() (most model.Effort) {
	for id, files := range r.update.Pending() {
		most = max(most, r.manifest.StepsFor(id).MostEffort(slices.Values(files)))
	}
	return most
}

// noticedEffort returns the most that the files require that have changed since the newest update began, and may not have settled.
func (r *resource) noticedEffort() (most model.Effort) {
	for id, noticed := range r.update.Noticed {
		most = max(most, r.manifest.StepsFor(id).MostEffort(paths(noticed.After(r.update.AttemptedAt))))
	}
	return most
}

// onlyCopies reports whether everything that has changed since the newest update began can be copied into containers now, and needs
// nothing else.
func (r *resource) onlyCopies() bool {
	u := r.update
	automatic := !r.manifest.IsLocal() && r.manifest.TriggerMode == model.TriggerAuto
	deployed := !u.AppliedAt.IsZero() && !u.AttemptedAt.IsZero()
	if !automatic || !deployed || u.InPlaceBroken != "" {
		return false
	}
	return max(r.noticedEffort(), r.effort()) == model.EffortCopy
}

// paths yields the files of changes.
func paths(changes iter.Seq2[string, time.Time]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for f := range changes {
			if !yield(f) {
				return
			}
		}
	}
}
