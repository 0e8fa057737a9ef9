package buildcontrol

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Paused lists the changes that wait in a paused session.
type Paused struct {
	Since time.Time
	// Resources are the resources whose updates wait, in the order of the Tiltfile. Files is the number of their changed files, each
	// counted once.
	Resources []model.ManifestName
	Files     int
	// Tiltfile is the number of changed files of the Tiltfile.
	Tiltfile int
}

// PausedOf returns the changes that wait in a paused session; ok is false for a session that is not paused.
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
