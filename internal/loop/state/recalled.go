package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// ContainersRecalled reports containers of a resource that an earlier session has updated in place, whether or not they still run: the
// time up to which each has had the changes, by its id.
type ContainersRecalled struct {
	Resource model.ManifestName
	Has      map[string]time.Time
}

func init() {
	store.On(Updates, func(d *store.Draft[Update], a ContainersRecalled) {
		d.Update(string(a.Resource), func(u Update) Update {
			if u.Off {
				return u
			}
			for id, at := range a.Has {
				u.lane(id, func(l *Lane) {
					if at.After(l.Has) {
						l.Has = at
					}
				})
			}
			return u
		})
	})
}

// recalled records the files that images of an earlier session lack, as changes that containers have had before the update: those that
// an earlier session knows need nothing, and all others get them in place.
func (u *Update) recalled(images map[string]model.ImageResult, until time.Time) {
	for ref, result := range images {
		id := model.ImageID(ref)
		for path, at := range result.Lacks {
			if at.After(until) {
				at = until
			}
			u.Changes = with(u.Changes, id, u.Changes[id].With([]string{path}, at))
		}
	}
}
