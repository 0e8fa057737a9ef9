package buildcontrol

import (
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Unconfirmed returns the resources whose updates wait for the user's agreement, in the order of the Tiltfile.
func Unconfirmed(v store.View) (names []model.ManifestName) {
	if !state.TheSession(v).Confirmation.Asked {
		return nil
	}
	holds := Decide(v, nil).Holds
	for _, e := range state.Ordered(v) {
		if holds[model.ManifestName(e.ID)].Reason == HoldConfirm {
			names = append(names, model.ManifestName(e.ID))
		}
	}
	return names
}
