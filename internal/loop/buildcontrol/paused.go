package buildcontrol

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Paused is what waits in a paused session.
type Paused struct {
	Since time.Time
	// Resources are those whose updates wait, in the order of the Tiltfile. Files is how many changed files they have, each
	// counted once.
	Resources []model.ManifestName
	Files     int
	// Tiltfile is how many files of the Tiltfile have changed.
	Tiltfile int
}

// PausedOf returns what waits in a paused session; ok is false for a session that is not paused.
func PausedOf(v store.View) (p Paused, ok bool) {
	session := state.TheSession(v)
	if !session.Paused() {
		return Paused{}, false
	}
	p.Since, p.Tiltfile = session.PausedAt, state.TheTiltfile(v).Changed.Len()
	holds, files := Decide(v, nil).Holds, map[string]bool{}
	for _, e := range state.Ordered(v) {
		if holds[model.ManifestName(e.ID)].Reason != HoldPaused {
			continue
		}
		p.Resources = append(p.Resources, model.ManifestName(e.ID))
		for _, f := range state.AllChanges(state.Updates.In(v).Value(e.ID).Pending()) {
			files[f] = true
		}
	}
	p.Files = len(files)
	return p, true
}
