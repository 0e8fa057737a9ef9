package state

import "github.com/hone-dev/hone/internal/loop/store"

// Brake is what keeps a session from deleting what the Tiltfile no longer declares.
type Brake struct {
	// Why is what it would delete, and why it does not; empty if it deletes on its own.
	Why string
	// Released counts how often the user has asked to delete it.
	Released int
}

// BrakeChanged reports that a session keeps what the Tiltfile no longer declares, because it is much; with an empty Why, that it does
// not keep it any more.
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
