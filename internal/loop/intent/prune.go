package intent

import (
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Prune deletes all objects that the Tiltfile no longer declares, however many there are. It is refused while the Tiltfile has an
// error, or the cluster does not answer.
func Prune(v store.View) (a state.PruneAllowed, err error) {
	switch {
	case state.TheSession(v).Command == state.CommandCI:
		return a, &Refusal{Impossible, problem.New("hone ci deletes only what its flags allow", "call it with --prune=all")}
	case !state.TheTiltfile(v).Good:
		return a, &Refusal{Impossible, problem.New("nothing is deleted while the Tiltfile has an error", "fix it first")}
	case !state.TheCluster(v).Connected:
		return a, &Refusal{Impossible, problem.New("the cluster does not answer", "wait until it does")}
	}
	return a, nil
}
