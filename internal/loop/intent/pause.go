package intent

import (
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Pause keeps updates from beginning on their own; changed is false if the session is paused already. A session of hone ci
// cannot be paused.
func Pause(v store.View) (a state.SessionPaused, changed bool, err error) {
	s := state.TheSession(v)
	if s.Command == state.CommandCI {
		return a, false, &Refusal{Impossible, problem.New("hone ci cannot be paused", "end it instead: hone stop")}
	}
	return a, !s.Paused(), nil
}

// Resume lets updates begin on their own again; changed is false if the session is not paused.
func Resume(v store.View) (a state.SessionResumed, changed bool) {
	return a, state.TheSession(v).Paused()
}
