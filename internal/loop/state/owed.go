package state

import (
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// ContainersRecognized reports containers into which an earlier session has copied files, by id, with the files that may differ from what
// it left there: those that it copied, and those that have changed since.
type ContainersRecognized struct {
	Resource model.ManifestName
	Owed     map[string][]string
}

func init() {
	store.On(Updates, func(d *store.Draft[Update], a ContainersRecognized) {
		d.Update(string(a.Resource), func(u Update) Update {
			for id, files := range a.Owed {
				if u.Containers[id].Synced.IsZero() { // otherwise this session has been there
					u.Owed = with(u.Owed, id, files)
				}
			}
			return u
		})
	})
}
