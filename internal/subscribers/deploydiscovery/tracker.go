package deploydiscovery

import (
	"context"
	"maps"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// keptEnds is how many removed objects are kept that no resource is known to have applied: a Job that removes itself may
	// be gone before its deploy is over.
	keptEnds = 1000
	// unseenGrace is how long a Job that was applied may be missing before it counts as gone: its watch may lag behind.
	unseenGrace = 5 * time.Second
)

// applied is an object with a status that a resource applied.
type applied struct {
	id       model.ObjectID
	resource model.ManifestName
	scope    scope
}

// runs reports whether objects of this kind run to an end, so that nothing but another update brings back one that was deleted.
func runs(id model.ObjectID) bool {
	switch id.Group {
	case "batch":
		return id.Kind == "Job"
	case "":
		return id.Kind == "Pod"
	}
	return false
}

// tracker knows applied objects, and the reports about them, by UID. It is for one goroutine.
type tracker struct {
	// applied are the objects of the newest snapshot, and owned those with a status; users are the watches for them.
	applied *state.AppliedSet
	// expected are the kinds that will be applied soon.
	expected *state.ExpectedSet
	owned    map[string]applied
	users    map[scope][]model.ManifestName
	seen     map[string]model.ObjectStatus
	told     map[string]model.ObjectStatus
	synced   map[scope]bool
	// left are the last states of applied objects that the watch of the labelled ones no longer reports. Each is watched by its name,
	// which shows whether it is gone, or has only lost its label. moved is set if others have left, or some have come back, since the
	// watches were found.
	left  map[string]model.ObjectStatus
	moved bool
	// ends are the last states of removed objects that had run to their end, as a Job with ttlSecondsAfterFinished, or should have;
	// removed are their UIDs in order. missing are applied ones that a complete watch has not seen, with the time since when.
	ends    map[string]model.ObjectStatus
	removed []string
	missing map[string]time.Time
}

func newTracker() *tracker {
	return &tracker{owned: map[string]applied{}, seen: map[string]model.ObjectStatus{}, told: map[string]model.ObjectStatus{},
		synced: map[scope]bool{}, left: map[string]model.ObjectStatus{}, ends: map[string]model.ObjectStatus{}, missing: map[string]time.Time{}}
}

// Wanted implements clusterwatch.Follower: the watches for the objects that resources have applied, each with the resources
// whose health it reports, and for those that resources will apply soon.
func (b *tracker) Wanted(v store.View) map[scope][]model.ManifestName {
	set, soon := state.Applied(v), state.Expected(v)
	b.moved = b.moved || soon != b.expected
	if set != b.applied || b.moved {
		b.applied, b.expected, b.moved = set, soon, false
		b.want()
	}
	return b.users
}

// want finds the watches for the objects that are applied now, or expected.
func (b *tracker) want() {
	b.owned, b.users = map[string]applied{}, map[scope][]model.ManifestName{}
	for _, k := range b.expected.Kinds {
		b.users[scope{cluster: k.Cluster, apiVersion: k.APIVersion, kind: k.Kind, namespace: k.Namespace}] = nil
	}
	for _, by := range b.applied.Of {
		for _, a := range by.Objects {
			if !buildcontrol.HasStatus(a.ObjectID) {
				continue
			}
			o := applied{a.ObjectID, by.Resource, scope{cluster: a.Cluster, apiVersion: a.APIVersion, kind: a.Kind, namespace: a.Namespace, all: a.Foreign}}
			b.owned[a.UID] = o
			b.users[o.scope] = append(b.users[o.scope], o.resource)
			if _, left := b.left[a.UID]; left {
				b.users[o.scope.alone(a.Name)] = []model.ManifestName{o.resource}
			}
		}
	}
	maps.DeleteFunc(b.left, func(uid string, _ model.ObjectStatus) bool { _, owned := b.owned[uid]; return !owned })
	for sc := range b.synced {
		if _, watched := b.users[sc]; !watched {
			delete(b.synced, sc)
		}
	}
}

// leaves notes the last state of an object that has left the watch of the labelled ones.
func (b *tracker) leaves(o model.ObjectStatus) {
	b.left[o.UID] = o
	b.moved = true
}

// returns notes that an object is there again, or gone.
func (b *tracker) returns(uid string) {
	if _, left := b.left[uid]; left {
		delete(b.left, uid)
		b.moved = true
	}
}

// Take implements clusterwatch.Follower.
func (b *tracker) Take(sc scope, e k8s.ObjectEvent) bool {
	o := e.Status
	_, left := b.left[o.UID]
	_, owned := b.owned[o.UID]
	switch {
	case e.Synced:
		b.synced[sc] = true
		b.absent(sc)
	case sc.name != "" && !left:
		return false // another object of that name, or one that has its label again
	case e.Deleted && sc.labelled() && owned:
		delete(b.seen, o.UID)
		b.leaves(o)
	case e.Deleted:
		b.gone(o)
	default:
		b.seen[o.UID] = o
		if sc.name == "" {
			b.returns(o.UID)
		}
	}
	return true
}

// absent notes the end of the objects that have left the watch of the labelled ones, if a complete watch by name lacks them.
func (b *tracker) absent(sc scope) {
	for uid, o := range b.left {
		if _, seen := b.seen[uid]; !seen && sc.name != "" && b.owned[uid].scope.alone(o.Name) == sc {
			b.gone(o)
		}
	}
}

// gone notes that an object exists no more.
func (b *tracker) gone(o model.ObjectStatus) {
	delete(b.seen, o.UID)
	b.returns(o.UID)
	if o.Ended || runs(o.ObjectID) {
		b.ended(o)
	}
}

// Changes implements clusterwatch.Follower.
func (b *tracker) Changes(context.Context, store.View) ([]store.Action, time.Duration) {
	return b.difference(time.Now())
}

// ended records the end of an object that was removed.
func (b *tracker) ended(o model.ObjectStatus) {
	if !o.Ended && o.Health != model.HealthGone {
		o.Health, o.Message = model.HealthDeleted, "was deleted before its end"
	}
	b.ends[o.UID] = o
	b.removed = append(b.removed, o.UID)
	if len(b.removed) <= keptEnds {
		return
	}
	var kept []string
	for i, uid := range b.removed {
		if _, owned := b.owned[uid]; owned || i > keptEnds/2 {
			kept = append(kept, uid)
		} else {
			delete(b.ends, uid)
		}
	}
	b.removed = kept
}

// status returns the status of an applied object; ok is false if it is unknown. next is after which time it may change
// without an event; zero is never.
func (b *tracker) status(uid string, a applied, now time.Time) (o model.ObjectStatus, ok bool, next time.Duration) {
	if o, ok = b.seen[uid]; ok {
		delete(b.missing, uid)
		return o, true, 0
	}
	if o, ok = b.ends[uid]; ok {
		return o, true, 0
	}
	if _, left := b.left[uid]; left {
		o, ok = b.told[uid]
		return o, ok, 0
	}
	if !runs(a.id) || !b.synced[a.scope] {
		return o, false, 0
	}
	since, known := b.missing[uid]
	if !known {
		since = now
		b.missing[uid] = now
	}
	if left := since.Add(unseenGrace).Sub(now); left > 0 {
		return o, false, left
	}
	delete(b.missing, uid)
	b.leaves(model.ObjectStatus{ObjectID: a.id, UID: uid, Health: model.HealthGone, Message: "was removed before hone saw how it ended"})
	return o, false, 1
}

// difference returns the actions to dispatch, and after which time to call it again without an event (0: never).
func (b *tracker) difference(now time.Time) (out []store.Action, next time.Duration) {
	var changed []model.ObjectStatus
	for uid, a := range b.owned {
		o, ok, left := b.status(uid, a, now)
		if left > 0 && (next == 0 || left < next) {
			next = left
		}
		was, known := b.told[uid]
		o.Resource = a.resource
		switch {
		case ok && (!known || was != o):
			b.told[uid] = o
			changed = append(changed, o)
		case !ok && known:
			delete(b.told, uid)
			out = append(out, state.ObjectGone{UID: uid})
		}
	}
	for uid := range b.told {
		if _, owned := b.owned[uid]; !owned {
			delete(b.told, uid)
			out = append(out, state.ObjectGone{UID: uid})
		}
	}
	for uid := range b.missing {
		if _, owned := b.owned[uid]; !owned {
			delete(b.missing, uid)
		}
	}
	if len(changed) > 0 {
		out = append(out, state.ObjectsChanged{Objects: changed})
	}
	return out, next
}
