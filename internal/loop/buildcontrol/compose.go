package buildcontrol

import (
	"cmp"
	"slices"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// composeRuntime derives the runtime state from the containers of a service. As in Tilt, a container with a health check is
// ready once it is healthy, a container that has ended with exit code 0 has completed, and a container that has ended with
// another code has failed.
func composeRuntime(v store.View, m model.Manifest, u state.Update, containers []state.Pod) RuntimeState {
	if u.AppliedAt.IsZero() {
		return RuntimeState{Status: RuntimeNone}
	}
	current := slices.DeleteFunc(slices.Clone(containers), func(p state.Pod) bool { return !p.Stands() || removed(u, p) })
	if len(current) == 0 {
		if len(u.Applied) == 0 {
			return RuntimeState{Status: RuntimeOK, Text: "no containers"} // the service is scaled to none
		}
		return RuntimeState{Status: RuntimePending, Text: "no container", Err: "the service no longer has a container"}
	}
	ready, done := 0, 0
	for _, p := range current {
		if outdated(u, p) {
			return RuntimeState{Status: RuntimePending, Text: "starting", Err: "container " + p.Name + " is starting"}
		}
		if image := otherImage(m, u, p); image != "" {
			return RuntimeState{Status: RuntimeError, Text: "other image", FailingSince: p.CreatedAt, Pod: p.UID,
				Err: "container " + p.Name + " runs " + image + ", which is not the newest image of the service; a trigger replaces it"}
		}
		if _, failing := state.PodFailure(p.Pod); failing {
			r := failedPod(p)
			r.Final = !p.Restarting()
			return r
		}
		switch {
		case p.Phase == "Succeeded":
			done++
		case p.Ready:
			ready++
		}
	}
	if r, ended := processRuntime(v, current); ended {
		return r
	}
	if ready+done == len(current) {
		return RuntimeState{Status: RuntimeOK, Text: readyText(ready, done, len(current))}
	}
	return unreadyPod(current, ready+done)
}

// otherImage returns the image of a container that the user has created from an image other than the service's newest; empty if
// it runs the newest, or if no image is built for it.
func otherImage(m model.Manifest, u state.Update, p state.Pod) string {
	built := false
	for _, c := range p.Containers {
		for _, im := range m.Images {
			is, ok := u.Running[im.Ref]
			if built = built || ok; ok && runsImage(c, is) {
				return ""
			}
		}
		if built {
			return cmp.Or(c.Image, c.ImageID)
		}
	}
	return ""
}

// outdated reports whether the known state of a container is older than the update that has started it: the engine has not
// reported the start yet.
func outdated(u state.Update, p state.Pod) bool {
	i := slices.IndexFunc(u.Applied, func(o model.AppliedObject) bool { return o.UID == p.UID })
	return i >= 0 && len(p.Containers) == 1 && p.Containers[0].StartedAt.Before(u.Applied[i].StartedAt)
}

// removed reports whether the update has removed a container, although the engine has not reported that yet.
func removed(u state.Update, p state.Pod) bool {
	return !slices.ContainsFunc(u.Applied, func(o model.AppliedObject) bool { return o.UID == p.UID }) &&
		slices.ContainsFunc(u.Applied, func(o model.AppliedObject) bool { return p.CreatedAt.Before(o.StartedAt) })
}
