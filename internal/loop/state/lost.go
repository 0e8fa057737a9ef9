package state

import (
	"maps"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Deployed describes the result of deploys.
type Deployed struct {
	// Running are the images of the last successful deploy, by reference, and Applied its objects.
	Running   map[string]model.ImageResult
	Applied   []model.AppliedObject
	AppliedAt time.Time
	// Brought is the time up to which a deploy may have brought changes: the newest one that has not left its workloads as they were.
	Brought time.Time
	// Lost are objects among Applied that are gone from the cluster, by UID, each with the time at which that was noticed.
	Lost map[string]time.Time
	// Creations are Kubernetes' newest attempts to create pods for objects among Applied, by UID, for the kinds whose status does
	// not show them.
	Creations map[string]Creation
	// TakenDown names the program that deleted the objects from outside on the user's behalf, such as hone down; empty if
	// none did since the last update.
	TakenDown string
}

// ObjectsLost reports that objects that resources applied, and still declare, are gone from the cluster, by UIDs. Without
// UIDs it is only known that some may be gone.
type ObjectsLost struct {
	UIDs map[model.ManifestName][]string
}

// ObjectsTakenDown reports that the user deletes the objects of resources while the session runs ("hone down"), of all
// resources when no names are given. The session does not restore the objects until an update is requested.
type ObjectsTakenDown struct {
	Names []model.ManifestName
	// By is who does it, for people: "hone down (pid 42)".
	By string
}

// anyObject stands for objects whose UIDs are not known.
const anyObject = ""

func init() {
	store.On(Updates, func(d *store.Draft[Update], a ObjectsLost) {
		for name, uids := range a.UIDs {
			d.Update(string(name), func(u Update) Update { return u.lost(uids, d.Now()) })
		}
	})
	store.On(Updates, func(d *store.Draft[Update], a ObjectsTakenDown) {
		for e := range d.Refs() {
			if e.Value.isDeployed() && (len(a.Names) == 0 || slices.Contains(a.Names, model.ManifestName(e.ID))) {
				d.Put(e.ID, e.Value.takenDown(a.By))
			}
		}
	})
}

// lost records objects that are gone. Objects that the resource has not applied, or no longer applies, are ignored.
func (u Update) lost(uids []string, at time.Time) Update {
	if u.Off || u.TakenDown != "" {
		return u
	}
	if len(uids) == 0 {
		uids = []string{anyObject}
	}
	next := maps.Clone(u.Lost)
	if next == nil {
		next = map[string]time.Time{}
	}
	for _, uid := range uids {
		if uid == anyObject || slices.ContainsFunc(u.Applied, func(o model.AppliedObject) bool { return o.UID == uid }) {
			next[uid] = at
		}
	}
	if len(next) > 0 {
		u.Lost = next
	}
	return u
}

// deployed records a deploy of the given images that began and ended at the given times, and drops the lost objects that it has restored.
func (d *Deployed) deployed(images map[string]model.ImageResult, applied []model.AppliedObject, began, ended time.Time) {
	var still map[string]time.Time
	for uid, at := range d.Lost {
		lost := slices.ContainsFunc(applied, func(o model.AppliedObject) bool { return o.UID == uid })
		if uid == anyObject {
			lost = at.After(began)
		}
		if lost {
			still = with(still, uid, at)
		}
	}
	d.Running, d.Applied, d.AppliedAt, d.Lost = images, applied, ended, still
	for uid := range d.Creations {
		if !d.Applies(uid) {
			d.Creations = without(d.Creations, uid)
		}
	}
}

// SeenOf returns objects with the newest generations that the session has seen: others may have changed them since the apply.
func SeenOf(v store.View, applied []model.AppliedObject) []model.AppliedObject {
	out := slices.Clone(applied)
	for i, o := range out {
		out[i].Generation = max(o.Generation, Objects.In(v).Value(o.UID).Generation)
	}
	return out
}

// givenUp drops the lost objects that a failed deploy, which began at the given time, should have restored: its error states the
// cause, and an immediate retry would not help.
func (d *Deployed) givenUp(began time.Time) {
	var still map[string]time.Time
	for uid, at := range d.Lost {
		if at.After(began) {
			still = with(still, uid, at)
		}
	}
	d.Lost = still
}

// takenDown returns the update of a resource whose objects the user has deleted from outside: it is as before the first
// build, which the user has to trigger.
func (u Update) takenDown(by string) Update {
	if u.Off || !u.Begun() {
		return u
	}
	u.TakenDown = by
	u.Applied, u.AppliedAt, u.AttemptedAt, u.Declared, u.Lost, u.Broken = nil, time.Time{}, time.Time{}, time.Time{}, nil, time.Time{}
	u.Creations, u.deployedFrom = nil, nil
	u.RetryAt = time.Time{}
	u.InPlaceBroken, u.WasReady, u.Succeeded = "its objects were taken down", false, false
	return u
}
