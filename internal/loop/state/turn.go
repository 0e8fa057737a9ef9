package state

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
)

// Turn is another process that deploys the project now. No update begins before it has ended.
type Turn struct {
	ID uint64
	// By is who it is, for people: "hone ci (pid 42)".
	By string
	// Since is the time at which it asked for the turn.
	Since time.Time
}

// TurnTaken reports that another process wants to deploy the project: no update begins from now on, and those that run end first.
type TurnTaken struct {
	ID uint64
	By string
}

// TurnEnded reports that the process of a turn has ended, or has lost its connection.
type TurnEnded struct{ ID uint64 }

func init() {
	store.On(Sessions, func(d *store.Draft[Session], a TurnTaken) {
		d.Update(Only, func(s Session) Session {
			s.Turns = append(slices.Clip(s.Turns), Turn{ID: a.ID, By: a.By, Since: d.Now()})
			return s
		})
	})
	store.On(Sessions, func(d *store.Draft[Session], a TurnEnded) {
		d.Update(Only, func(s Session) Session {
			s.Turns = slices.DeleteFunc(slices.Clone(s.Turns), func(t Turn) bool { return t.ID == a.ID })
			return s
		})
	})
}
