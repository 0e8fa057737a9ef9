package state

import "github.com/hone-dev/hone/internal/loop/store"

// Brake keeps a session from deleting much at once that the Tiltfile no longer declares.
type Brake struct {
	// Why names the objects that it would delete, and why it does not; empty if the session deletes them on its own.
	Why string
	// Released counts the user's requests to delete them.
	Released int
}

// BrakeChanged reports that a session keeps the objects that the Tiltfile no longer declares, because there are many. An empty
// Why means that it no longer keeps them.
type BrakeChanged struct{ Why string }

// BrakeReleased is the user's request to delete all that the Tiltfile no longer declares.
type BrakeReleased struct{}

func init() {
	store.On(Sessions, func(d *store.Draft[Session], a BrakeChanged) {
		d.Update(Only, func(s Session) Session {
			s.Brake.Why = a.Why
			return s
		})
	})
	store.On(Sessions, func(d *store.Draft[Session], _ BrakeReleased) {
		d.Update(Only, func(s Session) Session {
			s.Brake.Released++
			return s
		})
	})
}
