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
	Built
	Deployed
	Outage
	InPlace
}

func init() {
	store.On(Updates, func(d *store.Draft[Update], a ResourcesTriggered) {
		for _, name := range a.Names {
			d.Update(string(name), func(u Update) Update {
				if !u.Off {
					u.Triggered, u.By = d.Now(), a.By
					if a.Rebuild {
						u.Rebuild = d.Now()
					}
					if a.Adopt {
						u.Adopt = d.Now()
					}
					u.Known = time.Time{}
					if a.Known {
						u.Known = d.Now()
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
		e := d.Ref(is.ID)
		switch {
		case !stays:
			d.Delete(is.ID)
		case e == nil:
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
		u.declare(r.Manifest)
	}
	return u
}

// declare notes the declaration that is valid from now on.
func (u *Update) declare(m model.Manifest) {
	u.Targets, u.declared = targetsOf(m), &m
}

// redeclared applies a new declaration: a relevant difference requests a build, unless the resource is deployed as it is declared now.
func (u Update) redeclared(before, m model.Manifest, now time.Time) Update {
	if NeedsBuild(before, m) {
		u.Declared, u.BuiltAhead = now, time.Time{}
	}
	u.declare(m)
	u.undeclared()
	return u
}

// undeclared drops the request of a new declaration if the resource is deployed that way, and no build runs that would leave it in another.
func (u *Update) undeclared() {
	if u.deployedFrom == nil || u.declared == nil {
		return
	}
	if !NeedsBuild(*u.deployedFrom, *u.declared) && !u.buildsAnother() {
		u.Declared = time.Time{}
	}
}

// Moves reports whether the images have to go to another registry than those that are deployed.
func (u *Update) Moves() bool {
	known := u.deployedFrom != nil && u.declared != nil
	return known && moves(*u.deployedFrom, *u.declared)
}

// buildsAnother reports whether a build runs that began with another declaration: even if it fails, it has to be followed by one.
func (u *Update) buildsAnother() bool {
	return u.Current != nil && u.Current.from != nil && NeedsBuild(*u.Current.from, *u.declared)
}

// completed records the end of a build. A cancelled build only enters the history. Its images are dropped: nothing would
// request their deploy.
func (u Update) completed(a BuildCompleted) Update {
	u.absorbed(a)
	b, ok := u.History.ended(a)
	u.touched(a.Touched)
	if !ok || a.Cancelled {
		return u
	}
	if b.Part {
		u.partEnded(a, b)
		return u
	}
	if b.BuildOnly {
		u.built(a.Images, b.from)
		u.BuiltAhead = b.Until
		return u
	}
	u.recalled(a.Images, b.Until)
	u.built(a.Images, b.from)
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
	if !b.InPlace() {
		u.deployedFrom = nil
	}
	if a.Deployed {
		u.Deployed.deployed(u.Images, a.Applied, b.StartedAt, a.At)
		u.InPlace.deployed(a.FellBack != "")
		for _, t := range u.Targets {
			u.settle(t, u.includedUntil(t.TargetID, b), a.Copies)
		}
		if !a.Left {
			u.Brought = b.Until
		}
		u.deployedFrom = b.from
		u.undeclared()
	}
	if a.Err != "" {
		u.givenUp(b.StartedAt)
	} else {
		u.Succeeded, u.SucceededSerial = true, b.Serial
	}
	return u
}

// partEnded records the end of a part of an update. The rest of the update still waits.
func (u *Update) partEnded(a BuildCompleted, b Build) {
	if len(a.Synced) > 0 {
		b.Until = u.letThrough(b)
	}
	u.InPlace.ended(a, b)
	u.InPlaceBroken = cmp.Or(u.InPlaceBroken, a.InPlaceBroken)
}

// letThrough handles the files that a part has copied in a newer version, which still counts as waiting. It dates them just after
// the changes of the part: so they no longer wait, and the other containers lack them. It returns the time up to which the
// containers of the part have everything.
func (u *Update) letThrough(b Build) (until time.Time) {
	until = b.Until
	for id, changes := range u.Changes {
		var files []string
		for _, f := range b.ahead {
			if at, ok := changes.At(f); ok && at.After(b.Until) && !at.After(b.StartedAt) {
				files = append(files, f)
			}
		}
		if len(files) == 0 {
			continue
		}
		until = b.Until.Add(time.Nanosecond)
		u.Changes = with(u.Changes, id, changes.Without(files).With(files, until))
		u.Earlier = kept(u.Earlier, id, u.Earlier[id].Without(files))
	}
	return until
}

// absorbed notes the files that the running build has taken in, if it is the one that has ended.
func (u *Update) absorbed(a BuildCompleted) {
	if u.Current == nil || u.Current.Serial != a.Serial || !a.Until.After(u.Current.Until) {
		return
	}
	b := *u.Current
	b.Until, b.Files, b.Saved = a.Until, sortedSet(slices.Concat(b.Files, a.Added)), u.runsFrom(a.Until)
	u.Current = &b
}
