package projection

import (
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// row is a resource with everything that belongs to it. It must not be changed.
type row struct {
	*head
	*store.Entry[state.Resource]
	update *store.Entry[state.Update]
	hold   *buildcontrol.Hold

	pods     *belongings[state.Pod]
	services *belongings[model.Service]
	forwards *belongings[state.Forward]
	objects  *belongings[model.ObjectStatus]
}

// belongings are the entries of a table that belong to one resource, sorted by id, with their digest. Nil means none.
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
	syncletsOf = byResource(state.Synclets, func(s *state.Synclet) model.ManifestName { return s.Resource })
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

// head is the data of a resource for listing its objects.
type head struct {
	name  string
	local bool
	// made is the digest of the resource and its update.
	made digest
}

var heads = state.EachUpdating("list of resources", func(u state.Updating) head {
	return head{u.ID, u.Value.Manifest.IsLocal(), digest(0).same(&u.Meta).same(&u.Updates.Meta)}
})

// rowsOf returns all resources, sorted by name, with the requested parts. Callers that keep a row must copy it, so that it
// does not keep all rows alive.
func rowsOf(v store.View, parts part) []row {
	all, heads := heads.In(v)
	out := make([]row, len(all))
	for i := range all {
		out[i] = row{head: &heads[i], Entry: all[i].Entry, update: all[i].Updates}
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

// attach adds the entries of a table to the resources that they belong to.
func attach[T any](v store.View, rows []row, from *store.Derived[map[model.ManifestName]*belongings[T]], to func(*row) **belongings[T]) {
	forEach(rows, from.In(v), func(r *row, b *belongings[T]) { *to(r) = b })
}

func attachHolds(v store.View, rows []row) {
	forEach(rows, buildcontrol.Decide(v, nil).Holds, func(r *row, h buildcontrol.Hold) { r.hold = &h })
}

// forEach calls do for each row whose resource has belongings.
func forEach[T any](rows []row, belongings map[model.ManifestName]T, do func(*row, T)) {
	if len(belongings) < len(rows)/16 { // searching the rows for few names is cheaper than looking up every row
		for name, b := range belongings {
			i, ok := slices.BinarySearchFunc(rows, string(name), func(r row, name string) int { return strings.Compare(r.name, name) })
			if ok {
				do(&rows[i], b)
			}
		}
		return
	}
	for i := range rows {
		if b, ok := belongings[model.ManifestName(rows[i].name)]; ok {
			do(&rows[i], b)
		}
	}
}

// holdMade returns a digest of the reason why the resource waits.
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

// sortedPods returns the pods, current ones first, newer before older.
func (r *row) sortedPods() []state.Pod {
	out := make([]state.Pod, len(r.pods.all()))
	for i, e := range r.pods.all() {
		out[i] = e.Value
	}
	state.SortPods(out)
	return out
}

// perResource lists one object for each resource that has accepts; a nil has accepts all. The object depends on the resource,
// its update, and everything that more adds to the digest.
func perResource[O Object](v store.View, kind string, parts part, has func(*row) bool, more func(*row) digest, create func(*source, *row) O) []Item {
	all := &resourceObjects[O]{sourceOf(v), kind, create}
	rows := rowsOf(v, parts)
	out, makers := make([]Item, 0, len(rows)+1), make([]resourceObject[O], len(rows))
	for i := range rows {
		r := &rows[i]
		if has != nil && !has(r) {
			continue
		}
		made := r.made
		if more != nil {
			made = made.number(uint64(more(r)))
		}
		makers[i] = resourceObject[O]{all, r}
		out = append(out, Item{Name: r.name, Key: Key{made: made, secrets: all.source.secrets}, Maker: &makers[i]})
	}
	return out
}

// resourceObjects is the common part of the objects of one kind that resources have.
type resourceObjects[O Object] struct {
	source *source
	kind   string
	create func(*source, *row) O
}

// resourceObject is the object of one resource.
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
	r, h := *m.row, *m.row.head
	r.head = &h
	return &resourceObject[O]{m.resourceObjects, &r}
}
