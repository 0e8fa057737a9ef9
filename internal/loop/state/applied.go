package state

import (
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// AppliedBy is the objects that a resource has applied.
type AppliedBy struct {
	Resource model.ManifestName
	Objects  []model.AppliedObject
}

// AppliedSet has an item for each resource that has applied something, in the order of the ids. Nothing in it must be changed.
type AppliedSet struct{ Of []AppliedBy }

// Applied returns the objects that updates have applied. It is the same pointer as in the view before unless a resource has applied other
// objects: most changes of updates are of other kinds, and subscribers that watch objects have nothing to do then.
func Applied(v store.View) *AppliedSet { return applied.In(v).set }

// appliedIn is the set of the updates in a list.
type appliedIn struct {
	list store.List[Update]
	set  *AppliedSet
}

var applied = store.DeriveFrom(Schema, "applied objects", func(v store.View, before *appliedIn) appliedIn {
	list := Updates.In(v).List()
	if before != nil && !appliesOthers(list, before.list) {
		return appliedIn{list, before.set}
	}
	set := &AppliedSet{}
	for e := range Updates.In(v).Refs() {
		if len(e.Value.Applied) > 0 {
			set.Of = append(set.Of, AppliedBy{model.ManifestName(e.ID), e.Value.Applied})
		}
	}
	return appliedIn{list, set}
}, Updates)

// appliesOthers reports whether resources have applied other objects in one list than in the other.
func appliesOthers(list, before store.List[Update]) bool {
	for was, is := range list.Changes(before) {
		if !sameObjects(appliedOf(was), appliedOf(is)) {
			return true
		}
	}
	return false
}

func appliedOf(e *store.Entry[Update]) []model.AppliedObject {
	if e == nil {
		return nil
	}
	return e.Value.Applied
}

// sameObjects reports whether two lists are one in memory. A list that is replaced by an equal one counts as another.
func sameObjects(a, b []model.AppliedObject) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
