package state

import (
	"slices"
	"time"
)

// keptWaits is how many of the newest waits of a resource are kept: more than a person saves in a day.
const keptWaits = 1000

// Wait is how long a save took until it ran.
type Wait struct {
	// Serial is the number of the build that included the save, and Saved when the newest of its files was made.
	Serial int
	Saved  time.Time
	// Took lasts until it ran in the slowest container, until what was deployed was ready, or until the command had run.
	Took time.Duration
	// InPlace is set if running containers were updated.
	InPlace bool
}

// savedBefore returns when the newest save up to a time was made; zero if that is unknown.
func (f Files) savedBefore(at time.Time) time.Time {
	for i := len(f.Saves) - 1; i >= 0; i-- {
		if !f.Saves[i].At.After(at) {
			return f.Saves[i].Made
		}
	}
	return time.Time{}
}

// waited records the wait for a build that has succeeded. The slice is replaced, never written to.
func (h *History) waited(b Build) {
	if b.Saved.IsZero() || len(b.Files) == 0 || b.Err != "" || b.Cancelled {
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

// waitedUntil extends the wait for a build until what it has deployed was ready.
func (h *History) waitedUntil(b Build) {
	i := slices.IndexFunc(h.Waits, func(w Wait) bool { return w.Serial == b.Serial })
	if i < 0 {
		return
	}
	h.Waits = slices.Clone(h.Waits)
	h.Waits[i].Took = max(b.ReadyAt.Sub(h.Waits[i].Saved), h.Waits[i].Took)
}
