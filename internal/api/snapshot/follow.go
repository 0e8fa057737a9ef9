package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// Followed is the state of a session that another process runs, as far as its documents have arrived: a Snapshot, and then changes. Its
// logs go to a store of this process. Next and Resume are called by one goroutine; the others may be called by any.
type Followed struct {
	in      *json.Decoder
	logs    *logstore.Store
	version string
	amend   func(value any) any
	line    uint64 // the number of the newest line that has arrived
	newest  atomic.Pointer[store.Snapshot]
	loop    atomic.Int64 // nanoseconds
}

// Follow reads the snapshot at the beginning of a stream. amend returns the value of an entry as it is here, for instance another
// address; nil leaves all as they are. It is called by the goroutine that calls Next.
func Follow(stream io.Reader, logs *logstore.Store, amend func(value any) any) (*Followed, error) {
	f := &Followed{logs: logs, amend: amend}
	return f, f.Resume(stream)
}

// Resume goes on with another stream of the same session, after the one before was lost. Lines that have arrived do not arrive again.
// After an error, the state is as before.
func (f *Followed) Resume(stream io.Reader) error {
	in := json.NewDecoder(stream)
	var first api.Snapshot
	if err := in.Decode(&first); err != nil {
		return fmt.Errorf("read the state of the session: %w", err)
	}
	if first.SnapshotVersion > api.SnapshotVersion {
		return problem.New(fmt.Sprintf("the session runs hone v%s, which is newer than this one", first.Version), "use that version of hone")
	}
	v, err := restore(first, f.amend)
	if err != nil {
		return err
	}
	f.in, f.version = in, first.Version
	f.replay(first.Logs)
	f.newest.Store(v.Snapshot)
	return nil
}

// replay takes in the lines that have not arrived yet.
func (f *Followed) replay(lines []api.LogLine) {
	lines = slices.DeleteFunc(lines, func(l api.LogLine) bool { return l.Seq != 0 && l.Seq <= f.line })
	Replay(lines, f.logs)
	for _, l := range lines {
		f.line = max(f.line, l.Seq)
	}
}

// View returns the newest state.
func (f *Followed) View() store.View { return f.newest.Load().All() }

// Loop returns the duration of the newest batch of the session's store.
func (f *Followed) Loop() time.Duration { return time.Duration(f.loop.Load()) }

// ErrLost reports that the stream has ended before the session.
var ErrLost = errors.New("the session has not said that it ends")

// Next waits for the next change and takes it in. It reports whether the session has ended.
func (f *Followed) Next() (over bool, err error) {
	var c api.SnapshotChange
	if err := f.in.Decode(&c); err != nil {
		return false, fmt.Errorf("%w: %w", ErrLost, err)
	}
	if c.Over {
		return true, nil
	}
	kept, err := read(c.Tables, f.version, f.amend)
	if err != nil {
		return false, err
	}
	before := f.newest.Load()
	if c.Snapshot > before.Seq {
		changes := map[string]store.Change{}
		for name, set := range kept {
			changes[name] = store.Change{Set: set}
		}
		for name, gone := range c.Gone {
			changes[name] = store.Change{Set: kept[name], Gone: gone}
		}
		next, err := before.After(c.Snapshot, c.At, changes)
		if err != nil {
			return false, fmt.Errorf("follow the session: %w", err)
		}
		f.loop.Store(c.LoopMicros * int64(time.Microsecond))
		f.newest.Store(next)
	}
	f.replay(c.Logs)
	return false, nil
}
