package up

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/hone-dev/hone/internal/base/heap"
	"github.com/hone-dev/hone/internal/loop/store"
)

const (
	// usual is the amount of garbage, in percent of the memory in use, at which the collector runs even while hone is busy. With the
	// memory of some hundred resources, where a collection takes long, the limit is seldom. Between littleInUse and muchInUse it rises
	// in steps, because the memory in use fluctuates by some MB.
	usual, seldom, step    = 200, 300, 50
	littleInUse, muchInUse = 10 << 20, 20 << 20
	// most is the number of bytes in use and of garbage together that the limit lets pass, as at the start of 1,000 resources; it is never
	// below least percent.
	most, least = 80 << 20, 50
	// enough is the amount of garbage, in the same unit, at which the collector runs as soon as hone is idle.
	enough = 50
	// quiet is the time without a change after which hone counts as idle.
	quiet = 5 * time.Millisecond
	// much is the number of bytes of garbage from which the collector runs as soon as hone is idle; with less, it waits until hone has been
	// idle for calm. A small session begins with less: a collection while it waits for the cluster's answers takes the processor from
	// a cluster on the same machine.
	much, calm = 16 << 20, 100 * quiet
	// adapted is the time after which the limit is adapted even while hone is busy: the memory in use grows most at the start.
	adapted = 10 * quiet
)

// collectInPauses runs the garbage collector of a session while the session is idle, until ctx is done: a change that
// arrives during a collection has to wait. A session uses little memory, 10 to 30 MB with 1,000 resources, so that garbage
// is collected several times a second under steady changes.
func collectInPauses(ctx context.Context, st *store.Store) {
	if heap.Configured() {
		return
	}
	before, limit := 0, 0 // until the first change after adapted, the collector waits as in any process
	defer func() {
		if limit != 0 {
			heap.Percent(before)
		}
	}()
	adapt := func() {
		l := limitNow()
		if l == limit {
			return
		}
		if was := heap.Percent(l); limit == 0 {
			before = was
		}
		limit = l
	}
	calmed := false // hone is idle, and has waited for calm
	last := time.Now()
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
			calmed = false
			if time.Since(last) >= adapted {
				last = time.Now()
				adapt()
			}
		case <-timer.C:
			switch bytes, percent := garbage(); {
			case percent < enough:
			case bytes < much && !calmed:
				timer.Reset(calm)
				calmed = true
				continue
			default:
				runtime.GC()
			}
			adapt()
		}
	}
}

// garbage returns the memory that was allocated since the last collection, in bytes, and in percent of the memory that the collection found
// in use.
func garbage() (bytes, percent uint64) {
	allocated, inUse := memory()
	bytes = max(allocated, inUse) - inUse
	return bytes, bytes * 100 / inUse
}

// limitNow returns the limit of garbage for the memory in use.
func limitNow() int {
	_, inUse := memory()
	return limitFor(inUse)
}

func limitFor(inUse uint64) int {
	above := min(max(inUse, littleInUse), muchInUse) - littleInUse
	steps := above * (seldom - usual) / step / (muchInUse - littleInUse)
	left := most - min(inUse, most)
	return int(min(usual+steps*step, max(left*100/max(inUse, 1)/step*step, least)))
}

// memory returns the number of allocated bytes, and the number of bytes that the last collection found in use, at least 1.
func memory() (allocated, inUse uint64) {
	known := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(known)
	return known[0].Value.Uint64(), max(known[1].Value.Uint64(), 1)
}
