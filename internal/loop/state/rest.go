package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// restTime is how long the files that the Tiltfile reads have to stay as they are before anything is deleted that they no longer
	// declare. A checkout, a stash or a rebase changes them and changes them back within less.
	restTime = time.Second
	// unrestPause is the time between two looks while an evaluation is due, or was of no use.
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

// RestIn returns how long to wait before the declarations of the Tiltfile count as final, after which it has to be asked again; zero if
// they do. While an evaluation is due or has failed, nobody knows what is declared.
func RestIn(v store.View, now time.Time) time.Duration {
	t := TheTiltfile(v)
	due := t.asked() || Evaluating(v) || t.Unsaid(TheCluster(v))
	if due || t.Err != "" {
		return unrestPause
	}
	return max(t.StirredAt.Add(restTime).Sub(now), 0)
}
