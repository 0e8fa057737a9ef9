package model

import (
	"iter"
	"slices"
)

// Effort is the most that changed files require until they run in a container. The values are in order.
type Effort int

// The efforts.
const (
	// EffortCopy requires no more than a copy. Nothing at all requires no more, either.
	EffortCopy Effort = iota
	// EffortSteps requires a copy and then commands, or a restart.
	EffortSteps
	// EffortImage requires a new image, or the deploy command again: the files do not fit the live update.
	EffortImage
)

// Effort is the effort for one changed file, as far as its path tells: a copy needs a file below a sync and not below a
// stop path. liveupdate.Make finds out from the file itself whether it can be copied.
func (l LiveUpdate) Effort(path string) Effort {
	synced := slices.ContainsFunc(l.Syncs, func(s Sync) bool { return IsChild(s.LocalPath, path) })
	if !synced || slices.ContainsFunc(l.StopPaths, func(p string) bool { return IsChild(p, path) }) {
		return EffortImage
	}
	runs := slices.ContainsFunc(l.Runs, func(r Run) bool { return len(r.Triggers) == 0 || anyTriggered(r.Triggers, path) })
	if runs || l.RestartContainer || l.RestartProcess.Due(path) {
		return EffortSteps
	}
	return EffortCopy
}

// Takes reports whether a change of a file can be made in a running container.
func (l LiveUpdate) Takes(path string) bool { return l.Effort(path) < EffortImage }

// MostEffort returns the most that any of the files requires.
func (l LiveUpdate) MostEffort(files iter.Seq[string]) (most Effort) {
	for f := range files {
		if most = max(most, l.Effort(f)); most == EffortImage {
			break
		}
	}
	return most
}
