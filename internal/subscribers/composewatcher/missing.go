package composewatcher

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// graceOfRemoval is the time in which a container that is gone may be replaced before it counts as lost: a user who
// makes it again by hand removes it first.
const graceOfRemoval = 2 * time.Second

// missing is a container that is gone.
type missing struct {
	resource model.ManifestName
	since    time.Time
	// of is the number of containers that the service had with it.
	of int
}

// count returns how many containers each service has.
func (b *tracker) count() map[model.ManifestName]int {
	n := map[model.ManifestName]int{}
	for _, p := range b.told {
		n[p.Resource]++
	}
	return n
}

// lost returns the action for containers that nothing has replaced in time. The reducer knows the last update, and
// decides whether the service should have them.
func (b *tracker) lost(now time.Time) []store.Action {
	have, uids := b.count(), map[model.ManifestName][]string{}
	for id, m := range b.missing {
		switch {
		case have[m.resource] >= m.of:
			delete(b.missing, id)
		case now.Sub(m.since) >= graceOfRemoval:
			delete(b.missing, id)
			uids[m.resource] = append(uids[m.resource], id)
		}
	}
	if len(uids) == 0 {
		return nil
	}
	for _, ids := range uids {
		slices.Sort(ids)
	}
	return []store.Action{state.ObjectsLost{UIDs: uids}}
}
