package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// stillTimeout limits the wait for updates that are running when a take-down begins.
const stillTimeout = 30 * time.Second

// takenDown handles POST /api/taken_down. It responds once nothing applies the objects.
func (s *Subscriber) takenDown(src *source, w http.ResponseWriter, r *http.Request) {
	var req api.TakenDownRequest
	if !decode(w, r, &req) {
		return
	}
	if req.By == "" {
		fail(w, http.StatusBadRequest, "by: say who deletes the objects")
		return
	}
	var names []model.ManifestName
	for _, n := range req.ManifestNames {
		names = append(names, model.ManifestName(n))
	}
	concerned := func(v store.View) (out []state.Updating) {
		for _, u := range state.WithUpdates(v) {
			m := &u.Value.Manifest
			deployed := u.Value.Enabled && (m.IsK8s() || m.IsCompose())
			if deployed && (len(names) == 0 || slices.Contains(names, m.Name)) {
				out = append(out, u)
			}
		}
		return out
	}
	for _, u := range concerned(src.View()) {
		if u.Update.Begun() {
			logstore.Warnf(s.options.Logs.Logger(u.Value.Manifest.Name, "down", logstore.SourceBuild),
				"%s deletes its objects. They come back when the resource is triggered", words.Clip(req.By, access.MostEchoed))
		}
	}
	if !src.take(w, r, func(store.View) ([]store.Action, error) {
		return []store.Action{state.ObjectsTakenDown{Names: names, By: words.Clip(req.By, access.MostEchoed)}}, nil
	}) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), stillTimeout)
	defer cancel()
	for {
		changed := src.Changed() // before looking, so that nothing is missed
		busy := func(u state.Updating) bool { return u.Update.Current != nil && u.Update.TakenDown != "" }
		if !slices.ContainsFunc(concerned(src.View()), busy) {
			done(w)
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			fail(w, http.StatusGatewayTimeout, "an update did not end in time")
			return
		}
	}
}
