package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/api/server/rest"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// takeTimeout limits the time until the loop has reduced the actions of a request.
const takeTimeout = 10 * time.Second

// take carries out a request and waits until the loop has reduced its actions. If that fails, it responds with an error and
// returns false.
func (s *source) take(w http.ResponseWriter, r *http.Request, decide func(store.View) ([]store.Action, error)) bool {
	ctx, cancel := context.WithTimeout(r.Context(), takeTimeout)
	defer cancel()
	_, err := s.writer.Write(ctx, decide)
	if err != nil {
		failBy(w, codeOf(err), err)
	}
	return err == nil
}

// codeOf returns the status of the response to a request that failed.
func codeOf(err error) int {
	switch intent.Why(err) {
	case intent.Invalid:
		return http.StatusBadRequest
	case intent.Unknown:
		return http.StatusNotFound
	case intent.Impossible:
		return http.StatusConflict
	}
	switch {
	case errors.Is(err, rest.ErrEnded):
		return http.StatusServiceUnavailable
	case errors.Is(err, rest.ErrBusy), errors.Is(err, rest.ErrLate):
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// intentOf returns the handler of a request that is one action, and whose response has no content.
func intentOf[R any](src *source, decide func(v store.View, req R) (store.Action, error)) http.HandlerFunc {
	return wantsJSON(func(w http.ResponseWriter, r *http.Request) {
		var req R
		if !decode(w, r, &req) {
			return
		}
		if src.take(w, r, func(v store.View) ([]store.Action, error) {
			a, err := decide(v, req)
			return []store.Action{a}, err
		}) {
			done(w)
		}
	})
}

// trigger decides POST /api/trigger.
func trigger(v store.View, req api.TriggerRequest) (store.Action, error) {
	if req.NoCache {
		return intent.Rebuild(v, req.ManifestNames)
	}
	return intent.Trigger(v, req.ManifestNames)
}

// confirm handles POST /api/confirm.
func confirm(src *source, w http.ResponseWriter, r *http.Request) {
	var req api.ConfirmRequest
	if !decode(w, r, &req) {
		return
	}
	result := api.ConfirmResult{Resources: []string{}}
	if src.take(w, r, func(v store.View) ([]store.Action, error) {
		a, err := intent.Confirm(v, req.Evaluation)
		for _, name := range a.Names {
			result.Resources = append(result.Resources, string(name))
		}
		return []store.Action{a}, err
	}) {
		respond(w, result)
	}
}

// mode decides POST /api/mode.
func mode(v store.View, req api.ModeRequest) (store.Action, error) {
	to, ok := map[string]model.TriggerMode{"auto": model.TriggerAuto, "manual": model.TriggerManual}[req.Mode]
	if !ok {
		return nil, &intent.Refusal{Reason: intent.Invalid, Err: fmt.Errorf("mode: %q is neither auto nor manual", words.Clip(req.Mode, access.MostEchoed))}
	}
	return intent.SetTriggerMode(v, req.ManifestNames, to)
}

// restore decides POST /api/restore.
func restore(v store.View, req api.DriftRequest) (store.Action, error) {
	a, err := intent.Restore(v, req.ManifestNames)
	a.Adopt = req.Adopt
	return a, err
}

// accept decides POST /api/accept.
func accept(v store.View, req api.DriftRequest) (store.Action, error) {
	return intent.Accept(v, req.ManifestNames)
}

// adopt decides POST /api/adopt.
func adopt(v store.View, req api.AdoptRequest) (store.Action, error) {
	return intent.Adopt(v, req.ManifestNames)
}

// prune decides POST /api/prune.
func prune(v store.View, _ api.PruneRequest) (store.Action, error) { return intent.Prune(v) }

// restart decides POST /api/restart.
func restart(v store.View, req api.RestartRequest) (store.Action, error) {
	return intent.Restart(v, req.ManifestNames, req.Pods)
}

// pause handles POST /api/pause.
func pause(src *source, w http.ResponseWriter, r *http.Request) {
	var req api.PauseRequest
	if !decode(w, r, &req) {
		return
	}
	var result api.PauseResult
	if !src.take(w, r, func(v store.View) ([]store.Action, error) {
		before, _ := buildcontrol.PausedOf(v)
		result.Waiting = *paused(before)
		if !req.Paused {
			a, changed := intent.Resume(v)
			result.Changed = changed
			return actionIf(a, changed), nil
		}
		a, changed, err := intent.Pause(v)
		result.Changed = changed
		return actionIf(a, changed), err
	}) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(result)
}

// actionIf returns the action if something changes.
func actionIf(a store.Action, changed bool) []store.Action {
	if !changed {
		return nil
	}
	return []store.Action{a}
}

// forward decides POST /api/forwards.
func forward(v store.View, req api.ForwardRequest) (store.Action, error) {
	return chooseForwards(v, req)
}

// chooseForwards returns the action of a request to add, remove or change a port forward.
func chooseForwards(v store.View, req api.ForwardRequest) (state.ForwardsChosen, error) {
	if req.Add == "" {
		return intent.RemoveForward(v, req.ManifestName, req.Remove)
	}
	f, err := model.ParsePortForward(req.Add)
	switch {
	case err != nil:
		return state.ForwardsChosen{}, &intent.Refusal{Reason: intent.Invalid, Err: err}
	case req.Remove == "":
		return intent.AddForward(v, req.ManifestName, f)
	case f.Host != "" || f.ContainerPort != 0:
		return state.ForwardsChosen{}, &intent.Refusal{Reason: intent.Invalid,
			Err: fmt.Errorf("add: a changed forward takes only a new local port, not %q", words.Clip(req.Add, access.MostEchoed))}
	}
	return intent.ChangeForward(v, req.ManifestName, req.Remove, f.LocalPort)
}

// click decides POST /api/click.
func click(v store.View, req api.ClickRequest) (store.Action, error) {
	return intent.Click(v, req.Button, req.Inputs)
}

// setArgs handles POST /api/set_tiltfile_args, whose body is the list of the new arguments, as in Tilt. An argument that is
// sent back redacted at its previous position keeps its value.
func setArgs(src *source, w http.ResponseWriter, r *http.Request) {
	var sent []string
	if !decode(w, r, &sent) {
		return
	}
	if src.take(w, r, func(v store.View) ([]store.Action, error) {
		args, was, redactor := slices.Clone(sent), state.TheSession(v).Args, src.Redactor(v)
		for i := range min(len(args), len(was)) {
			if args[i] == redactor.Text(was[i]) {
				args[i] = was[i]
			}
		}
		a, changed, err := intent.SetArguments(v, args)
		if !changed {
			return nil, err
		}
		return []store.Action{a}, err
	}) {
		done(w)
	}
}

// switchResources handles POST /api/switch. A single action enables and disables all resources of the request.
func switchResources(src *source, w http.ResponseWriter, r *http.Request) {
	var req api.SwitchRequest
	if !decode(w, r, &req) {
		return
	}
	if req.State != api.StateEnabled && req.State != api.StateDisabled {
		fail(w, http.StatusBadRequest, fmt.Sprintf("state: %q is neither enabled nor disabled", words.Clip(req.State, access.MostEchoed)))
		return
	}
	var o intent.Outcome
	selected := intent.Selection{Names: req.ManifestNames, Labels: req.Labels, All: req.All, Only: req.Only}
	if !src.take(w, r, func(v store.View) (_ []store.Action, err error) {
		if o, err = intent.Switch(v, req.State == api.StateEnabled, selected); err != nil {
			return nil, err
		}
		if a, ok := o.Action(); ok {
			return []store.Action{a}, nil
		}
		return nil, nil
	}) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(api.SwitchResult{Enabled: list(o.Enabled), Disabled: list(o.Disabled), Unchanged: list(o.Unchanged)})
}

// list returns names as a list that is never null in JSON.
func list(names []string) []string { return append([]string{}, names...) }
