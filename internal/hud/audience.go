package hud

import (
	"sync"

	"github.com/hone-dev/hone/internal/hud/screen"
)

// audience counts the screens that show a session, and tells each of them when the number changes. The zero value is ready.
type audience struct {
	mu      sync.Mutex
	screens map[chan struct{}]bool
}

// enter adds a screen until leave is called.
func (a *audience) enter() (beside screen.Beside, leave func()) {
	changed := make(chan struct{}, 1)
	a.set(changed, true)
	return screen.Beside{Changed: changed, Others: a.others}, func() { a.set(changed, false) }
}

func (a *audience) set(changed chan struct{}, here bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.screens == nil {
		a.screens = map[chan struct{}]bool{}
	}
	if here {
		a.screens[changed] = true
	} else {
		delete(a.screens, changed)
	}
	for slot := range a.screens {
		poke(slot)
	}
}

// others returns how many screens there are beside the one that asks.
func (a *audience) others() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.screens) - 1
}
