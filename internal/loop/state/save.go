package state

import (
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// keptSaves is how many of the newest saves of a resource are remembered, for the updates that take them in.
const keptSaves = 64

// Save is how files that changed together came to be known.
type Save struct {
	// At is the time under which the store has them, in Changes or Noticed.
	At time.Time
	// Made is when the newest of them was made, and Known when hone's watcher noticed it.
	Made, Known time.Time
}

// saved remembers a save. The slice in u is replaced, never written to.
func (u Update) saved(s Save) Update {
	if s.Made.IsZero() {
		return u
	}
	old := u.Saves[max(0, len(u.Saves)-keptSaves+1):]
	u.Saves = append(old[:len(old):len(old)], s)
	return u
}

// SaveOf returns the newest save among the given files, the zero value when that is not known.
func (u Update) SaveOf(files []string) Save {
	var newest time.Time
	for _, targets := range []map[model.TargetID]Changes{u.Changes, u.Noticed} {
		for _, changes := range targets {
			for _, f := range files {
				if at, _ := changes.At(f); at.After(newest) {
					newest = at
				}
			}
		}
	}
	for i := len(u.Saves) - 1; i >= 0; i-- {
		if u.Saves[i].At.Equal(newest) {
			return u.Saves[i]
		}
	}
	return Save{}
}
