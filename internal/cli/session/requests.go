package session

import (
	"maps"
	"slices"
	"strconv"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// requestOf returns the request of the session's API, its path and its body, that asks for the same as an action which was decided on
// the state v.
func requestOf(v store.View, action store.Action) (path string, body any) {
	switch a := action.(type) {
	case state.ResourcesTriggered:
		if a.Adopt {
			return "/api/adopt", api.AdoptRequest{ManifestNames: texts(a.Names)}
		}
		return "/api/trigger", api.TriggerRequest{ManifestNames: texts(a.Names), NoCache: a.Rebuild}
	case state.ResourcesSwitched:
		if len(a.On) > 0 {
			return "/api/switch", api.SwitchRequest{State: api.StateEnabled, ManifestNames: texts(a.On)}
		}
		return "/api/switch", api.SwitchRequest{State: api.StateDisabled, ManifestNames: texts(a.Off)}
	case state.TriggerModeChosen:
		return "/api/mode", api.ModeRequest{ManifestNames: texts(a.Names), Mode: map[bool]string{true: "manual", false: "auto"}[a.Mode == model.TriggerManual]}
	case state.ButtonClicked:
		return "/api/click", api.ClickRequest{Button: a.Button, Inputs: chosen(state.Buttons.In(v).Value(a.Button).Button, a.Inputs)}
	case state.TiltfileArgsSet:
		return "/api/set_tiltfile_args", append([]string{}, a.Args...)
	case state.ResourcesRestarted:
		return "/api/restart", api.RestartRequest{ManifestNames: texts(a.Names), Pods: a.Pods}
	case state.SessionPaused:
		return "/api/pause", api.PauseRequest{Paused: true}
	case state.SessionResumed:
		return "/api/pause", api.PauseRequest{}
	case state.ForwardsChosen:
		return "/api/forwards", forwardOf(a)
	case state.PruneAllowed:
		return "/api/prune", api.PruneRequest{}
	case state.ResourcesRestored:
		return "/api/restore", api.DriftRequest{ManifestNames: texts(a.Names), Adopt: a.Adopt}
	case state.DriftAccepted:
		return "/api/accept", api.DriftRequest{ManifestNames: texts(slices.Sorted(maps.Keys(a.Fields)))}
	case state.ChangesConfirmed:
		return "/api/confirm", api.ConfirmRequest{Evaluation: state.TheTiltfile(v).Runs}
	}
	bug.Reportf("no request asks for %T", action)
	return "", nil
}

// chosen returns the inputs that differ from their defaults. The others are left to the session, which does not show all defaults.
func chosen(b model.Button, inputs map[string]string) map[string]any {
	defaults, err := b.Resolve(nil)
	if err != nil {
		defaults = nil
	}
	out := map[string]any{}
	for name, value := range inputs {
		if usual, ok := defaults[name]; !ok || usual != value {
			out[name] = value
		}
	}
	return out
}

// forwardOf returns the request to add, remove or change a port forward.
func forwardOf(a state.ForwardsChosen) api.ForwardRequest {
	r := api.ForwardRequest{ManifestName: string(a.Resource)}
	for _, f := range a.Removed {
		r.Remove = f.Address()
	}
	for _, f := range a.Added {
		switch {
		case r.Remove != "":
			r.Add = strconv.Itoa(f.LocalPort)
		case f.ContainerPort != 0:
			r.Add = f.Address() + ":" + strconv.Itoa(f.ContainerPort)
		default:
			r.Add = f.Address()
		}
	}
	return r
}

func texts[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}
