package state

import "github.com/hone-dev/hone/internal/loop/store"

// PruneGuard keeps a session from deleting much at once that the Tiltfile no longer declares.
type PruneGuard struct {
	// Why names the objects that it would delete, and why it does not; empty if the session deletes them on its own.
	Why string
	// Released counts the user's requests to delete them.
	Released int
}

// PruneGuardChanged reports that a session keeps the objects that the Tiltfile no longer declares, because there are many. An empty
// Why means that it no longer keeps them.
type PruneGuardChanged struct{ Why string }

// PruneAllowed is the user's request to delete all that the Tiltfile no longer declares.
type PruneAllowed struct{}

func init() {
	store.On(Sessions, func(d *store.Draft[Session], a PruneGuardChanged) {
		d.Update(Only, func(s Session) Session {
			s.PruneGuard.Why = a.Why
			return s
		})
	})
	store.On(Sessions, func(d *store.Draft[Session], _ PruneAllowed) {
		d.Update(Only, func(s Session) Session {
			s.PruneGuard.Released++
			return s
		})
	})
}
