package buildcontrol

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Away reports whether what knows the runtime state of a resource has stopped answering, and when something was last heard
// of it: the cluster, for a service of Compose the container engine. Local resources are never away.
func Away(v store.View, m model.Manifest) (since time.Time, away bool) {
	switch {
	case m.IsK8s():
		c := state.TheCluster(v)
		return c.Lost, c.Ever && !c.Connected && !c.Lost.IsZero()
	case m.IsCompose():
		e := state.TheEngine(v)
		return e.Lost, e.Ever && !e.Connected && !e.Lost.IsZero()
	}
	return time.Time{}, false
}

// Known returns the runtime state of a resource as it is to be shown: r, the state according to what the cluster last
// reported, or RuntimeUnknown with since when it is unknown and what it was. Decisions about a resource use r itself, because
// an outage is no change of what runs.
func Known(v store.View, m model.Manifest, r RuntimeState) RuntimeState {
	since, away := Away(v, m)
	if !away || r.Status == RuntimeNone || r.Status == RuntimeNotApplicable {
		return r
	}
	return RuntimeState{Status: RuntimeUnknown, Text: Unknown(since, r.Text)}
}

// Unknown says since when a state is unknown, and what it was, which may be empty.
func Unknown(since time.Time, was string) string {
	s := "unknown since " + since.Format(time.TimeOnly)
	if was != "" {
		s += ", was " + was
	}
	return s
}
