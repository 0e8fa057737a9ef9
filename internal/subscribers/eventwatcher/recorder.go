package eventwatcher

import (
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// recordEvery is the least time between two records, so that a flood of events makes few snapshots.
	recordEvery = 250 * time.Millisecond
	// mostWaiting bounds the events whose resource is not known yet; the oldest ones go.
	mostWaiting = 2000
)

// recorder collects events, of pods of older deploys as well, and records them with the resources that they are about. It
// belongs to Run's goroutine.
type recorder struct {
	now func() time.Time
	// waiting are the events that are not recorded yet, in the order in which they came.
	waiting []arrival
	// due is the earliest time of the next record.
	due time.Time
}

// arrival is an event, and when it came.
type arrival struct {
	k8s.KubeEvent
	at time.Time
}

func newRecorder(now func() time.Time) *recorder { return &recorder{now: now} }

// take collects an event, or a newer state of one.
func (r *recorder) take(e k8s.KubeEvent) {
	if i := slices.IndexFunc(r.waiting, func(o arrival) bool { return o.UID == e.UID }); i >= 0 {
		r.waiting[i].KubeEvent = e
		return
	}
	if len(r.waiting) >= mostWaiting {
		r.waiting = append(r.waiting[:0], r.waiting[1:]...)
	}
	r.waiting = append(r.waiting, arrival{e, r.now()})
}

// record returns the action for the events whose resource is known, and after which time there may be more (0: not before
// something else happens). Events about foreign objects are dropped after a while. owners maps UIDs to resources.
func (r *recorder) record(owners map[string]model.ManifestName) (actions []store.Action, again time.Duration) {
	if len(r.waiting) == 0 {
		return nil, 0
	}
	now := r.now()
	if wait := r.due.Sub(now); wait > 0 {
		return nil, wait
	}
	r.due = now.Add(recordEvery)
	seen := map[model.ManifestName][]state.KubeEvent{}
	var rest []arrival
	for _, e := range r.waiting {
		if name, ok := owners[e.ObjectUID]; ok && name != "" {
			seen[name] = append(seen[name], recorded(e.KubeEvent))
		} else if now.Sub(e.at) < waitForOwner {
			rest = append(rest, e)
		}
	}
	r.waiting = rest
	if len(seen) > 0 {
		actions = []store.Action{state.KubeEventsSeen{Events: seen}}
	}
	return actions, 0
}

// recorded converts an event.
func recorded(e k8s.KubeEvent) state.KubeEvent {
	group, _, named := strings.Cut(e.Object.APIVersion, "/")
	if !named {
		group = "" // the core group
	}
	return state.KubeEvent{UID: e.UID, Warning: e.Warning(), Reason: e.Reason, Message: words.ClipChars(e.Message, longest),
		Object:    model.ObjectID{Group: group, Kind: e.Object.Kind, Namespace: e.Object.Namespace, Name: e.Object.Name},
		ObjectUID: e.ObjectUID, Container: containerOf(e), Count: max(e.Count, 1), FirstSeen: e.FirstSeen, LastSeen: e.LastSeen, Source: e.Source}
}
