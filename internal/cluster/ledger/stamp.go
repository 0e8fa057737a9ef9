package ledger

import (
	"slices"

	"github.com/hone-dev/hone/pkg/model"
)

// stamp notes in the records which revision wrote their objects last: the newest one, for objects that are new or made again, and for
// those in written. Other objects keep the revision that they had before.
func (c *content) stamp(before content, written map[model.ObjectID]bool) {
	was := map[model.ObjectID]Record{}
	for _, list := range before.objects {
		for _, r := range list {
			was[r.ObjectID] = r
		}
	}
	number := 0
	if is := c.current(); is != nil {
		number = is.Number
	}
	for name, list := range c.objects {
		var fresh []Record // the list belongs to others, too
		for i, r := range list {
			by := number
			if old, known := was[r.ObjectID]; known && old.UID == r.UID && !written[r.ObjectID] {
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

// written returns the objects that existed and were written in the newest revision, if that is one of this process. l.mu is held.
func (l *Ledger) written() map[model.ObjectID]bool {
	if is := l.known.current(); is == nil || is.Number != l.changing {
		return nil
	}
	return l.changed
}
