package state

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
)

// DeployLock is held by another process that deploys the project now. No update begins before it has ended.
type DeployLock struct {
	ID uint64
	// By is who it is, for people: "hone ci (pid 42)".
	By string
	// Since is the time at which it asked for the lock.
	Since time.Time
}

// DeployLockTaken reports that another process wants to deploy the project: no update begins from now on, and those that run end first.
type DeployLockTaken struct {
	ID uint64
	By string
}

// DeployLockReleased reports that the process of a lock has ended, or has lost its connection.
type DeployLockReleased struct{ ID uint64 }

func init() {
	store.On(Sessions, func(d *store.Draft[Session], a DeployLockTaken) {
		d.Update(Only, func(s Session) Session {
			s.DeployLocks = append(slices.Clip(s.DeployLocks), DeployLock{ID: a.ID, By: a.By, Since: d.Now()})
			return s
		})
	})
	store.On(Sessions, func(d *store.Draft[Session], a DeployLockReleased) {
		d.Update(Only, func(s Session) Session {
			s.DeployLocks = slices.DeleteFunc(slices.Clone(s.DeployLocks), func(t DeployLock) bool { return t.ID == a.ID })
			return s
		})
	})
}
