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
	hold   *buildcontrol.Hold

	pods     *belongings[state.Pod]
	services *belongings[model.Service]
	forwards *belongings[state.Forward]
	objects  *belongings[model.ObjectStatus]
}

// belongings are the entries of a table that belong to one resource, in the order of their ids, and what sums them up. Nil
// are none.
type belongings[T any] struct {
	entries []*store.Entry[T]
	digest  digest
}

func (b *belongings[T]) all() []*store.Entry[T] {
	if b == nil {
		return nil
	}
	return b.entries
}

func (b *belongings[T]) made() digest {
	if b == nil {
		return 0
	}
	return b.digest
}

// byResource groups the entries of a table by resource.
func byResource[T any](t *store.Table[T], of func(*T) model.ManifestName) *store.Derived[map[model.ManifestName]*belongings[T]] {
	return store.Derive(state.Schema, t.Name()+" by resource, for objects", func(v store.View) map[model.ManifestName]*belongings[T] {
		out := map[model.ManifestName]*belongings[T]{}
		for e := range t.In(v).Refs() {
			name := of(&e.Value)
			b := out[name]
			if b == nil {
				b = &belongings[T]{}
				out[name] = b
			}
			b.entries, b.digest = append(b.entries, e), b.digest.entry(&e.Meta)
		}
		return out
	}, t)
}

var (
	podsOf     = byResource(state.Pods, func(p *state.Pod) model.ManifestName { return p.Resource })
	servicesOf = byResource(state.Services, func(s *model.Service) model.ManifestName { return s.Resource })
	forwardsOf = byResource(state.Forwards, func(f *state.Forward) model.ManifestName { return f.Resource })
	objectsOf  = byResource(state.Objects, func(o *model.ObjectStatus) model.ManifestName { return o.Resource })
)

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

// rowsOf returns the resources that there are, in the order of their names, with the parts that are asked for. Whoever keeps
// one of them copies it, so as not to keep all.
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
	if parts&withPods != 0 {
		attach(v, out, podsOf, func(r *row) **belongings[state.Pod] { return &r.pods })
	}
	if parts&withServices != 0 {
		attach(v, out, servicesOf, func(r *row) **belongings[model.Service] { return &r.services })
	}
	if parts&withForwards != 0 {
		attach(v, out, forwardsOf, func(r *row) **belongings[state.Forward] { return &r.forwards })
	}
	if parts&withObjects != 0 {
		attach(v, out, objectsOf, func(r *row) **belongings[model.ObjectStatus] { return &r.objects })
	}
	if parts&withHolds != 0 {
		attachHolds(v, out)
	}
	return out
}

// attach puts the entries of a table to the resources that they belong to.
func attach[T any](v store.View, rows []row, from *store.Derived[map[model.ManifestName]*belongings[T]], to func(*row) **belongings[T]) {
	all := from.In(v)
	if len(all) == 0 {
		return
	}
	for i := range rows {
		*to(&rows[i]) = all[model.ManifestName(rows[i].ID)]
	}
}

func attachHolds(v store.View, rows []row) {
	holds := buildcontrol.Decide(v, nil).Holds
	if len(holds) == 0 {
		return
	}
	for i := range rows {
		if hold, ok := holds[model.ManifestName(rows[i].ID)]; ok {
			rows[i].hold = &hold
		}
	}
}

// made sums up the resource and its update.
func (r *row) made() digest { return digest(0).same(&r.Meta).same(&r.update.Meta) }

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
	out := make([]state.Pod, len(r.pods.all()))
	for i, e := range r.pods.all() {
		out[i] = e.Value
	}
	state.SortPods(out)
	return out
}

// perResource lists an object per resource that has one. What create makes is made of the resource, its update, and what
// more adds.
func perResource[O Object](v store.View, kind string, parts part, has func(*row) bool, more func(*row) digest, create func(*source, *row) O) []Item {
	all := &resourceObjects[O]{sourceOf(v), kind, create}
	rows := rowsOf(v, parts)
	out, makers := make([]Item, 0, len(rows)), make([]resourceObject[O], len(rows))
	for i := range rows {
		r := &rows[i]
		if has != nil && !has(r) {
			continue
		}
		made := r.made()
		if more != nil {
			made = made.number(uint64(more(r)))
		}
		makers[i] = resourceObject[O]{all, r}
		out = append(out, Item{Name: r.ID, Key: Key{made: made, secrets: all.source.secrets}, Maker: &makers[i]})
	}
	return out
}

// resourceObjects is what the objects of a kind have in common that resources have.
type resourceObjects[O Object] struct {
	source *source
	kind   string
	create func(*source, *row) O
}

// resourceObject is that of one resource.
type resourceObject[O Object] struct {
	*resourceObjects[O]
	row *row
}

// Make implements Maker.
func (m *resourceObject[O]) Make() Object {
	return finish(m.source, m.kind, m.row.ID, m.create(m.source, m.row))
}

// Alone implements Maker.
func (m *resourceObject[O]) Alone() Maker {
	r := *m.row
	return &resourceObject[O]{m.resourceObjects, &r}
}
