package ledger

import (
	"slices"
	"sync"

	"github.com/hone-dev/hone/pkg/model"
)

// stamp notes in the records which revision wrote their objects last: the newest one, for objects that are new or made again, and for
// those in written. Other objects keep the revision that they had before.
func (c *content) stamp(before content, written map[model.ObjectID]bool) {
	moved := sync.OnceValue(before.owned)
	number := 0
	if is := c.current(); is != nil {
		number = is.Number
	}
	for name, list := range c.objects {
		var fresh []Record // the list belongs to others, too
		for i, r := range list {
			old, known := recordOf(before.objects[name], r.ObjectID)
			if !known {
				var o owned // from another resource
				o, known = moved()[r.ObjectID]
				old = o.Record
			}
			by := number
			if same := known && old.UID == r.UID; same && !written[r.ObjectID] {
				by = old.Revision
			}
			if by == r.Revision {
				continue
			}
			if fresh == nil {
				fresh = slices.Clone(list)
			}
			fresh[i].Revision = by
		}
		if fresh != nil {
			c.objects[name] = fresh
		}
	}
}

// recordOf returns the record of an object in a list that byID has sorted.
func recordOf(list []Record, id model.ObjectID) (Record, bool) {
	i, _ := slices.BinarySearchFunc(list, id, func(r Record, id model.ObjectID) int { return r.ObjectID.Compare(id) })
	if i == len(list) || list[i].ObjectID != id {
		return Record{}, false
	}
	return list[i], true
}

// owned is the record of an object.
type owned struct {
	Record
	// others is set if several resources have one.
	others bool
}

// owned returns the records by their objects.
func (c content) owned() map[model.ObjectID]owned {
	out := make(map[model.ObjectID]owned, len(c.objects))
	for _, list := range c.objects {
		for _, r := range list {
			_, others := out[r.ObjectID]
			out[r.ObjectID] = owned{r, others}
		}
	}
	return out
}

// written returns the objects that existed and were written in the newest revision, if that is one of this process. l.mu is held.
func (l *Ledger) written() map[model.ObjectID]bool {
	if is := l.known.current(); is == nil || is.Number != l.changing {
		return nil
	}
	return l.changed
}
