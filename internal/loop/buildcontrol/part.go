package buildcontrol

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// While an update waits, a part of it may go ahead: the files that can be copied into running containers. A part updates nothing
// else and answers no request: the rest still waits. A container that is new, or was behind, gets the files that the others had
// before. That is no new update, so it goes ahead whatever the user holds back. If a file has been saved since, its earlier
// version no longer exists on this machine: then all containers get the newest one, and that change no longer waits. In a session
// that asks, containers also get files as they are saved.

// part returns the part of a resource's update that may go ahead although the rest is held; nil if there is none.
func (d *decision) part(r *resource, hold Hold) *resource {
	if r.running || r.update.AppliedAt.IsZero() || r.update.AttemptedAt.IsZero() {
		return nil
	}
	until := r.update.Reached
	if hold.Reason == HoldConfirm && r.update.InPlaceBroken == "" {
		until = d.view.At
	}
	p := *r
	p.want = partOf(r, until)
	if p.reason == 0 {
		return nil
	}
	if _, held := d.hold(&p); held {
		return nil
	}
	return &p
}

// partUntil is the scope of a part.
func partUntil(until time.Time) scope { return scope{noticed: true, until: until} }

// partOf returns the update that copies files that changed up to a time into containers that lack them. Its reason is changed
// files only if it copies changes that no container has had.
func partOf(r *resource, until time.Time) want {
	lack := r.lanes().lacking(partUntil(until))
	if len(lack) == 0 {
		return want{}
	}
	w := want{reason: lackReason(r, lack), files: FilesOf(lack), inPlace: true, until: until}
	w.ahead = slices.DeleteFunc(slices.Clone(w.files), func(f string) bool { return !savedAfter(r.update, f, until) })
	if until.After(r.update.Reached) && anyNewer(r.update, w.files) {
		w.reason = state.ReasonFiles
	}
	return w
}

// bringBack returns the update that only brings containers up to the state of the others; its reason is 0 if there is nothing to
// bring back. The containers get no newer changes if new updates wait for the user, or if an update has failed so that a new
// image is needed first.
func bringBack(r *resource) want {
	u := r.update
	if u.AttemptedAt.IsZero() {
		return want{}
	}
	if r.waits || u.InPlaceBroken != "" {
		return partOf(r, u.Reached)
	}
	lack := r.lanes().lacking(scope{})
	if len(lack) == 0 {
		return want{}
	}
	return want{reason: lackReason(r, lack), files: FilesOf(lack), inPlace: true}
}

// lackReason returns the reason for an update of containers that lack files that others have.
func lackReason(r *resource, lack []model.LackingContainer) state.BuildReason {
	if slices.ContainsFunc(lack, func(l model.LackingContainer) bool { return !wasBehind(r.update, l) }) {
		return state.ReasonContainer
	}
	return state.ReasonBehind
}

// savedAfter reports whether a file has changed after a time, and settled.
func savedAfter(u *state.Update, file string, t time.Time) bool {
	for _, c := range u.Changes {
		if at, ok := c.At(file); ok && at.After(t) {
			return true
		}
	}
	return false
}

// anyNewer reports whether one of the files changed after all that containers have had.
func anyNewer(u *state.Update, files []string) bool {
	for _, changes := range []map[model.TargetID]state.Changes{u.Changes, u.Noticed} {
		for _, c := range changes {
			for p := range c.After(u.Reached) {
				if slices.Contains(files, p) {
					return true
				}
			}
		}
	}
	return false
}

// bringsBack reports whether an update only gives containers the files that others had before.
func bringsBack(reason state.BuildReason) bool {
	return reason&^(state.ReasonContainer|state.ReasonBehind) == 0
}
