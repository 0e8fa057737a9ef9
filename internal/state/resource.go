package state

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Resource is an entry of table resources; its id is the manifest's name.
type Resource struct {
	Manifest model.Manifest
	// Order is the place in the Tiltfile.
	Order int
	// Enabled is false for a resource that is switched off, by the Tiltfile's arguments ("hone up NAME") or by the user:
	// nothing acts on it.
	Enabled bool
	// Switch is the user's own word on that.
	Switch Switch
	// Mode, unless nil, is the trigger mode that the user chose; the manifest has it in the place of the Tiltfile's.
	Mode *model.TriggerMode
	// Next is what to come back as, for one that is being torn down because it is switched off, or that was declared again
	// meanwhile.
	Next *Resource
}

// ResourcesTriggered is the user's wish to update resources now; (Tiltfile) evaluates the Tiltfile.
type ResourcesTriggered struct{ Names []model.ManifestName }

func init() {
	store.On(Resources, func(d *store.Draft[Resource], a TiltfileLoaded) {
		if a.Err == "" {
			declare(d, a.Result)
		}
	})
	store.OnDestroy(Resources, func(d *store.Draft[Resource], gone store.Entry[Resource]) {
		if next := gone.Value.Next; next != nil {
			d.PutOwned(gone.ID, tiltfileOwner, labelsOf(next.Manifest), *next)
		}
	})
}

// declare makes the table hold what the Tiltfile declares: new and changed manifests are put, missing ones torn down.
func declare(d *store.Draft[Resource], tf model.Tiltfile) {
	chosen := EnabledNames(tf)
	declared := map[string]bool{}
	for i, m := range tf.Manifests {
		id := string(m.Name)
		declared[id] = true
		become(d, id, d.Value(id).coming().redeclared(m, i, chosen == nil || chosen[m.Name]))
	}
	for e := range d.All() {
		if declared[e.ID] {
			continue
		}
		if e.Value.Next != nil {
			e.Value.Next = nil
			d.Put(e.ID, e.Value)
		}
		d.Teardown(e.ID)
	}
}

// redeclared takes in a declaration. What the user chose stays.
func (r Resource) redeclared(m model.Manifest, order int, chosen bool) Resource {
	r.Manifest, r.Order, r.Enabled = m, order, r.Switch.enables(chosen)
	if r.Mode != nil {
		r.Manifest.TriggerMode = *r.Mode
	}
	return r
}

func labelsOf(m model.Manifest) map[string]string {
	if len(m.Labels) == 0 {
		return nil
	}
	l := make(map[string]string, len(m.Labels))
	for _, label := range m.Labels {
		l[label] = label
	}
	return l
}

// EnabledNames returns the resources that the Tiltfile's result enables: the chosen ones, what they depend on, and
// uncategorized. Nil means all.
func EnabledNames(tf model.Tiltfile) map[model.ManifestName]bool {
	if tf.Enabled == nil {
		return nil
	}
	byName := map[model.ManifestName]model.Manifest{}
	for _, m := range tf.Manifests {
		byName[m.Name] = m
	}
	on := map[model.ManifestName]bool{}
	var visit func(n model.ManifestName)
	visit = func(n model.ManifestName) {
		if on[n] {
			return
		}
		on[n] = true
		for _, dep := range byName[n].ResourceDeps {
			visit(dep)
		}
	}
	for _, n := range tf.Enabled {
		visit(n)
	}
	visit(model.UncategorizedName)
	return on
}

// NeedsCluster reports whether a resource is deployed to the cluster, so that it matters whether that answers.
func NeedsCluster(v store.View) bool { return needs.In(v).cluster }

// NeedsEngine reports whether the container engine builds an image or runs a service of Compose, so that it matters whether that answers.
func NeedsEngine(v store.View) bool { return needs.In(v).engine }

var needs = store.Derive(Schema, "what resources need", func(v store.View) (n struct{ cluster, engine bool }) {
	for e := range Enabled(v) {
		m := &e.Value.Manifest
		n.cluster = n.cluster || m.IsK8s()
		n.engine = n.engine || m.IsCompose() || slices.ContainsFunc(m.Images, func(im model.ImageTarget) bool { return im.Docker != nil })
	}
	return n
}, Resources)

// Leaving returns the resources that are being torn down and that the named subscriber still holds.
func Leaving(v store.View, finalizer string) []store.Entry[Resource] {
	var out []store.Entry[Resource]
	for _, e := range leaving.In(v) {
		if slices.Contains(e.Finalizers, finalizer) {
			out = append(out, *e)
		}
	}
	return out
}

var leaving = store.Derive(Schema, "resources that are being torn down", func(v store.View) (out []*store.Entry[Resource]) {
	for e := range Resources.In(v).Refs() {
		if e.Phase == store.TearingDown {
			out = append(out, e)
		}
	}
	return out
}, Resources)

// InOrder returns the resources in the order of the Tiltfile, those that are being torn down last, without those that are
// switched off.
func InOrder(v store.View) []store.Entry[Resource] {
	refs := Ordered(v)
	out := make([]store.Entry[Resource], len(refs))
	for i, e := range refs {
		out[i] = *e
	}
	return out
}

// Ordered is InOrder without copies, for those who ask after every change: neither the slice nor the entries must be
// changed.
func Ordered(v store.View) []*store.Entry[Resource] { return ordered.In(v) }

var ordered = store.Derive(Schema, "resources in order", func(v store.View) []*store.Entry[Resource] {
	all := slices.AppendSeq(make([]*store.Entry[Resource], 0, Resources.In(v).Len()), Enabled(v))
	return inOrder(all, Resources.In(v).Len(), func(e *store.Entry[Resource]) *store.Entry[Resource] { return e })
}, Resources)

// Updating is a resource with its entry in table updates. Neither must be changed.
type Updating struct {
	*store.Entry[Resource]
	// Update is never nil.
	Update *Update
}

// OrderedUpdates is Ordered with the updates, which it finds quicker than one look-up after the other would.
func OrderedUpdates(v store.View) []Updating { return orderedUpdates.In(v) }

var orderedUpdates = store.Derive(Schema, "updates in order", func(v store.View) []Updating {
	rows, updates := Resources.In(v), slices.Collect(Updates.In(v).Refs())
	all, none := make([]Updating, 0, rows.Len()), &Update{}
	for e := range Enabled(v) { // both tables are in the order of their ids
		for len(updates) > 0 && updates[0].ID < e.ID {
			updates = updates[1:]
		}
		u := none
		if len(updates) > 0 && updates[0].ID == e.ID {
			u = &updates[0].Value
		}
		all = append(all, Updating{e, u})
	}
	return inOrder(all, rows.Len(), func(u Updating) *store.Entry[Resource] { return u.Entry })
}, Resources, Updates)

// last is 1 for a resource that comes after those for which it is 0.
func last(e *store.Entry[Resource]) int {
	if e.Phase == store.TearingDown {
		return 1
	}
	return 0
}

// inOrder puts what stands for resources into the order of the Tiltfile, of which there are n in all; those that are being
// torn down come last. Nearly all have a place of their own, which is quicker than sorting: that is for the others.
func inOrder[T any](all []T, n int, of func(T) *store.Entry[Resource]) []T {
	places := make([]int, n) // the index in all, and one
	var others []T
	for i, x := range all {
		e := of(x)
		if at := e.Value.Order; e.Phase == store.Running && at >= 0 && at < n && places[at] == 0 {
			places[at] = i + 1
		} else {
			others = append(others, x)
		}
	}
	out := make([]T, 0, len(all))
	for _, i := range places {
		if i > 0 {
			out = append(out, all[i-1])
		}
	}
	if len(others) == 0 {
		return out
	}
	out = append(out, others...)
	slices.SortFunc(out, func(x, y T) int {
		a, b := of(x), of(y)
		return cmp.Or(last(a)-last(b), a.Value.Order-b.Value.Order, strings.Compare(a.ID, b.ID))
	})
	return out
}
