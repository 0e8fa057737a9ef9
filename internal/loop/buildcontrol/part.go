package buildcontrol

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// While an update waits, a part of it may go ahead: what can be copied into running containers. It updates nothing else, and it answers no
// request: what waits still does. A container that is new, or was behind, gets what the others had before. That is no new update,
// so nothing that the user holds back holds it. If a file has been saved since, its earlier version is not on this machine any more: then
// all containers get the newest one, and it does not wait any longer. In a session that asks, containers also get what is saved.

// part returns the part of what a resource wants that may go ahead although the rest is held; nil if there is none.
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

// partOf returns what can be copied into containers of all that changed up to a time.
func partOf(r *resource, until time.Time) want {
	lack := lacking(*r.manifest, *r.update, r.pods, partUntil(until))
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

// bringBack returns what a resource wants that needs nothing but containers that have what the others had. They get no more than that if
// new updates wait for the user, or if an update has failed that stands between them and a new image.
func bringBack(r *resource) want {
	u := r.update
	if u.AttemptedAt.IsZero() {
		return want{}
	}
	if r.waits || u.InPlaceBroken != "" {
		return partOf(r, u.Reached)
	}
	lack := lacking(*r.manifest, *u, r.pods, scope{})
	if len(lack) == 0 {
		return want{}
	}
	return want{reason: lackReason(r, lack), files: FilesOf(lack), inPlace: true}
}

// lackReason returns the reason for an update of containers that lack what others have.
func lackReason(r *resource, lack []model.LackingContainer) state.BuildReason {
	if slices.ContainsFunc(lack, func(l model.LackingContainer) bool { return !wasBehind(*r.update, l) }) {
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

// bringsBack reports whether an update only gives containers what others had before.
func bringsBack(reason state.BuildReason) bool {
	return reason&^(state.ReasonContainer|state.ReasonBehind) == 0
}
