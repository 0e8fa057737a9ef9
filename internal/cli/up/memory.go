package up

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/loop/store"
)

const (
	// usual is how much garbage there may be, in percent of what is in use, before the collector runs even while hone is busy.
	// Where as much is in use as by some hundred resources, so that it works for long, that is seldom. From little up to
	// much in use it rises in steps: what is in use wavers by some MB.
	usual, seldom, step    = 100, 300, 50
	littleInUse, muchInUse = 10 << 20, 20 << 20
	// enough is how much garbage, in the same measure, makes it run as soon as hone is idle.
	enough = 50
	// quiet is how long nothing must have changed for that.
	quiet = 5 * time.Millisecond
)

// collectInPauses has the garbage collector of a session work while nothing happens, until ctx is done: a change that comes
// while it works waits for it. What a session holds is little, 10 to 30 MB with 1,000 resources, so that garbage is
// collected several times a second under steady changes.
func collectInPauses(ctx context.Context, st *store.Store) {
	if command.CollectorSet() {
		return
	}
	limit := usual
	defer debug.SetGCPercent(debug.SetGCPercent(limit))
	changed, stop := st.Watch()
	defer stop()
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			timer.Reset(quiet)
		case <-timer.C:
			if garbage() >= enough {
				runtime.GC()
			}
			if l := limitNow(); l != limit {
				limit = l
				debug.SetGCPercent(limit)
			}
		}
	}
}

// garbage is how much has been allocated since the last collection, in percent of what that found in use.
func garbage() uint64 {
	allocated, inUse := heap()
	return (max(allocated, inUse) - inUse) * 100 / inUse
}

// limitNow is how much garbage there may be with what is in use.
func limitNow() int {
	_, inUse := heap()
	return limitFor(inUse)
}

func limitFor(inUse uint64) int {
	above := min(max(inUse, littleInUse), muchInUse) - littleInUse
	steps := above * (seldom - usual) / step / (muchInUse - littleInUse)
	return usual + int(steps)*step
}

// heap is how many bytes are allocated, and how many of them the last collection found in use, at least one.
func heap() (allocated, inUse uint64) {
	known := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(known)
	return known[0].Value.Uint64(), max(known[1].Value.Uint64(), 1)
}
