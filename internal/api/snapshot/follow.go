package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// Followed is the state of a session that another process runs, as far as its documents have arrived: a Snapshot, and then changes. Its
// logs go to a store of this process. Next is called by one goroutine; the others may be called by any.
type Followed struct {
	in      *json.Decoder
	logs    *logstore.Store
	version string
	newest  atomic.Pointer[store.Snapshot]
	loop    atomic.Int64 // nanoseconds
}

// Follow reads the snapshot at the beginning of a stream.
func Follow(stream io.Reader, logs *logstore.Store) (*Followed, error) {
	f := &Followed{in: json.NewDecoder(stream), logs: logs}
	var first api.Snapshot
	if err := f.in.Decode(&first); err != nil {
		return nil, fmt.Errorf("read the state of the session: %w", err)
	}
	if first.SnapshotVersion > api.SnapshotVersion {
		return nil, problem.New(fmt.Sprintf("the session runs hone v%s, which is newer than this one", first.Version), "use that version of hone")
	}
	v, err := Restore(first)
	if err != nil {
		return nil, err
	}
	f.version = first.Version
	Replay(first.Logs, logs)
	f.newest.Store(v.Snapshot)
	return f, nil
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
	kept, err := read(c.Tables, f.version)
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
	Replay(c.Logs, f.logs)
	return false, nil
}
