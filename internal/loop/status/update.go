package status

import (
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Update is the status of the updates of a resource, in the words that scripts know.
type Update string

// The values of Update.
const (
	UpdateNone          Update = "none"    // disabled, never started, or taken down
	UpdatePending       Update = "pending" // one is due, whether it waits or not
	UpdateInProgress    Update = "in_progress"
	UpdateOK            Update = "ok"
	UpdateError         Update = "error"
	UpdateNotApplicable Update = "not_applicable" // it only has a server
)

// Done reports whether the newest state of the resource has been applied.
func (u Update) Done() bool { return u == UpdateOK || u == UpdateNotApplicable }

// UpdateOf returns the status of the updates of a resource.
func UpdateOf(v store.View, m *model.Manifest, u *state.Update) Update {
	last, built := u.Last()
	switch {
	case u.Off:
		return UpdateNone
	case u.Current != nil:
		return UpdateInProgress
	case buildcontrol.Due(m, u), buildcontrol.Outdated(v, m):
		return UpdatePending
	case !built, u.TakenDown != "":
		return UpdateNone
	case last.Err != "":
		return UpdateError
	case m.IsLocal() && m.Local.Update.Empty():
		return UpdateNotApplicable
	}
	return UpdateOK
}

// LastOf returns the past build that determines the state of a resource. A test has none while its verdict is not about the newest files.
func LastOf(v store.View, m *model.Manifest, u *state.Update) (last state.Build, ok bool) {
	if !m.IsTest() {
		return u.Last()
	}
	return lastOf(UpdateOf(v, m, u), m, u)
}

func lastOf(is Update, m *model.Manifest, u *state.Update) (last state.Build, ok bool) {
	if m.IsTest() && !is.Done() && is != UpdateError {
		return state.Build{}, false
	}
	return u.Last()
}
