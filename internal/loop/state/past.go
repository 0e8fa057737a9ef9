package state

import (
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// HistoryRecalled reports the updates of a resource in earlier sessions, newest first.
type HistoryRecalled struct {
	Resource model.ManifestName
	Builds   []Build
}

func init() {
	store.On(Updates, func(d *store.Draft[Update], a HistoryRecalled) {
		d.Update(string(a.Resource), func(u Update) Update {
			u.Past = a.Builds[:min(len(a.Builds), keptBuilds)]
			return u
		})
	})
}
