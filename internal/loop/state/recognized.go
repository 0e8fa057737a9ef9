package state

import (
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// ContainersRecognized reports containers that an earlier session has seen, by id. Owed are the files that may have changed since
// that session left them: those that it copied, and those that have changed on this machine.
type ContainersRecognized struct {
	Resource model.ManifestName
	Owed     map[string][]string
	// Copied are those that have files of updates in place.
	Copied []string
}

func init() {
	store.On(Updates, func(d *store.Draft[Update], a ContainersRecognized) {
		d.Update(string(a.Resource), func(u Update) Update {
			for id, files := range a.Owed {
				u.lane(id, func(l *Lane) { l.Owed = &Owed{files, d.Now()} })
			}
			u.touched(a.Copied)
			return u
		})
	})
}
