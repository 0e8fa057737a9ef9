package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// FileWatch is an entry of table filewatches; its id is the watch's name.
type FileWatch struct {
	model.FileWatch
	// Changes counts the changes. Files are the files of the newest change, which was made at Made; the store received it at
	// ChangedAt.
	Changes   int
	Files     []string
	Made      time.Time
	ChangedAt time.Time
}

func init() {
	store.On(FileWatches, func(d *store.Draft[FileWatch], a TiltfileLoaded) {
		if a.Err == "" {
			declareEach(d, a.Result.FileWatches, func(w model.FileWatch) (string, map[string]string) { return w.Name, w.Labels },
				func(was FileWatch, _ int, w model.FileWatch) FileWatch {
					was.FileWatch = w
					return was
				})
		}
	})
	store.On(FileWatches, func(d *store.Draft[FileWatch], a FilesChanged) {
		for _, c := range a.Changes {
			if c.Target.Type == model.TargetFileWatch {
				d.Update(c.Target.Name, func(w FileWatch) FileWatch {
					w.Changes, w.Files, w.Made, w.ChangedAt = w.Changes+1, c.Paths, a.Made, d.Now()
					return w
				})
			}
		}
	})
	store.On(ConfigMaps, func(d *store.Draft[model.ConfigMap], a TiltfileLoaded) {
		if a.Err == "" {
			declareEach(d, a.Result.ConfigMaps, func(m model.ConfigMap) (string, map[string]string) { return m.Name, m.Labels },
				func(_ model.ConfigMap, _ int, m model.ConfigMap) model.ConfigMap { return m })
		}
	})
}

// Off reports whether a disable source switches its object off in v.
func Off(v store.View, d model.DisableSource) bool {
	return d.Off(func(configMap, key string) string { return ConfigMaps.In(v).Value(configMap).Data[key] })
}
