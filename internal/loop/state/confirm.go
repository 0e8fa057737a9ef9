package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Confirmation describes the changes that a session makes only after the user has looked at them.
type Confirmation struct {
	// Asked is set if updates wait for the user, except those in place, and so do deletions of objects that are no longer declared.
	Asked bool
	// Given is the time of the user's last agreement; zero before the first.
	Given time.Time
	// Leaving are the resources that the Tiltfile no longer declares and whose deletion waits for the user. Resources of earlier
	// sessions are not among them: their deletion waits for the first agreement.
	Leaving []model.ManifestName
}

// ChangesConfirmed is the user's agreement to the updates of the named resources, with all changes until now, and to the deletion
// of everything that is no longer declared. By is the name of the token with which it was given; empty for the owner.
type ChangesConfirmed struct {
	Names []model.ManifestName
	By    string
}

// LeavingHeld reports which resources that are no longer declared wait for the user's agreement to their deletion.
type LeavingHeld struct{ Names []model.ManifestName }

func init() {
	store.On(Sessions, func(d *store.Draft[Session], _ ChangesConfirmed) {
		d.Update(Only, func(s Session) Session {
			s.Confirmation.Given = d.Now()
			return s
		})
	})
	store.On(Sessions, func(d *store.Draft[Session], a LeavingHeld) {
		d.Update(Only, func(s Session) Session {
			s.Confirmation.Leaving = a.Names
			return s
		})
	})
	store.On(Updates, func(d *store.Draft[Update], a ChangesConfirmed) {
		for _, name := range a.Names {
			d.Update(string(name), func(u Update) Update {
				if !u.Off {
					u.Confirmed, u.ConfirmedBy = d.Now(), a.By
				}
				return u
			})
		}
	})
}

// Agreed reports whether the user has agreed to an update that includes all that has happened so far.
func (u Update) Agreed() bool {
	if u.Confirmed.IsZero() {
		return false
	}
	for _, at := range []time.Time{u.Declared, u.Keep, u.Retry, u.Broken} {
		if at.After(u.Confirmed) {
			return false
		}
	}
	for id, changes := range u.Changes {
		for _, at := range u.pending(id, changes) {
			if at.After(u.Confirmed) {
				return false
			}
		}
	}
	return true
}
