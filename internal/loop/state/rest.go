package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// restTime is the time for which the files that the Tiltfile reads have to stay unchanged before anything is deleted that they
	// no longer declare. A checkout, a stash or a rebase changes them and changes them back within less.
	restTime = time.Second
	// unrestPause is the time between two looks while an evaluation is due, or has failed.
	unrestPause = 100 * time.Millisecond
)

func init() {
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a FilesNoticed) {
		for _, c := range a.Changes {
			if c.Target.Type == model.TargetConfigs {
				d.Update(Only, func(t Tiltfile) Tiltfile {
					t.StirredAt = d.Now()
					return t
				})
			}
		}
	})
}

// RestIn returns the time to wait before the declarations of the Tiltfile may count as final; the caller then has to ask again.
// It is zero if they are final. While an evaluation is due or has failed, the declarations are unknown.
func RestIn(v store.View, now time.Time) time.Duration {
	t := TheTiltfile(v)
	due := t.asked() || Evaluating(v) || t.Unsaid(v)
	if due || t.Err != "" {
		return unrestPause
	}
	return max(t.StirredAt.Add(restTime).Sub(now), 0)
}
