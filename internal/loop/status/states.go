package status

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// All returns the states of the enabled resources, in the order of the Tiltfile. They are shared, and must not be changed.
func All(v store.View) []*Resource { return states.In(v).enabled }

// Disabled returns the disabled resources, in the order of the Tiltfile. They are shared, and must not be changed.
func Disabled(v store.View) []*Resource { return states.In(v).disabled }

// Of returns the state of a resource of a view. It is shared, and must not be changed.
func Of(v store.View, u state.Updating) *Resource {
	if known := states.In(v).of[u.ID]; known != nil && known.basis.updating == u {
		return known.is
	}
	return newBases(v).known(u, nil).is
}

// states are the states of all resources. Each costs about ten microseconds, and a screen shows them 30 times a second while something
// happens: the state of a resource is computed again only if something differs that it is derived from.
var states = store.DeriveFrom(state.Schema, "states of resources", func(v store.View, before *listed) listed {
	if before == nil {
		before = &listed{}
	}
	ordered := state.OrderedUpdates(v)
	b, out := newBases(v), listed{of: make(map[string]*known, len(ordered))}
	add := func(u state.Updating) *Resource {
		k := b.known(u, before.of[u.ID])
		out.of[u.ID] = k
		return k.is
	}
	for _, u := range ordered {
		out.enabled = append(out.enabled, add(u))
	}
	for _, e := range slices.SortedStableFunc(state.Disabled(v), func(x, y *store.Entry[state.Resource]) int { return x.Value.Order - y.Value.Order }) {
		out.disabled = append(out.disabled, add(state.UpdatingOf(v, e)))
	}
	return out
}, blockers)

// listed are the states of resources, in the order of the Tiltfile and by name.
type listed struct {
	enabled, disabled []*Resource
	of                map[string]*known
}

// known is the state of a resource, with all that it was derived from.
type known struct {
	basis   basis
	hold    buildcontrol.Hold
	objects []*store.Entry[model.ObjectStatus]
	is      *Resource
}

// basis determines the state of a resource, together with its hold and the objects that it has applied. A change replaces an entry of a table,
// and the group that the entry belongs to: equal pointers mean that nothing has changed.
type basis struct {
	updating state.Updating
	pods     *state.Group[state.Pod]
	forwards *state.Group[state.Forward]
	services *state.Group[model.Service]
	synclets *state.Group[state.Synclet]
	process  *store.Entry[state.Process]
	restart  *store.Entry[state.Restart]
	drift    *store.Entry[state.Drift]
	// away is set while the cluster or the engine does not answer, since the given time; blind, while a watch does not work.
	away, blind bool
	since       time.Time
	// outdated, held and starting are the resource's part of the plan; asked is set if the user has to confirm its removal.
	outdated, held, starting, asked bool
	blocker                         Blocker
}

// bases finds the bases of resources in a view.
type bases struct {
	view     store.View
	plan     buildcontrol.Plan
	blockers map[model.ManifestName]*Blocker
	leaving  []model.ManifestName // that the user has to confirm
	pods     state.Groups[state.Pod]
	forwards state.Groups[state.Forward]
	services state.Groups[model.Service]
	synclets state.Groups[state.Synclet]
}

func newBases(v store.View) bases {
	return bases{v, buildcontrol.Decide(v, nil), blockers.In(v), state.TheSession(v).Confirmation.Leaving, state.PodsByResource.In(v), state.ForwardsByResource.In(v),
		state.ServicesByResource.In(v), state.SyncletsByResource.In(v)}
}

// known returns the state of a resource: the one before if nothing differs that it was derived from.
func (b bases) known(u state.Updating, before *known) *known {
	is, hold := b.of(u)
	objects := state.Objects.In(b.view)
	if before.stands(is, hold, objects) {
		return before
	}
	k := &known{basis: is, hold: hold}
	for _, a := range u.Update.Applied {
		k.objects = append(k.objects, objects.Ref(a.UID))
	}
	r := of(b.view, u)
	if is.blocker.Name != "" {
		r.Blocker = &is.blocker
		r.Text = r.text()
	}
	k.is = &r
	return k
}

// of returns the basis of a resource, and its hold.
func (b bases) of(u state.Updating) (is basis, hold buildcontrol.Hold) {
	v, m := b.view, &u.Value.Manifest
	is = basis{updating: u, pods: b.pods[m.Name], forwards: b.forwards[m.Name], services: b.services[m.Name], synclets: b.synclets[m.Name],
		process: state.Processes.In(v).Ref(u.ID), restart: state.Restarts.In(v).Ref(u.ID), drift: state.Drifts.In(v).Ref(u.ID), outdated: b.plan.Outdated[m.Name]}
	is.since, is.away = buildcontrol.Away(v, *m)
	_, is.blind = state.Blinding(v, m.Name)
	hold, is.held = b.plan.Holds[m.Name]
	is.starting = !is.held && b.plan.Starts(m.Name)
	is.asked = slices.Contains(b.leaving, m.Name)
	if blocker := b.blockers[m.Name]; blocker != nil {
		is.blocker = *blocker
	}
	return is, hold
}

// stands reports whether the state still follows from a basis, a hold and the objects of a view. With a watch that does not work, it never
// does: its problem is part of the state, and cannot be compared. k may be nil.
func (k *known) stands(is basis, hold buildcontrol.Hold, objects store.Rows[model.ObjectStatus]) bool {
	if k == nil || is.blind {
		return false
	}
	if k.basis != is || !k.hold.Equal(hold) {
		return false
	}
	for i, a := range k.basis.updating.Update.Applied {
		if k.objects[i] != objects.Ref(a.UID) {
			return false
		}
	}
	return true
}
