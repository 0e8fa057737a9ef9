package buildcontrol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// goneRuntime returns the state of a resource whose objects others have deleted, if the session does not make them again.
func goneRuntime(v store.View, name model.ManifestName, u state.Update) (r RuntimeState, gone bool) {
	if u.Current != nil {
		return r, false
	}
	var names, why []string
	for _, o := range state.Drifts.In(v).Value(string(name)).Objects {
		if o.What != state.DriftDeleted || o.Keep || !u.Applies(o.UID) {
			continue
		}
		names = append(names, o.Object.String())
		if o.Reason != "" && !strings.Contains(strings.Join(why, "; "), o.Reason) {
			why = append(why, o.Reason)
		}
		if r.FailingSince.IsZero() || o.Since.Before(r.FailingSince) {
			r.FailingSince = o.Since
		}
	}
	if len(names) == 0 {
		return r, false
	}
	what := names[0] + " was deleted"
	if more := len(names) - 1; more > 0 {
		what = fmt.Sprintf("%s and %d more were deleted", names[0], more)
	}
	r.Status, r.Text, r.Err = RuntimeError, "gone", what
	if len(why) > 0 {
		r.Err += " (" + strings.Join(why, "; ") + ")"
	}
	r.Err += "; a trigger deploys the resource again"
	return r, true
}

// vanished reports whether an object that runs to an end was removed before hone saw its end.
func vanished(o model.ObjectStatus) bool {
	return o.Health == model.HealthGone || o.Health == model.HealthDeleted
}

// matters reports whether the removal of an object that runs to an end may mean that it has not done its work. A pod that ended
// well is as good as its Job's end. The end of a Job that was never seen to run matters only if the user waits for it.
func matters(m model.Manifest, o model.ObjectStatus, tries []state.Pod) bool {
	if slices.ContainsFunc(tries, func(p state.Pod) bool { return p.Owner == o.UID && p.Phase == "Succeeded" }) {
		return false
	}
	return o.Health == model.HealthDeleted || !isJob(o) || m.K8s.PodReadiness == model.PodSucceeded
}

// removedRuntime returns the state for a removed object that should have run to an end, unless it is being replaced.
func removedRuntime(v store.View, u state.Update, o model.ObjectStatus) RuntimeState {
	if _, restored := u.Lost[o.UID]; restored || replacesPods(v, o.Resource, u) {
		return RuntimeState{Status: RuntimePending, Text: "restarting"}
	}
	return RuntimeState{Status: RuntimeError, Text: "gone", Err: o.ObjectID.String() + " " + o.Message + "; a trigger runs it again", Final: true}
}

// replacesPods reports whether the user has asked to replace the pods of a resource since it was applied.
func replacesPods(v store.View, name model.ManifestName, u state.Update) bool {
	restart := state.Restarts.In(v).Value(string(name))
	return restart.Pods && restart.RequestedAt.After(u.AppliedAt)
}
