package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/api/server/rest"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// takeTimeout limits the time until the loop has reduced the actions of a request.
const takeTimeout = 10 * time.Second

// switchResources answers POST /api/switch: by one action for all resources, when it is reduced.
func switchResources(src *source, w http.ResponseWriter, r *http.Request) {
	var req api.SwitchRequest
	if !decode(w, r, &req) {
		return
	}
	if err := wellFormed(req); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	result, err := switching(switchable(src.View()), req)
	if err != nil {
		failBy(w, http.StatusNotFound, err)
		return
	}
	if len(result.Enabled)+len(result.Disabled) > 0 && !src.take(w, r, state.ResourcesSwitched{On: manifestNames(result.Enabled), Off: manifestNames(result.Disabled)}) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(result)
}

// hand dispatches an action and returns the time that it carries, or reports that the loop has ended and will not reduce it.
func (s *source) hand(w http.ResponseWriter, a store.Action) (at time.Time, ok bool) {
	if at = s.Dispatch(a); at.IsZero() {
		failBy(w, http.StatusServiceUnavailable, problem.New("the session has ended", "hone up starts it again; hone sessions lists running sessions"))
		return at, false
	}
	return at, true
}

// take dispatches an action and waits until it is reduced, or answers why that is not so.
func (s *source) take(w http.ResponseWriter, r *http.Request, a store.Action) bool {
	at, ok := s.hand(w, a)
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(r.Context(), takeTimeout)
	defer cancel()
	if _, err := rest.Reduced(ctx, s, at); err != nil {
		fail(w, http.StatusGatewayTimeout, "the session did not take the change in time")
		return false
	}
	return true
}

// wellFormed refuses an incomplete or contradictory request.
func wellFormed(req api.SwitchRequest) error {
	chosen := len(req.ManifestNames)+len(req.Labels) > 0
	switch {
	case req.State != api.StateEnabled && req.State != api.StateDisabled:
		return fmt.Errorf("state: %q is neither enabled nor disabled", words.Clip(req.State, access.MostEchoed))
	case req.All && (chosen || req.Only):
		return errors.New("all stands alone: leave out manifest_names, labels and only")
	case !req.All && !chosen:
		return errors.New("must specify at least one resource")
	}
	return nil
}

// toggle is a resource that can be switched.
type toggle struct {
	name   string
	labels []string
	order  int
	on     bool
}

// switchable returns the resources that can be switched, in the order of the Tiltfile.
func switchable(v store.View) (all []toggle) {
	for e := range state.Resources.In(v).Refs() {
		if is, stays := state.Staying(e); stays {
			all = append(all, toggle{e.ID, is.Manifest.Labels, is.Order, is.Enabled})
		}
	}
	slices.SortStableFunc(all, func(a, b toggle) int { return cmp.Compare(a.order, b.order) })
	return all
}

// switching returns the result of a request.
func switching(all []toggle, req api.SwitchRequest) (api.SwitchResult, error) {
	result := api.SwitchResult{Enabled: []string{}, Disabled: []string{}, Unchanged: []string{}}
	if err := resolvable(all, req); err != nil {
		return result, err
	}
	for _, t := range all {
		chosen := req.All || slices.Contains(req.ManifestNames, t.name) ||
			slices.ContainsFunc(t.labels, func(l string) bool { return slices.Contains(req.Labels, l) })
		on := (req.State == api.StateEnabled) == chosen
		switch {
		case !chosen && !req.Only:
		case t.on == on:
			if chosen {
				result.Unchanged = append(result.Unchanged, t.name)
			}
		case on:
			result.Enabled = append(result.Enabled, t.name)
		default:
			result.Disabled = append(result.Disabled, t.name)
		}
	}
	return result, nil
}

// resolvable refuses names and labels that no resource has.
func resolvable(all []toggle, req api.SwitchRequest) error {
	var names, labels []string
	for _, t := range all {
		names, labels = append(names, t.name), append(labels, t.labels...)
	}
	for _, n := range req.ManifestNames {
		switch {
		case n == string(model.TiltfileName):
			return problem.New(n+" cannot be enabled or disabled", "hone stop ends the session")
		case !slices.Contains(names, n):
			return unknown("resource", n, names)
		}
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	for _, l := range req.Labels {
		if !slices.Contains(labels, l) {
			return unknown("label", l, labels)
		}
	}
	return nil
}

func manifestNames(names []string) (out []model.ManifestName) {
	for _, n := range names {
		out = append(out, model.ManifestName(n))
	}
	return out
}
