package state

import "github.com/hone-dev/hone/internal/loop/store"

// Watch is the one entry of table watches.
type Watch struct {
	// Problem is the fault that keeps files from being watched properly, with its mend; empty if there is none.
	Problem string
	// Unseen is the part of it about files whose changes are not seen at all; empty if all are at least compared now and then.
	Unseen string
}

// WatchReported reports the state of file watching.
type WatchReported struct{ Problem, Unseen string }

func init() {
	store.On(Watches, func(d *store.Draft[Watch], a WatchReported) {
		if was := d.Ref(Only); was == nil || was.Value != Watch(a) {
			d.Put(Only, Watch(a))
		}
	})
}
