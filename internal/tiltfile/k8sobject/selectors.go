package k8sobject

import (
	"cmp"
	"maps"
	"slices"
)

// Selectors finds the objects whose selector may target a workload's pods without checking all of them: each object
// is indexed under one label of its selector.
type Selectors map[label][]selecting

type label struct{ key, value string }

// selecting is an object with a selector and its position among all objects.
type selecting struct {
	place int
	*Object
}

// NewSelectors returns an index of the objects that have a selector.
func NewSelectors(objs []*Object) Selectors {
	x := Selectors{}
	for i, o := range objs {
		if len(o.selector) == 0 {
			continue
		}
		k := slices.Sorted(maps.Keys(o.selector))[0]
		l := label{k, o.selector[k]}
		x[l] = append(x[l], selecting{i, o})
	}
	return x
}

// Take removes the objects that target a workload's pods from the index, and returns them in order.
func (x Selectors) Take(workload *Object) []*Object {
	var found []selecting
	for k, v := range workload.podLabels {
		l := label{k, v}
		if len(x[l]) == 0 {
			continue
		}
		x[l] = slices.DeleteFunc(x[l], func(o selecting) bool {
			if !o.selects(workload) {
				return false
			}
			found = append(found, o)
			return true
		})
	}
	slices.SortFunc(found, func(a, b selecting) int { return cmp.Compare(a.place, b.place) })
	out := make([]*Object, len(found))
	for i, o := range found {
		out[i] = o.Object
	}
	return out
}
