package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// deployLock handles POST /api/turn. From the request on no update begins. The response says in lines of JSON which updates it waits for, and
// then that the lock is held. It lasts until the client closes the connection, so that no client that is killed can keep it.
func (s *Subscriber) deployLock(src *source, w http.ResponseWriter, r *http.Request) {
	var req api.DeployLockRequest
	if !decode(w, r, &req) {
		return
	}
	if req.By == "" {
		fail(w, http.StatusBadRequest, "by: say who wants to deploy")
		return
	}
	id := s.deployLocks.Add(1)
	if !src.take(w, r, func(store.View) ([]store.Action, error) {
		return []store.Action{state.DeployLockTaken{ID: id, By: words.Clip(req.By, access.MostEchoed)}}, nil
	}) {
		src.Dispatch(state.DeployLockReleased{ID: id}) // the answer may have come too late
		return
	}
	defer src.Dispatch(state.DeployLockReleased{ID: id})
	w.Header().Set("Content-Type", "application/jsonl")
	w.WriteHeader(http.StatusOK)
	say := func(t api.DeployLock) bool {
		var line bytes.Buffer
		return json.NewEncoder(&line).Encode(t) == nil && push(w, &line)
	}
	var said []string
	for {
		changed := src.Changed() // before looking, so that nothing is missed
		busy := updating(src.View())
		if len(busy) == 0 {
			break
		}
		if !slices.Equal(busy, said) {
			if !say(api.DeployLock{WaitsFor: busy}) {
				return
			}
			said = busy
		}
		access.Endless(w)
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
	if say(api.DeployLock{Granted: true}) {
		access.Endless(w)
		<-r.Context().Done()
	}
}

// updating returns the resources that are being updated.
func updating(v store.View) []string {
	var names []string
	for _, u := range state.WithUpdates(v) {
		if u.Update.Current != nil {
			names = append(names, string(u.Value.Manifest.Name))
		}
	}
	return names
}
