package state

import (
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// RevisionsKnown reports the revisions of the project that the ledger keeps, as far as it has been read: all of them.
type RevisionsKnown struct{ Revisions []api.Revision }

func init() {
	store.On(Revisions, func(d *store.Draft[api.Revision], a RevisionsKnown) {
		kept := map[string]bool{}
		for _, r := range a.Revisions {
			id := revisionID(r.Number)
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

// revisionID returns an id that sorts by the number.
func revisionID(number int) string { return fmt.Sprintf("%06d", number) }

// RevisionsOf returns the revisions of the project, newest first.
func RevisionsOf(v store.View) []api.Revision {
	out := []api.Revision{}
	for e := range Revisions.In(v).Refs() {
		out = append(out, e.Value)
	}
	slices.Reverse(out)
	return out
}
