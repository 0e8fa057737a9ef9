package state

import (
	"cmp"
	"slices"
	"time"
)

// keptWaits is the number of the newest waits of a resource that are kept: more than a person saves in a day.
const keptWaits = 1000

// Wait is the wait from a save until it ran.
type Wait struct {
	// Serial is the number of the build that included the save, and Saved the time at which the newest of its files was saved, or at
	// which the user let it run.
	Serial int
	Saved  time.Time
	// Took is the time until it ran in the slowest container, until the deployed objects were ready, or until the command had run.
	Took time.Duration
	// InPlace is set if running containers were updated.
	InPlace bool
}

// SavedBefore returns when the newest save up to a time was made; zero if that is unknown.
func (f Files) SavedBefore(at time.Time) time.Time {
	for i := len(f.Saves) - 1; i >= 0; i-- {
		if !f.Saves[i].At.After(at) {
			return f.Saves[i].Made
		}
	}
	return time.Time{}
}

// SavedAt returns when the newest save was made; zero if there was none.
func (f Files) SavedAt() time.Time {
	if n := len(f.Saves); n > 0 {
		return f.Saves[n-1].Made
	}
	return time.Time{}
}

// LetAt returns the time at which the user let a save from the given time run: the newest request or consent since then; zero if
// it needed none. The time that a person waits before that is not part of the update's duration.
func (a Asked) LetAt(saved time.Time) time.Time {
	let := a.Triggered
	if a.Confirmed.After(let) {
		let = a.Confirmed
	}
	if !let.After(saved) {
		return time.Time{}
	}
	return let
}

// runsFrom returns the time from which the newest save before the given time could run; zero if that is unknown.
func (u Update) runsFrom(at time.Time) time.Time {
	saved := u.SavedBefore(at)
	let := u.LetAt(saved)
	if saved.IsZero() || let.After(at) {
		return saved
	}
	return cmp.Or(let, saved)
}

// waited records the wait for a build that has succeeded and made its files run. The slice is replaced, never written to.
func (h *History) waited(b Build) {
	without := b.Cancelled || b.BuildOnly || b.Err != ""
	if without || b.Saved.IsZero() || len(b.Files) == 0 {
		return
	}
	w := Wait{Serial: b.Serial, Saved: b.Saved, Took: b.FinishedAt.Sub(b.Saved), InPlace: b.InPlace()}
	for i, c := range b.Containers {
		if total := c.Stages.Total(); i == 0 || total > w.Took {
			w.Took = total
		}
	}
	w.Took = max(w.Took, 0)
	h.Waits = append(slices.Clip(h.Waits[max(0, len(h.Waits)-keptWaits+1):]), w)
}

// waitedUntil extends the wait for a build until its deploy was ready.
func (h *History) waitedUntil(b Build) {
	i := slices.IndexFunc(h.Waits, func(w Wait) bool { return w.Serial == b.Serial })
	if i < 0 {
		return
	}
	h.Waits = slices.Clone(h.Waits)
	h.Waits[i].Took = max(b.ReadyAt.Sub(h.Waits[i].Saved), h.Waits[i].Took)
}
