package status

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
)

// Evaluation describes the state of the Tiltfile.
type Evaluation struct {
	State  State
	Update Update
	// Text describes a wait: of a running evaluation, which began at Since, or for the evaluation to begin. It is empty without one.
	Text  string
	Since time.Time
	// Err is the error of the last evaluation; empty if there is none.
	Err string
}

// OfTiltfile returns the state of the evaluation of the Tiltfile.
func OfTiltfile(t state.Tiltfile) Evaluation {
	e := Evaluation{State: OK, Update: UpdateOK, Err: t.Err}
	switch {
	case t.Running():
		e.State, e.Update = Updating, UpdateInProgress
		if t.Awaits.What != "" {
			e.Text, e.Since = "waits for "+t.Awaits.What, t.Awaits.Since
		}
	case t.Err != "" && t.Pending():
		e.State, e.Update = Failed, UpdatePending
	case t.Err != "":
		e.State, e.Update = Failed, UpdateError
	case t.Pending():
		e.State, e.Update, e.Text = Waiting, UpdatePending, "is about to be evaluated"
	case len(t.Warnings) > 0:
		e.State = Warning
	}
	return e
}

// Condition returns the condition that the evaluation is in one of the given states.
func (e Evaluation) Condition(met bool) Condition {
	message := e.Err
	if e.State == Updating {
		message = e.Text
	}
	return Condition{Met: met, Reason: e.Update.Reason(), Message: message}
}
