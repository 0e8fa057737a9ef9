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
	// Way is the way in which the program got in: "volume", "shell", "tar" or "ephemeral". Passed is why the ways before it failed.
	Way    string
	Passed string
	// Err is why it is broken or failed.
	Err string
	// Supervised is set when the container's process runs under the synclet; the fields below describe that process.
	Supervised bool
	Running    bool
	ExitCode   int
	Starts     int
	// Crashes counts the times in a row that the process has ended on its own soon after a start. Again is the pause before an ended
	// process is restarted automatically.
	Crashes int
	Again   time.Duration
	// Ending is set when the container ends with its process.
	Ending bool
	// EndedAt is the time at which it ended; zero while it runs. The reducer fills it in.
	EndedAt time.Time
}

// Ended describes the end of a supervised process that does not run, and says whether and when it is started again.
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

// SyncletChanged reports the new state of the synclet of a container.
type SyncletChanged struct {
	ID      string
	Synclet Synclet
}

// SyncletGone reports that a container no longer needs a synclet.
type SyncletGone struct{ ID string }

func init() {
	store.On(Synclets, func(d *store.Draft[Synclet], a SyncletChanged) {
		was := d.Value(a.ID)
		next := a.Synclet
		next.EndedAt = time.Time{}
		if next.Supervised && !next.Running {
			next.EndedAt = cmp.Or(was.EndedAt, d.Now())
		}
		if d.Ref(a.ID) == nil || was != next {
			d.PutOwned(a.ID, string(next.Resource), nil, next)
		}
	})
	store.On(Synclets, func(d *store.Draft[Synclet], a SyncletGone) { d.Delete(a.ID) })
}
