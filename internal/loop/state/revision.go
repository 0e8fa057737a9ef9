package state

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// RevisionsKnown reports the revisions of the project that the ledgers of its clusters keep, as far as they have been read: all of them.
type RevisionsKnown struct{ Revisions []api.Revision }

func init() {
	store.On(Revisions, func(d *store.Draft[api.Revision], a RevisionsKnown) {
		kept := map[string]bool{}
		for _, r := range a.Revisions {
			id := revisionID(r.Cluster, r.Number)
			kept[id] = true
			if known := d.Ref(id); known == nil || known.Value != r {
				d.Put(id, r)
			}
		}
		for e := range d.Refs() {
			if !kept[e.ID] {
				d.Delete(e.ID)
			}
		}
	})
}

// revisionID returns an id that sorts by the number. In the session's own cluster, it is nothing else.
func revisionID(on string, number int) string {
	id := fmt.Sprintf("%06d", number)
	if on != "" {
		id = ClusterID(on) + " " + id
	}
	return id
}

// RevisionsOf returns the revisions of the project, cluster after cluster: its own cluster first, and in each the newest first.
func RevisionsOf(v store.View) []api.Revision {
	out := []api.Revision{}
	for e := range Revisions.In(v).Refs() {
		out = append(out, e.Value)
	}
	slices.SortFunc(out, func(a, b api.Revision) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(b.Number, a.Number))
	})
	return out
}
