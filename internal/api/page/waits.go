package page

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// Waits returns the times that saves took until they ran.
func Waits(v store.View) api.Waits {
	out := api.Waits{Resources: []api.ResourceWaits{}}
	var all []time.Duration
	for _, e := range state.WithUpdates(v) {
		list := state.Updates.In(v).Value(e.ID).Waits
		if len(list) == 0 {
			continue
		}
		r := api.ResourceWaits{Resource: e.ID, Saves: len(list)}
		var took []time.Duration
		var total time.Duration
		for _, w := range list {
			took, total = append(took, w.Took), total+w.Took
			if w.InPlace {
				r.InPlace++
			}
			if ms := milliseconds(w.Took); ms > r.Worst || r.WorstUpdate == 0 {
				r.Worst, r.WorstUpdate = ms, w.Serial
			}
		}
		r.Total = milliseconds(total)
		r.Median = milliseconds(median(took))
		out.Worst = max(out.Worst, r.Worst)
		out.Resources = append(out.Resources, r)
		all = append(all, took...)
	}
	out.Saves, out.Median = len(all), milliseconds(median(all))
	return out
}

// median returns the middle of a list, which it sorts; of two middles the longer one.
func median(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}
