package buildcontrol

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Away reports whether the source of a resource's runtime state has stopped answering, and since when. The source is the cluster,
// or for a service of Compose the container engine. Local resources are never away.
func Away(v store.View, m model.Manifest) (since time.Time, away bool) {
	switch {
	case m.IsK8s():
		return lost(state.ClusterOf(v, m).Contact)
	case m.IsCompose():
		return lost(state.TheEngine(v).Contact)
	}
	return time.Time{}, false
}

func lost(c state.Contact) (since time.Time, is bool) {
	return c.Lost, c.Broken() && !c.Lost.IsZero()
}

// Known returns the runtime state of a resource as it is to be shown: r, the state as last reported. While its source does not
// answer, it returns RuntimeUnknown with the time of the last contact and the state before. Decisions about a resource use r
// itself, because an outage does not change the containers.
func Known(v store.View, m model.Manifest, r RuntimeState) RuntimeState {
	since, away := Away(v, m)
	if !away || r.Status == RuntimeNone || r.Status == RuntimeNotApplicable {
		return r
	}
	return RuntimeState{Status: RuntimeUnknown, Text: Unknown(since, r.Text)}
}

// Unknown describes an unknown state: the time since which it is unknown, and the state before, which may be empty.
func Unknown(since time.Time, was string) string {
	s := "unknown since " + since.Format(time.TimeOnly)
	if was != "" {
		s += ", was " + was
	}
	return s
}
