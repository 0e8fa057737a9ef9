package buildcontroller

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// holding records which resources wait, so that changes can be reported to the store.
type holding map[model.ManifestName]held

// held is a hold, and since when it has lasted.
type held struct {
	buildcontrol.Hold
	since time.Time
}

// changes records the holds of a plan for v and returns the changes, in the order of the Tiltfile.
func (h holding) changes(v store.View, plan buildcontrol.Plan) []state.HoldChange {
	if len(h) == 0 && len(plan.Holds) == 0 {
		return nil
	}
	var out []state.HoldChange
	for name, was := range h {
		if now, ok := plan.Holds[name]; !ok || !waits(now) {
			out = append(out, was.changed(name, buildcontrol.Hold{}, v.At))
			delete(h, name)
		}
	}
	for name, now := range plan.Holds {
		was := h[name]
		if !waits(now) || was.same(now) {
			continue
		}
		out = append(out, was.changed(name, now, v.At))
		h[name] = held{now, v.At}
	}
	slices.SortFunc(out, func(a, b state.HoldChange) int {
		return state.Resources.In(v).Value(string(a.Resource)).Order - state.Resources.In(v).Value(string(b.Resource)).Order
	})
	return out
}

// same reports whether a resource still waits for the same.
func (was held) same(now buildcontrol.Hold) bool {
	if (now.Reason == buildcontrol.HoldDep || now.Reason == buildcontrol.HoldNewest) && !slices.Equal(was.On, now.On) {
		return false
	}
	return was.Reason == now.Reason && was.Detail == now.Detail
}

// waits reports whether a hold means that something else has to happen first: a resource that is being updated or removed
// does not wait.
func waits(h buildcontrol.Hold) bool {
	return h.Reason != buildcontrol.HoldBuilding && h.Reason != buildcontrol.HoldTeardown
}

// changed returns the change from one hold to another; the zero Hold is none.
func (was held) changed(name model.ManifestName, now buildcontrol.Hold, at time.Time) state.HoldChange {
	c := state.HoldChange{Resource: name, Reason: string(now.Reason), Was: string(was.Reason), On: now.On}
	if now.Reason != "" {
		c.Text = now.String()
	}
	if was.Reason != "" {
		c.For = at.Sub(was.since)
	}
	return c
}
