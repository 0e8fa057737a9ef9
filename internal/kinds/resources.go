package kinds

import (
	"slices"

	"github.com/hone-dev/hone/internal/buildcontrol"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/model"
)

// row is a resource with all that belongs to it. Nothing in it may be changed.
type row struct {
	*store.Entry[state.Resource]
	update *store.Entry[state.Update]
	pods   []*store.Entry[state.Pod]
	hold   *buildcontrol.Hold
	// digests of what belongs to the resource.
	podsMade, servicesMade, forwardsMade, objectsMade digest
	services                                          []*store.Entry[model.Service]
	forwards                                          []*store.Entry[state.Forward]
}

// part is something that belongs to resources.
type part uint8

const (
	withPods part = 1 << iota
	withServices
	withForwards
	withObjects
	withHolds
)

var noUpdate = &store.Entry[state.Update]{}

// rowsOf returns the resources that there are, in the order of their names, with the parts that are asked for.
func rowsOf(v store.View, parts part) []row {
	entries, updates := state.Resources.In(v), slices.Collect(state.Updates.In(v).Refs())
	out := make([]row, 0, entries.Len())
	for e := range entries.Refs() { // both tables are in the order of their ids
		for len(updates) > 0 && updates[0].ID < e.ID {
			updates = updates[1:]
		}
		r := row{Entry: e, update: noUpdate}
		if len(updates) > 0 && updates[0].ID == e.ID {
			r.update = updates[0]
		}
		out = append(out, r)
	}
	if parts != 0 {
		attach(v, out, parts)
	}
	return out
}

// attach puts the parts of resources to them.
func attach(v store.View, rows []row, parts part) {
	byName := make(map[model.ManifestName]*row, len(rows))
	for i := range rows {
		byName[model.ManifestName(rows[i].ID)] = &rows[i]
	}
	if parts&withPods != 0 {
		for e := range state.Pods.In(v).Refs() {
			if r := byName[e.Value.Resource]; r != nil {
				r.pods, r.podsMade = append(r.pods, e), r.podsMade.entry(&e.Meta)
			}
		}
	}
	if parts&withServices != 0 {
		for e := range state.Services.In(v).Refs() {
			if r := byName[e.Value.Resource]; r != nil {
				r.services, r.servicesMade = append(r.services, e), r.servicesMade.entry(&e.Meta)
			}
		}
	}
	if parts&withForwards != 0 {
		for e := range state.Forwards.In(v).Refs() {
			if r := byName[e.Value.Resource]; r != nil {
				r.forwards, r.forwardsMade = append(r.forwards, e), r.forwardsMade.entry(&e.Meta)
			}
		}
	}
	if parts&withObjects != 0 {
		for e := range state.Objects.In(v).Refs() {
			if r := byName[e.Value.Resource]; r != nil {
				r.objectsMade = r.objectsMade.entry(&e.Meta)
			}
		}
	}
	if parts&withHolds != 0 {
		for name, hold := range buildcontrol.Decide(v, nil).Holds {
			if r := byName[name]; r != nil {
				r.hold = &hold
			}
		}
	}
}

// made sums up the resource and its update.
func (r *row) made() digest { return digest(0).entry(&r.Meta).entry(&r.update.Meta) }

// holdMade sums up why it waits.
func (r *row) holdMade() digest {
	d := digest(0)
	if r.hold != nil {
		d = d.word(string(r.hold.Reason))
		for _, n := range r.hold.On {
			d = d.word(string(n))
		}
	}
	return d
}

// sortedPods are the pods, current ones first, newer before older.
func (r *row) sortedPods() []state.Pod {
	out := make([]state.Pod, len(r.pods))
	for i, e := range r.pods {
		out[i] = e.Value
	}
	state.SortPods(out)
	return out
}

// perResource lists an object per resource that has one. What create makes is made of the resource, its update, and what
// more adds.
func perResource[O Object](v store.View, kind string, parts part, has func(*row) bool, more func(*row) digest, create func(*source, *row) O) []Item {
	s := sourceOf(v)
	rows := rowsOf(v, parts)
	out := make([]Item, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		if has != nil && !has(r) {
			continue
		}
		made := r.made()
		if more != nil {
			made = made.number(uint64(more(r)))
		}
		out = append(out, item(s, kind, r.ID, made, func() O { return create(s, r) }))
	}
	return out
}
