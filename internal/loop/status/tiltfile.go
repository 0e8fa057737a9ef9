package status

import "github.com/hone-dev/hone/internal/loop/state"

// OfTiltfile returns the state of the evaluation of the Tiltfile.
func OfTiltfile(t state.Tiltfile) (State, Update) {
	switch {
	case t.Running():
		return Updating, UpdateInProgress
	case t.Err != "" && t.Pending():
		return Failed, UpdatePending
	case t.Err != "":
		return Failed, UpdateError
	case t.Pending():
		return Waiting, UpdatePending
	case len(t.Warnings) > 0:
		return Warning, UpdateOK
	}
	return OK, UpdateOK
}
