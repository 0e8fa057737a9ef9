package state

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Update is an entry of table updates; its id is the resource's name. The manifest and the user's switch are in table
// resources, which this table follows.
type Update struct {
	// Off is set while the resource is switched off: the entry is empty then, and records nothing.
	Off bool
	Asked
	Files
	History
	Deployed
	Outage
	InPlace
}

func init() {
	store.On(Updates, func(d *store.Draft[Update], a ResourcesTriggered) {
		for _, name := range a.Names {
			d.Update(string(name), func(u Update) Update {
				if !u.Off {
					u.Triggered = d.Now()
					if a.Rebuild {
						u.Rebuild = d.Now()
					}
					if a.Adopt {
						u.Adopt = d.Now()
					}
				}
				return u
			})
		}
	})
	store.On(Updates, func(d *store.Draft[Update], a BuildCompleted) {
		d.Update(string(a.Resource), func(u Update) Update { return u.completed(a) })
	})
	store.Follow(Updates, Resources, func(d *store.Draft[Update], was, is *store.Entry[Resource]) {
		if is == nil {
			return // it left the Tiltfile before, or its next entry follows
		}
		now, stays := Staying(is)
		e, known := d.Get(is.ID)
		switch {
		case !stays:
			d.Delete(is.ID)
		case !known:
			d.Put(is.ID, begun(now, 0))
		case was == nil, was.Value.Next != nil && was.Value.Next == is.Value.Next:
			// no news: the entry was announced while the one before was torn down
		case e.Value.Off == now.Enabled: // start from scratch: a running build cannot end in a new entry
			d.Delete(is.ID)
			d.Put(is.ID, begun(now, e.Value.Serial))
		case now.Enabled:
			if before := was.Value.coming().Manifest; !reflect.DeepEqual(before, now.Manifest) {
				d.Put(is.ID, e.Value.redeclared(before, now.Manifest, d.Now()))
			}
		}
	})
}

// begun returns the update of a resource without builds. Their numbers continue after serial.
func begun(r Resource, serial int) Update {
	u := Update{Off: !r.Enabled, History: History{Serial: serial}}
	if r.Enabled {
		u.Targets = targetsOf(r.Manifest)
	}
	return u
}

// redeclared applies a new declaration: a relevant difference requests a build, and results of images whose declarations
// have changed are dropped.
func (u Update) redeclared(before, m model.Manifest, now time.Time) Update {
	if NeedsBuild(before, m) {
		u.Declared = now
	}
	for ref := range u.Images {
		was, _ := before.Image(ref)
		is, ok := m.Image(ref)
		if !ok || !reflect.DeepEqual(buildPartOfImage(was), buildPartOfImage(is)) {
			u.Images = without(u.Images, ref)
		}
	}
	u.Targets = targetsOf(m)
	return u
}

// completed records the end of a build. A cancelled build only enters the history. Its images are dropped: nothing would
// request their deploy.
func (u Update) completed(a BuildCompleted) Update {
	u.grown(a)
	b, ok := u.History.ended(a)
	if !ok || a.Cancelled {
		return u
	}
	for ref, result := range a.Images {
		u.Images = with(u.Images, ref, result)
		u.settle(model.ImageID(ref), result.StartedAt)
	}
	u.AttemptedAt = b.Until
	u.answered(b.StartedAt)
	u.Outage.ended(a.Passing, a.At)
	u.InPlace.ended(a, b)
	if a.InPlaceBroken != "" {
		u.InPlaceBroken = a.InPlaceBroken
	}
	if len(a.Images) > 0 {
		u.InPlaceBroken = cmp.Or(u.InPlaceBroken, "an image was built that is not deployed yet")
	}
	if a.Err != "" && !b.InPlace() && !u.AppliedAt.IsZero() {
		u.InPlaceBroken = cmp.Or(u.InPlaceBroken, "the newest deploy failed, so the next update deploys everything again")
	}
	if a.Deployed {
		u.Deployed.deployed(a.Applied, b.StartedAt, a.At)
		u.InPlace.deployed()
		for _, t := range u.Targets {
			if t.Type != model.TargetImage {
				u.settle(t.TargetID, b.StartedAt)
			}
		}
	}
	if a.Err != "" {
		u.givenUp(b.StartedAt)
	} else {
		u.Succeeded, u.SucceededSerial = true, b.Serial
	}
	return u
}

// grown notes what the running build has taken in, if it is the one that has ended.
func (u *Update) grown(a BuildCompleted) {
	if u.Current == nil || u.Current.Serial != a.Serial || !a.Until.After(u.Current.Until) {
		return
	}
	b := *u.Current
	b.Until, b.Files, b.Saved = a.Until, sortedSet(slices.Concat(b.Files, a.Added)), u.savedBefore(a.Until)
	u.Current = &b
}
