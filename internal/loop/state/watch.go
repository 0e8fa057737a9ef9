package state

import "github.com/hone-dev/hone/internal/loop/store"

// Watch is the one entry of table watches.
type Watch struct {
	// Problem is the fault that keeps files from being watched properly, with its mend; empty if there is none.
	Problem string
}

// WatchReported reports the state of file watching.
type WatchReported struct{ Problem string }

func init() {
	store.On(Watches, func(d *store.Draft[Watch], a WatchReported) {
		if was := d.Ref(Only); was == nil || was.Value.Problem != a.Problem {
			d.Put(Only, Watch(a))
		}
	})
}
