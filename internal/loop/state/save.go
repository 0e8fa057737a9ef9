package state

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// keptSaves is the number of the newest saves of a resource that are kept, for the updates that include them.
const keptSaves = 64

// Save records when files that changed together were made and noticed.
type Save struct {
	// At is the time under which the store has them, in Changes or Noticed.
	At time.Time
	// Made is the time of the newest of the changes, and Known the time at which hone's watcher noticed it.
	Made, Known time.Time
}

// saved records a save. The slice is replaced, never written to.
func (f *Files) saved(s Save) {
	if s.Made.IsZero() {
		return
	}
	old := f.Saves[max(0, len(f.Saves)-keptSaves+1):]
	f.Saves = append(slices.Clip(old), s)
}

// SaveOf returns the newest save among the given files, the zero value if unknown.
func (f Files) SaveOf(files []string) Save {
	var newest time.Time
	for _, targets := range []map[model.TargetID]Changes{f.Changes, f.Noticed} {
		for _, changes := range targets {
			for _, path := range files {
				if at, _ := changes.At(path); at.After(newest) {
					newest = at
				}
			}
		}
	}
	for i := len(f.Saves) - 1; i >= 0; i-- {
		if f.Saves[i].At.Equal(newest) {
			return f.Saves[i]
		}
	}
	return Save{}
}
