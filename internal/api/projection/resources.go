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
	// outdated is set for a test whose verdict is about older files, if the row has holds.
	outdated bool

	pods     *state.Group[state.Pod]
	services *state.Group[model.Service]
	forwards *state.Group[state.Forward]
	objects  *state.Group[model.ObjectStatus]
}

// groupMade returns the digest of the entries in a group.
func groupMade[T any](g *state.Group[T]) (d digest) {
	for _, e := range g.Entries() {
		d = d.entry(&e.Meta)
	}
	return d
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
		attach(v, out, state.PodsByResource, func(r *row) **state.Group[state.Pod] { return &r.pods })
	}
	if parts&withServices != 0 {
		attach(v, out, state.ServicesByResource, func(r *row) **state.Group[model.Service] { return &r.services })
	}
	if parts&withForwards != 0 {
		attach(v, out, state.ForwardsByResource, func(r *row) **state.Group[state.Forward] { return &r.forwards })
	}
	if parts&withObjects != 0 {
		attach(v, out, state.ObjectsByResource, func(r *row) **state.Group[model.ObjectStatus] { return &r.objects })
	}
	if parts&withHolds != 0 {
		attachHolds(v, out)
	}
	return out
}

// attach adds the entries of a table to the resources that they belong to.
func attach[T any](v store.View, rows []row, from state.ByResource[T], to func(*row) **state.Group[T]) {
	forEach(rows, from.In(v), func(r *row, b *state.Group[T]) { *to(r) = b })
}

func attachHolds(v store.View, rows []row) {
	plan := buildcontrol.Decide(v, nil)
	forEach(rows, plan.Holds, func(r *row, h buildcontrol.Hold) { r.hold = &h })
	forEach(rows, plan.Outdated, func(r *row, outdated bool) {
		r.outdated = outdated
		r.head = &head{r.name, r.local, r.made.word("outdated")}
	})
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

// last returns the past build that determines the state of the resource.
func (r *row) last() (state.Build, bool) {
	if r.outdated {
		return state.Build{}, false
	}
	return r.update.Value.Last()
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
		if on := r.Value.Manifest.Cluster(); on != "" {
			made = made.word(clusterObject(v, on))
		}
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
