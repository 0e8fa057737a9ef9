package state

import (
	"cmp"
	"fmt"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
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
	// Crashes is how often in a row the process has ended by itself soon after a start. Again is after how long one that has
	// ended is restarted by itself.
	Crashes int
	Again   time.Duration
	// Ending says that the container ends with its process.
	Ending bool
	// EndedAt is since when it has not run; zero while it does. The reducer fills it in.
	EndedAt time.Time
}

// Ended says, of a supervised process that does not run, what became of it and what happens next.
func (s Synclet) Ended() string {
	text := fmt.Sprintf("the process in %s ended with exit code %d", s.Container, s.ExitCode)
	if s.Crashes > 1 {
		text += fmt.Sprintf(", %d times in a row", s.Crashes)
	}
	if s.Ending {
		return text + ", and its container ends with it"
	}
	text += "; the next change restarts it"
	if s.Again > 0 {
		text += fmt.Sprintf(", or else it is tried again after %s", s.Again)
	}
	return text
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
		was, ok := d.Get(a.ID)
		next := a.Synclet
		next.EndedAt = time.Time{}
		if next.Supervised && !next.Running {
			next.EndedAt = cmp.Or(was.Value.EndedAt, d.Now())
		}
		if !ok || was.Value != next {
			d.PutOwned(a.ID, string(next.Resource), nil, next)
		}
	})
	store.On(Synclets, func(d *store.Draft[Synclet], a SyncletGone) { d.Delete(a.ID) })
}
