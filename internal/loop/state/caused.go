package state

import (
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Caused are the updates of resources that the newest evaluation of the Tiltfile, or the newest run of a declared command, has
// led to, each directly or through the files that an earlier one has changed. The files that they change count as its own, since
// all of them may request each other in an endless loop.
type Caused []CausedUpdate

// CausedUpdate is one of these updates. Ended is zero while it runs.
type CausedUpdate struct {
	Resource     model.ManifestName
	Began, Ended time.Time
}

// covers reports whether a file that was changed at the given time was changed while the update was under way.
func (u CausedUpdate) covers(made time.Time) bool {
	if u.Ended.IsZero() {
		return lap{began: u.Began, ended: made}.covers(made)
	}
	return lap{began: u.Began, ended: u.Ended}.covers(made)
}

func (c Caused) covers(made time.Time) bool {
	return slices.ContainsFunc(c, func(u CausedUpdate) bool { return u.covers(made) })
}

// With names the resources whose updates may have changed a file at the given time: " with web with api".
func (c Caused) With(made time.Time) (text string) {
	for _, u := range c {
		if with := " with " + string(u.Resource); u.covers(made) && !strings.Contains(text+" ", with+" ") {
			text += with
		}
	}
	return text
}

// began adds an update.
func (c Caused) began(a BuildStarted) Caused {
	return append(slices.Clone(c), CausedUpdate{Resource: a.Resource, Began: a.At})
}

// ended ends the updates of a resource. It drops updates in place, which change no files of this machine.
func (c Caused) ended(a BuildCompleted) Caused {
	var out Caused
	for _, u := range c {
		if u.Resource == a.Resource && u.Ended.IsZero() {
			if (Build{Mode: a.Mode}).InPlace() {
				continue
			}
			u.Ended = a.At
		}
		out = append(out, u)
	}
	return out
}

// running returns the updates that have not ended: they may still change files after the next run has begun.
func (c Caused) running() Caused {
	return slices.DeleteFunc(slices.Clone(c), func(u CausedUpdate) bool { return !u.Ended.IsZero() })
}

// causes reports whether the newest evaluation has led to a build that begins: by what it declares, or by the files that it
// or a build that it has led to has changed.
func (t Tiltfile) causes(a BuildStarted) bool {
	if a.Reason.Has(ReasonConfig) {
		return true
	}
	l, ok := t.lap(a.At)
	return ok && a.Reason.Has(ReasonFiles) && t.changed(l, a.Made)
}

func init() {
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a BuildStarted) {
		if e := d.Ref(Only); e != nil && e.Value.causes(a) {
			d.Update(Only, func(t Tiltfile) Tiltfile {
				t.Caused = t.Caused.began(a)
				return t
			})
		}
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a BuildCompleted) {
		if e := d.Ref(Only); e != nil && len(e.Value.Caused) > 0 {
			d.Update(Only, func(t Tiltfile) Tiltfile {
				t.Caused = t.Caused.ended(a)
				return t
			})
		}
	})
	store.On(Commands, func(d *store.Draft[DeclaredCommand], a BuildStarted) {
		for e := range d.Refs() {
			if c := e.Value; a.Reason.Has(ReasonFiles) && c.changed(a.Made) {
				c.Caused = c.Caused.began(a)
				d.Put(e.ID, c)
			}
		}
	})
	store.On(Commands, func(d *store.Draft[DeclaredCommand], a BuildCompleted) {
		for e := range d.Refs() {
			if c := e.Value; len(c.Caused) > 0 {
				c.Caused = c.Caused.ended(a)
				d.Put(e.ID, c)
			}
		}
	})
}
