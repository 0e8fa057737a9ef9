package tiltfile

import (
	"cmp"
	"maps"
	"slices"
)

// selectorIndex finds the objects whose selector may target a workload's pods, without asking each of them: an object
// that targets pods is found under any one label of its selector.
type selectorIndex map[label][]selecting

type label struct{ key, value string }

// selecting is an object with a selector and its place among the others.
type selecting struct {
	place int
	*object
}

func newSelectorIndex(objs []*object) selectorIndex {
	x := selectorIndex{}
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

// take removes the objects that target a workload's pods from the index, and returns them in order.
func (x selectorIndex) take(workload *object) []*object {
	var found []selecting
	for k, v := range workload.podLabels {
		l := label{k, v}
		x[l] = slices.DeleteFunc(x[l], func(o selecting) bool {
			if !o.selects(workload) {
				return false
			}
			found = append(found, o)
			return true
		})
	}
	slices.SortFunc(found, func(a, b selecting) int { return cmp.Compare(a.place, b.place) })
	out := make([]*object, len(found))
	for i, o := range found {
		out[i] = o.object
	}
	return out
}
