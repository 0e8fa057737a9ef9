package state

import (
	"cmp"
	"maps"
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

// ByResource is the groups of a table. A change of an entry makes only the group of its resource again: with thousands of pods, one of
// them changes all the time.
type ByResource[T any] struct {
	*store.Derived[grouped[T]]
}

// grouped is the groups of the entries in a list.
type grouped[T any] struct {
	list   store.List[T]
	groups Groups[T]
}

// In returns the groups in v, which must not be changed.
func (b ByResource[T]) In(v store.View) Groups[T] { return b.Derived.In(v).groups }

func byResource[T any](t *store.Table[T], of func(*T) model.ManifestName, compare func(a, b *T) int) ByResource[T] {
	if compare == nil {
		compare = func(*T, *T) int { return 0 }
	}
	inOrder := func(a, b *store.Entry[T]) int { return cmp.Or(compare(&a.Value, &b.Value), cmp.Compare(a.ID, b.ID)) }
	return ByResource[T]{store.DeriveFrom(Schema, t.Name()+" by resource", func(v store.View, before *grouped[T]) grouped[T] {
		if before == nil {
			before = &grouped[T]{}
		}
		list, change := t.In(v).List(), changes[T]{of: of, entries: map[model.ManifestName][]*store.Entry[T]{}}
		for was, is := range list.Changes(before.list) {
			change.drop(was, before.groups)
			change.add(is, before.groups)
		}
		if len(change.entries) == 0 {
			return grouped[T]{list, before.groups}
		}
		groups := maps.Clone(before.groups)
		if groups == nil {
			groups = Groups[T]{}
		}
		for name, entries := range change.entries {
			slices.SortFunc(entries, inOrder)
			groups[name] = newGroup(entries)
			if len(entries) == 0 {
				delete(groups, name)
			}
		}
		return grouped[T]{list, groups}
	}, t)}
}

// changes are the new entries of the groups that change.
type changes[T any] struct {
	of      func(*T) model.ManifestName
	entries map[model.ManifestName][]*store.Entry[T]
}

// open returns the name of an entry's group, whose entries are then in changes.
func (c changes[T]) open(e *store.Entry[T], before Groups[T]) model.ManifestName {
	name := c.of(&e.Value)
	if _, known := c.entries[name]; !known {
		c.entries[name] = slices.Clone(before[name].Entries())
	}
	return name
}

func (c changes[T]) drop(e *store.Entry[T], before Groups[T]) {
	if e != nil {
		name := c.open(e, before)
		c.entries[name] = slices.DeleteFunc(c.entries[name], func(o *store.Entry[T]) bool { return o == e })
	}
}

func (c changes[T]) add(e *store.Entry[T], before Groups[T]) {
	if e != nil {
		name := c.open(e, before)
		c.entries[name] = append(c.entries[name], e)
	}
}

func newGroup[T any](entries []*store.Entry[T]) *Group[T] {
	g := &Group[T]{entries: entries, values: make([]T, len(entries))}
	for i, e := range entries {
		g.values[i] = e.Value
	}
	return g
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
