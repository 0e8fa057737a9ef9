package state

import (
	"slices"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Screen is an entry of table screens; its id is the one that the screen has chosen.
type Screen struct {
	// At is the resource that its user has selected; empty for none.
	At model.ManifestName
}

// ScreenOpened reports that a screen shows the session.
type ScreenOpened struct{ ID string }

// ScreenMoved reports that the user of a screen has selected a resource; none if At is empty.
type ScreenMoved struct {
	ID string
	At model.ManifestName
}

// ScreenClosed reports that a screen no longer shows the session.
type ScreenClosed struct{ ID string }

func init() {
	store.On(Screens, func(d *store.Draft[Screen], a ScreenOpened) { d.Put(a.ID, Screen{}) })
	store.On(Screens, func(d *store.Draft[Screen], a ScreenMoved) {
		if d.Value(a.ID).At != a.At {
			d.Update(a.ID, func(Screen) Screen { return Screen{At: a.At} })
		}
	})
	store.On(Screens, func(d *store.Draft[Screen], a ScreenClosed) { d.Delete(a.ID) })
}

// OtherScreens returns the selections of the screens beside one, in the order of the names.
func OtherScreens(v store.View, id string) []model.ManifestName {
	var out []model.ManifestName
	for e := range Screens.In(v).Refs() {
		if e.ID != id {
			out = append(out, e.Value.At)
		}
	}
	slices.Sort(out)
	return out
}
