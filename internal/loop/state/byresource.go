package state

import (
	"slices"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Group has the entries of a table that belong to one resource. Nothing in it must be changed. Nil has none.
type Group[T any] struct {
	entries []*store.Entry[T]
	values  []T
}

// Groups are the entries of a table by resource.
type Groups[T any] = map[model.ManifestName]*Group[T]

// The groups of tables. Pods are in the order of comparePods, all others in the order of their ids.
var (
	PodsByResource     = byResource(Pods, func(p *Pod) model.ManifestName { return p.Resource }, comparePods)
	ServicesByResource = byResource(Services, func(s *model.Service) model.ManifestName { return s.Resource }, nil)
	ForwardsByResource = byResource(Forwards, func(f *Forward) model.ManifestName { return f.Resource }, nil)
	ObjectsByResource  = byResource(Objects, func(o *model.ObjectStatus) model.ManifestName { return o.Resource }, nil)
	SyncletsByResource = byResource(Synclets, func(s *Synclet) model.ManifestName { return s.Resource }, nil)
)

func byResource[T any](t *store.Table[T], of func(*T) model.ManifestName, compare func(a, b *T) int) *store.Derived[Groups[T]] {
	return store.Derive(Schema, t.Name()+" by resource", func(v store.View) Groups[T] {
		out := Groups[T]{}
		for e := range t.In(v).Refs() {
			name := of(&e.Value)
			if out[name] == nil {
				out[name] = &Group[T]{}
			}
			out[name].entries = append(out[name].entries, e)
		}
		for _, g := range out {
			if compare != nil {
				slices.SortFunc(g.entries, func(a, b *store.Entry[T]) int { return compare(&a.Value, &b.Value) })
			}
			for _, e := range g.entries {
				g.values = append(g.values, e.Value)
			}
		}
		return out
	}, t)
}

// Entries returns the table's own entries.
func (g *Group[T]) Entries() []*store.Entry[T] {
	if g == nil {
		return nil
	}
	return g.entries
}

// Values returns the values of the entries.
func (g *Group[T]) Values() []T {
	if g == nil {
		return nil
	}
	return g.values
}

// PodsOf returns the pods of a resource.
func PodsOf(v store.View, name model.ManifestName) []Pod { return PodsByResource.In(v)[name].Values() }

// ForwardsOf returns the forwards of a resource.
func ForwardsOf(v store.View, name model.ManifestName) []Forward {
	return ForwardsByResource.In(v)[name].Values()
}

// ServicesOf returns the Services of a resource.
func ServicesOf(v store.View, name model.ManifestName) []model.Service {
	return ServicesByResource.In(v)[name].Values()
}
