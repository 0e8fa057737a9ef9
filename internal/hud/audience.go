package hud

import (
	"slices"
	"sync"

	"github.com/hone-dev/hone/internal/hud/screen"
	"github.com/hone-dev/hone/pkg/model"
)

// audience knows the screens that show a session and where each of them is, and tells the others when that changes. The zero
// value is ready.
type audience struct {
	mu sync.Mutex
	// screens holds the resource that each screen has selected, by the slot that tells it of changes; empty for none.
	screens map[chan struct{}]model.ManifestName
}

// enter adds a screen until leave is called.
func (a *audience) enter() (beside screen.Beside, leave func()) {
	mine := make(chan struct{}, 1)
	a.change(mine, func() { a.screens[mine] = "" })
	return screen.Beside{Changed: mine, Others: func() []model.ManifestName { return a.others(mine) }, Moved: func(to model.ManifestName) { a.moved(mine, to) }},
		func() { a.change(mine, func() { delete(a.screens, mine) }) }
}

// change changes the screens and tells all but one of them.
func (a *audience) change(mine chan struct{}, f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.screens == nil {
		a.screens = map[chan struct{}]model.ManifestName{}
	}
	f()
	for slot := range a.screens {
		if slot != mine {
			poke(slot)
		}
	}
}

// moved notes the selection of a screen.
func (a *audience) moved(mine chan struct{}, to model.ManifestName) {
	a.mu.Lock()
	is, here := a.screens[mine]
	a.mu.Unlock()
	if here && is != to {
		a.change(mine, func() { a.screens[mine] = to })
	}
}

// others returns the selections of the screens beside one, in the order of the names.
func (a *audience) others(mine chan struct{}) []model.ManifestName {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]model.ManifestName, 0, len(a.screens))
	for slot, name := range a.screens {
		if slot != mine {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
