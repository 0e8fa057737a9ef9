package state

import "github.com/hone-dev/hone/internal/loop/store"

// Watch is the one entry of table watches.
type Watch struct {
	// Problem is what keeps files from being watched as they should, empty when nothing does. It names the mend.
	Problem string
}

// WatchReported says how watching files goes.
type WatchReported struct{ Problem string }

func init() {
	store.On(Watches, func(d *store.Draft[Watch], a WatchReported) {
		if was, ok := d.Get(Only); !ok || was.Value.Problem != a.Problem {
			d.Put(Only, Watch(a))
		}
	})
}
