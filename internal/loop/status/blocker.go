package status

import (
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Blocker is a failed resource that others wait for: without a change or a trigger, they wait forever.
type Blocker struct {
	Name model.ManifestName
	// Why is the full text of its error.
	Why string
}

// text describes the wait of a resource with hold h: "waits for api, which has failed", or "waits for api to be ready, but db has
// failed".
func (b *Blocker) text(h *buildcontrol.Hold) string {
	if slices.Equal(h.On, []model.ManifestName{b.Name}) {
		return fmt.Sprintf("waits for %s, which has failed", b.Name)
	}
	return fmt.Sprintf("%s, but %s has failed", h, b.Name)
}

// BlockerOf returns the failed resource that another one waits for, directly or through others; nil if there is none.
func BlockerOf(v store.View, name model.ManifestName) *Blocker { return blockers.In(v)[name] }

// blockers answers for all resources at once: several may wait for the same one, through different others.
var blockers = store.Derive(state.Schema, "failed resources that others wait for", func(v store.View) map[model.ManifestName]*Blocker {
	s := blockerSearch{v, buildcontrol.Decide(v, nil).Holds, map[model.ManifestName]*Blocker{}}
	for name := range s.holds {
		s.of(name)
	}
	return s.found
}, buildcontrol.Decided, state.Forwards, state.Services)

type blockerSearch struct {
	view  store.View
	holds map[model.ManifestName]buildcontrol.Hold
	found map[model.ManifestName]*Blocker // nil for a resource without one, and for a resource that is being searched
}

// of returns the blocker of a resource: the first of its dependencies that has failed, or the blocker of one of them; nil if
// there is none.
func (s blockerSearch) of(name model.ManifestName) *Blocker {
	hold := s.holds[name]
	if found, known := s.found[name]; known || hold.Reason != buildcontrol.HoldDep && hold.Reason != buildcontrol.HoldNewest {
		return found
	}
	s.found[name] = nil
	for _, on := range hold.On {
		if b := s.failed(on); b != nil {
			s.found[name] = b
			break
		}
	}
	return s.found[name]
}

// failed returns a dependency if it has failed, else its blocker.
func (s blockerSearch) failed(name model.ManifestName) *Blocker {
	if e := state.Resources.In(s.view).Ref(string(name)); e != nil {
		if r := of(s.view, state.UpdatingOf(s.view, e)); r.Failed().Met {
			return &Blocker{name, r.Err()}
		}
	}
	return s.of(name)
}
