package ledger

import (
	"cmp"
	"slices"

	"github.com/hone-dev/hone/pkg/model"
)

// Record is the record of an object: its identity, never its content.
type Record struct {
	model.ObjectID
	APIVersion string
	// UID is empty until the object has been applied.
	UID string
	// Foreign objects were applied by the user's command, and only the user's delete command deletes them.
	Foreign bool
	// Leaving objects are no longer part of the resource. Their deletion was requested, or is put off until their replacements are
	// ready.
	Leaving bool
	// Fresh is set for a workload that is new to the ledger and was not seen ready yet: the workload that it replaces may have to
	// wait for it.
	Fresh bool
	// Revision is the number of the revision that wrote the object last; 0 if that is unknown.
	Revision int
}

// Stays reports whether hone has applied the object, and it is not about to go.
func (r Record) Stays() bool { return !r.Foreign && !r.Leaving && r.UID != "" }

// Records are the records of each resource.
type Records = map[model.ManifestName][]Record

// Of returns the records of applied objects.
func Of(applied []model.AppliedObject) []Record {
	list := make([]Record, len(applied))
	for i, o := range applied {
		list[i] = Record{ObjectID: o.ObjectID, APIVersion: o.APIVersion, UID: o.UID, Foreign: o.Foreign}
	}
	return list
}

// Without returns list without the records that gone matches. It does not change list.
func Without(list []Record, gone func(Record) bool) []Record {
	if !slices.ContainsFunc(list, gone) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), gone)
}

// recorded returns have with more added to it. The added objects are no longer leaving.
func recorded(have, more []Record) []Record {
	have = slices.Clone(have)
	for _, o := range more {
		o.Leaving = false
		i := slices.IndexFunc(have, func(r Record) bool { return r.ObjectID == o.ObjectID })
		if i < 0 {
			have = append(have, o)
		} else if have[i].Leaving = false; o.UID != "" {
			have[i] = o
		}
	}
	return have
}

// passed removes the given objects from the records of the other resources and returns the removed records.
func passed(m Records, to model.ManifestName, objects []Record) []Record {
	var taken []Record
	for other, list := range m {
		if other == to {
			continue
		}
		m[other] = Without(list, func(r Record) bool {
			mine := !r.Foreign && slices.ContainsFunc(objects, func(o Record) bool { return o.ObjectID == r.ObjectID })
			if mine {
				taken = append(taken, r)
			}
			return mine
		})
	}
	return taken
}

// hasAll reports whether RecordAll would change nothing: its objects are recorded for their resources, and stay.
func (c content) hasAll(objects Records) bool {
	for resource, list := range objects {
		for _, o := range list {
			r, _ := recordOf(c.objects[resource], o.ObjectID)
			if o.UID == "" {
				o = r
			}
			o.Leaving = false
			if r != o || r.ObjectID == (model.ObjectID{}) {
				return false
			}
		}
	}
	return true
}

// markFresh returns the records of a resource after a deploy, with the workloads that are new to the ledger marked.
func markFresh(before Records, list []Record) []Record {
	serving := map[model.ObjectID]int{}
	for i, r := range list {
		if r.Stays() && r.Serves() {
			serving[r.ObjectID] = i
		}
	}
	if len(serving) == 0 {
		return list
	}
	known := map[model.ObjectID]Record{}
	for _, all := range before {
		for _, r := range all {
			if _, ok := serving[r.ObjectID]; ok {
				known[r.ObjectID] = r
			}
		}
	}
	list = slices.Clone(list)
	for id, i := range serving {
		was := known[id]
		list[i].Fresh = was.UID != list[i].UID || was.Fresh
	}
	return list
}

// leftovers returns the records of a resource that are neither among its applied objects nor recorded for another
// resource. Objects that the user's command applied are never leftovers: the user's delete command deletes them.
func leftovers(resource model.ManifestName, applied []model.AppliedObject, all Records) []Record {
	owned := map[model.ObjectID]bool{}
	anywhere := map[model.ObjectID]bool{} // cluster-scoped, whatever namespace was recorded before
	for _, o := range applied {
		owned[o.ObjectID] = true
		if o.Namespace == "" {
			anywhere[o.ObjectID] = true
		}
	}
	left := Without(all[resource], func(r Record) bool {
		root := r.ObjectID
		root.Namespace = ""
		return r.Foreign || owned[r.ObjectID] || anywhere[root]
	})
	if len(left) == 0 {
		return nil
	}
	clear(owned)
	for name, list := range all {
		for _, r := range list {
			if name != resource {
				owned[r.ObjectID] = true
			}
		}
	}
	return Without(left, func(r Record) bool { return owned[r.ObjectID] })
}

// byID orders records.
func byID(a, b Record) int {
	return cmp.Or(a.ObjectID.Compare(b.ObjectID), cmp.Compare(a.UID, b.UID))
}
