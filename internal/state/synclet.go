package state

import (
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Synclet is an entry of table synclets; its id is the container's.
type Synclet struct {
	Resource  model.ManifestName
	Namespace string
	Pod       string
	Container string
	// State is starting, ready, broken or failed. A broken one is being started again, a failed one is not: the image does
	// not let the program in.
	State string
	// Way is how the program got in: "volume", "shell", "tar" or "ephemeral". Passed is why the ways before it did not do.
	Way    string
	Passed string
	// Err is why it is broken or failed.
	Err string
	// Supervised says that the container's process runs under the synclet; the fields below tell of it.
	Supervised bool
	Running    bool
	ExitCode   int
	Starts     int
}

// SyncletChanged says how the synclet of a container does now.
type SyncletChanged struct {
	ID      string
	Synclet Synclet
}

// SyncletGone says that a container needs no synclet any more.
type SyncletGone struct{ ID string }

func init() {
	store.On(Synclets, func(d *store.Draft[Synclet], a SyncletChanged) {
		if was, ok := d.Get(a.ID); !ok || was.Value != a.Synclet {
			d.PutOwned(a.ID, string(a.Synclet.Resource), nil, a.Synclet)
		}
	})
	store.On(Synclets, func(d *store.Draft[Synclet], a SyncletGone) { d.Delete(a.ID) })
}
