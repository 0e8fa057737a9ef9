package state

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// How a resource lives. Three things change an entry: a loaded Tiltfile (declare), the user's switches and modes (revise), and the end of a
// teardown (OnDestroy). The first two compute the intended state and pass it to become, which alone decides what happens to the entry:
//
//	none ──declared──> Running ──left the Tiltfile, or switched off──> TearingDown ──all subscribers have released it──> none
//	                      ↑                                                                                                │
//	                      └──────────────────────── Next, if the resource is to come back ─────────────────────────────────┘
//
// While an entry is torn down, its Manifest and Enabled stay as they were, since the subscribers still need them: each new intention goes
// into Next. A resource that was switched off comes back as a Running entry with Enabled false; one that has left the Tiltfile has no Next,
// and does not come back unless it is declared again. Staying and coming return the intended state, whichever phase the entry is in.
//
// Most of this file prepares answers for readers that ask after every change. Each list is derived from the one before it, and computed
// again only for the entries that have changed:
//
//	resourceList (by name) ──> resourceTraits ──> ordered (as in the Tiltfile), leaving, needs
//	resourceList, Updates  ──> joins ──> withUpdates ──> orderedUpdates
//
// The lists and the entries are shared by all readers, so none may change them.

// Resource is an entry of table resources; its id is the manifest's name.
type Resource struct {
	Manifest model.Manifest
	// Order is the place in the Tiltfile.
	Order int
	// Enabled is false for a resource that is switched off, by the Tiltfile's arguments ("hone up NAME") or by the user:
	// nothing acts on it.
	Enabled bool
	// Switch is the user's own choice.
	Switch Switch
	// Mode, unless nil, is the trigger mode that the user chose; in the manifest it replaces the Tiltfile's.
	Mode *model.TriggerMode
	// Forwards, unless nil, is the user's choice of port forwards; in the manifest it replaces the Tiltfile's.
	Forwards *ForwardChoice
	// Next is the resource's next state, if it is being torn down because it is switched off, or was declared again
	// meanwhile.
	Next *Resource
}

// ResourcesTriggered is the user's request to update resources now; (Tiltfile) evaluates the Tiltfile.
type ResourcesTriggered struct {
	Names []model.ManifestName
	// Rebuild requests updates from scratch: images are built without a cache, and all pods are replaced.
	Rebuild bool
	// Adopt lets the update take over objects of others.
	Adopt bool
	// Known lets the verdict of an earlier run of a test count.
	Known bool
	// By is the name of the token with which the request was made; empty for the owner.
	By string
}

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

// declare makes the table hold the Tiltfile's manifests: new and changed ones are put, missing ones torn down.
func declare(d *store.Draft[Resource], tf model.Tiltfile) {
	chosen := EnabledNames(tf)
	declared := map[string]bool{}
	for i, m := range tf.Manifests {
		id := string(m.Name)
		declared[id] = true
		become(d, id, d.Value(id).coming().redeclared(m, i, chosen == nil || chosen[m.Name]))
	}
	for e := range d.Refs() {
		if declared[e.ID] {
			continue
		}
		if r := e.Value; r.Next != nil {
			r.Next = nil
			d.Put(e.ID, r)
		}
		d.Teardown(e.ID)
	}
}

// redeclared applies a declaration. The user's choices stay.
func (r Resource) redeclared(m model.Manifest, order int, chosen bool) Resource {
	r.Manifest, r.Order, r.Enabled = m, order, r.Switch.enables(chosen)
	if r.Mode != nil {
		r.Manifest.TriggerMode = *r.Mode
	}
	switch {
	case r.Forwards == nil:
	case m.K8s == nil:
		r.Forwards = nil
	default:
		r.forward(r.Forwards.redeclared(m.K8s.PortForwards))
	}
	return r
}

// Declarations returns the manifests of the resources that the user has not switched off, including resources that are only
// left out of this session.
func Declarations(v store.View) []model.Manifest {
	var out []model.Manifest
	for e := range Resources.In(v).Refs() {
		if r, stays := Staying(e); stays && r.Switch != SwitchOff {
			out = append(out, r.Manifest)
		}
	}
	return out
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

// EnabledNames returns the resources that the Tiltfile's result enables: the chosen ones, their dependencies, and uncategorized in each cluster.
// Nil means all.
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
	for _, m := range tf.Manifests {
		if m.Name.Uncategorized() {
			visit(m.Name)
		}
	}
	return on
}

// NeedsCluster reports whether a resource is deployed to a cluster, named as in model.K8sTarget, so that the cluster has to answer.
func NeedsCluster(v store.View, on string) bool { return slices.Contains(NeededClusters(v), on) }

// NeededClusters returns the clusters that have to answer, named as in model.K8sTarget: the session's own first.
func NeededClusters(v store.View) []string { return needs.In(v).clusters }

// NeedsEngine reports whether the container engine builds an image or runs a service of Compose, so that it has to answer.
func NeedsEngine(v store.View) bool { return needs.In(v).engine }

// RunsCompose reports whether the container engine runs a service of Compose, whose state it alone knows.
func RunsCompose(v store.View) bool { return needs.In(v).compose }

var needs = store.Derive(Schema, "what resources need", func(v store.View) (n need) {
	_, traits := resourceTraits.In(v)
	for _, t := range traits {
		if t.enabled && t.cluster && !slices.Contains(n.clusters, t.on) {
			n.clusters = append(n.clusters, t.on)
		}
		n.engine = n.engine || t.enabled && t.engine
		n.compose = n.compose || t.enabled && t.compose
	}
	slices.Sort(n.clusters)
	return n
}, Resources)

// need is everything that has to answer.
type need struct {
	clusters        []string
	engine, compose bool
}

// resourceList are all resources, in the order of their names.
var resourceList = store.Derive(Schema, "resources", func(v store.View) []*store.Entry[Resource] {
	return slices.AppendSeq(make([]*store.Entry[Resource], 0, Resources.In(v).Len()), Resources.In(v).Refs())
}, Resources)

// EachResource derives a value from each resource, in the order of their names; of must depend only on the entry.
func EachResource[V any](name string, of func(*store.Entry[Resource]) V) *store.Each[*store.Entry[Resource], V] {
	return store.DeriveEach(Schema, name, resourceList, of)
}

// trait holds the properties of a resource that are read of all resources after every change.
type trait struct {
	order            int
	enabled, running bool
	// cluster and engine are needed by it while it is enabled.
	cluster, engine bool
	on              string // its cluster, as in model.K8sTarget
	compose         bool   // the engine runs it
}

var resourceTraits = EachResource("traits of resources", traitOf)

func traitOf(e *store.Entry[Resource]) trait {
	m := &e.Value.Manifest
	return trait{order: e.Value.Order, enabled: e.Value.Enabled, running: e.Phase == store.Running, cluster: m.IsK8s(), on: m.Cluster(), compose: m.IsCompose(),
		engine: m.NeedsEngine()}
}

// Leaving returns the resources that are being torn down and that the named subscriber still holds.
func Leaving(v store.View, finalizer string) (out []*store.Entry[Resource]) {
	for _, e := range leaving.In(v) {
		if slices.Contains(e.Finalizers, finalizer) {
			out = append(out, e)
		}
	}
	return out
}

// AnyLeaving reports whether a resource is being torn down.
func AnyLeaving(v store.View) bool { return len(leaving.In(v)) > 0 }

var leaving = store.Derive(Schema, "resources that are being torn down", func(v store.View) (out []*store.Entry[Resource]) {
	all, traits := resourceTraits.In(v)
	for i, t := range traits {
		if !t.running {
			out = append(out, all[i])
		}
	}
	return out
}, Resources)

// Ordered returns the resources in the order of the Tiltfile, those that are being torn down last, without those that are
// switched off. Neither the slice nor the entries must be changed.
func Ordered(v store.View) []*store.Entry[Resource] { return ordered.In(v) }

// EachOrdered derives a value from each of Ordered; of must depend only on the entry.
func EachOrdered[V any](name string, of func(*store.Entry[Resource]) V) *store.Each[*store.Entry[Resource], V] {
	return store.DeriveEach(Schema, name, ordered, of)
}

var ordered = store.Derive(Schema, "resources in order", func(v store.View) []*store.Entry[Resource] {
	all, traits := resourceTraits.In(v)
	return inOrder(all, traits, func(e *store.Entry[Resource]) *store.Entry[Resource] { return e })
}, Resources)

// Updating is a resource with its entry in table updates. Neither must be changed. It is comparable: a different value is a
// different state.
type Updating struct {
	*store.Entry[Resource]
	// Updates is its entry in that table, an empty entry if it has none, and Update is the entry's value.
	Updates *store.Entry[Update]
	Update  *Update
}

// UpdatingOf returns a resource of a view with its update.
func UpdatingOf(v store.View, e *store.Entry[Resource]) Updating {
	if u := Updates.In(v).Ref(e.ID); u != nil {
		return updating(e, u)
	}
	return updating(e, noUpdate)
}

func updating(e *store.Entry[Resource], u *store.Entry[Update]) Updating {
	return Updating{e, u, &u.Value}
}

// noUpdate stands for the update of a resource without an entry.
var noUpdate = &store.Entry[Update]{}

// WithUpdates are all resources with their updates, in the order of their names, those that are switched off included. The
// slice must not be changed.
func WithUpdates(v store.View) []Updating { return withUpdates.In(v) }

// EachUpdating derives a value from each of WithUpdates; of must depend only on its argument.
func EachUpdating[V any](name string, of func(Updating) V) *store.Each[Updating, V] {
	return store.DeriveEach(Schema, name, withUpdates, of)
}

var withUpdates = store.Derive(Schema, "resources with updates", func(v store.View) []Updating { return joins.In(v).all }, Resources, Updates)

var joins = store.DeriveFrom(Schema, "resources and updates", func(v store.View, before *join) join {
	resources := resourceList.In(v)
	updates := slices.AppendSeq(make([]*store.Entry[Update], 0, Updates.In(v).Len()), Updates.In(v).Refs())
	if before != nil {
		if j, ok := before.then(resources, updates); ok {
			return j
		}
	}
	return newJoin(resources, updates)
}, Resources, Updates)

// join is the resources joined with their updates. Both lists are in the order of the names.
type join struct {
	resources []*store.Entry[Resource]
	updates   []*store.Entry[Update]
	// of holds for each update the place of its resource, -1 if there is none.
	of  []int32
	all []Updating
}

func newJoin(resources []*store.Entry[Resource], updates []*store.Entry[Update]) join {
	j := join{resources, updates, make([]int32, len(updates)), make([]Updating, len(resources))}
	for i := range j.of {
		j.of[i] = -1
	}
	next := 0
	for i, e := range resources {
		for next < len(updates) && updates[next].ID < e.ID {
			next++
		}
		u := noUpdate
		if next < len(updates) && updates[next].ID == e.ID {
			u, j.of[next] = updates[next], int32(i)
		}
		j.all[i] = updating(e, u)
	}
	return j
}

// then returns the join of lists with the same ids at the same places; ok is false for other lists.
func (j *join) then(resources []*store.Entry[Resource], updates []*store.Entry[Update]) (after join, ok bool) {
	if len(resources) != len(j.resources) || len(updates) != len(j.updates) {
		return join{}, false
	}
	after = join{resources, updates, j.of, slices.Clone(j.all)}
	for i, e := range resources {
		if was := j.resources[i]; e != was {
			if e.ID != was.ID {
				return join{}, false
			}
			after.all[i].Entry = e
		}
	}
	for i, e := range updates {
		if was := j.updates[i]; e != was {
			if e.ID != was.ID {
				return join{}, false
			}
			if j.of[i] >= 0 {
				at := &after.all[j.of[i]]
				*at = updating(at.Entry, e)
			}
		}
	}
	return after, true
}

// OrderedUpdates is Ordered with the updates. It is faster than a look-up for each resource.
func OrderedUpdates(v store.View) []Updating { return orderedUpdates.In(v) }

var orderedUpdates = store.Derive(Schema, "updates in order", func(v store.View) []Updating {
	_, traits := resourceTraits.In(v) // of the same resources in the same order
	return inOrder(withUpdates.In(v), traits, func(u Updating) *store.Entry[Resource] { return u.Entry })
}, Resources, Updates)

// leaves reports whether a resource is removed or switched off.
func leaves(was, is *store.Entry[Resource]) bool {
	return is == nil || was != nil && was.Value.Enabled && !is.Value.Enabled
}

// last is 1 for a resource that comes after all resources for which it is 0.
func last(e *store.Entry[Resource]) int {
	if e.Phase == store.TearingDown {
		return 1
	}
	return 0
}

// inOrder puts the items of enabled resources into the order of the Tiltfile; resources that are being torn down come last.
// Nearly all have a place of their own and need no sorting, which would be slower; only the others are sorted.
func inOrder[T any](all []T, traits []trait, of func(T) *store.Entry[Resource]) []T {
	places := make([]int32, len(all)) // the index in all, plus one
	var others []T
	n := 0
	for i, t := range traits {
		if !t.enabled {
			continue
		}
		n++
		inRange := t.order >= 0 && t.order < len(places)
		if t.running && inRange && places[t.order] == 0 {
			places[t.order] = int32(i) + 1
		} else {
			others = append(others, all[i])
		}
	}
	out := make([]T, 0, n)
	for _, i := range places {
		if i > 0 {
			out = append(out, all[i-1])
		}
	}
	inOrder := func(x, y T) int {
		a, b := of(x), of(y)
		return cmp.Or(last(a)-last(b), a.Value.Order-b.Value.Order, strings.Compare(a.ID, b.ID))
	}
	slices.SortFunc(others, inOrder)
	if sorted := len(out); len(others) > 0 {
		out = append(out, others...)
		if sorted > 0 && inOrder(out[sorted-1], out[sorted]) > 0 { // not all of them come last
			slices.SortFunc(out, inOrder)
		}
	}
	return out
}
