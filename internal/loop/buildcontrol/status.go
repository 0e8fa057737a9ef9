package buildcontrol

import "github.com/hone-dev/hone/internal/loop/state"

// UpdateStatus returns the status of the updates of a resource, in the words that scripts know: none, pending, in_progress,
// ok or error.
func UpdateStatus(u state.Update) string {
	last, ok := u.Last()
	switch {
	case u.Current != nil:
		return "in_progress"
	case len(u.Pending()) > 0 || !u.Triggered.IsZero() || !u.Restore.IsZero() || !u.Keep.IsZero() || !u.Declared.IsZero() || len(u.Lost) > 0:
		return "pending"
	case !ok, u.TakenDown != "":
		return "none"
	case last.Err != "":
		return "error"
	}
	return "ok"
}
