package intent

import (
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Confirm agrees to all waiting updates and deletions, as shown by a plan that was made after the given number of evaluations of
// the Tiltfile. It is refused if nothing waits, or if the Tiltfile has been evaluated since.
func Confirm(v store.View, runs int) (a state.ChangesConfirmed, err error) {
	c, tf := state.TheSession(v).Confirmation, state.TheTiltfile(v)
	a.Names = buildcontrol.Unconfirmed(v)
	switch {
	case !c.Asked:
		return a, &Refusal{Impossible, problem.New("this session does not ask: changes are deployed as they come", "hone up --confirm asks")}
	case !tf.Good || tf.Err != "" || tf.Running():
		return a, &Refusal{Impossible, problem.New("the Tiltfile is being evaluated, or has an error", "wait, or mend it first")}
	case tf.Runs != runs:
		return a, &Refusal{Impossible, problem.New("the Tiltfile has changed since: something else would happen now", "look at it again")}
	case len(a.Names) == 0 && len(c.Leaving) == 0 && !c.Given.IsZero():
		return a, &Refusal{Impossible, problem.New("nothing waits for you to confirm it", "")}
	}
	return a, nil
}

// LeavingText says why a resource is still there that the Tiltfile no longer declares.
const LeavingText = "left the Tiltfile, waits for you to confirm its deletion"

// UnconfirmedText counts the changes that wait for the user's agreement, for people; empty if there are none.
func UnconfirmedText(v store.View) string {
	held, leaving := len(buildcontrol.Unconfirmed(v)), state.TheSession(v).Confirmation.Leaving
	var parts []string
	if held > 0 {
		parts = append(parts, words.Count(held, "update"))
	}
	if len(leaving) > 0 {
		names := make([]string, len(leaving))
		for i, n := range leaving {
			names[i] = string(n)
		}
		parts = append(parts, "the deletion of "+words.List(names, "resource"))
	}
	switch {
	case len(parts) == 0:
		return ""
	case held > 1 || len(parts) > 1:
		return strings.Join(parts, " and ") + " wait for you"
	}
	return parts[0] + " waits for you"
}
