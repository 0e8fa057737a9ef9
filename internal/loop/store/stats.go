package store

import (
	"sync/atomic"
	"time"
)

// Stats are the loop's counters. The fields are read with their Load methods.
type Stats struct {
	Actions atomic.Uint64
	Batches atomic.Uint64
	// Busy and Slowest are nanoseconds: the time spent reducing, and the longest batch.
	Busy    atomic.Int64
	Slowest atomic.Int64
	// Last is the duration of the newest batch, in nanoseconds.
	Last atomic.Int64
	// Within[i] counts the batches that took at most BatchBounds[i] and more than the bound before it; the last element
	// counts the rest.
	Within [len(BatchBounds) + 1]atomic.Uint64
}

// BatchBounds are the upper bounds of the classes of batch durations in Stats.Within.
var BatchBounds = [...]time.Duration{100 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, slowBatch, 4 * slowBatch}

// count adds one batch.
func (s *Stats) count(actions int, took time.Duration) {
	s.Actions.Add(uint64(actions))
	s.Batches.Add(1)
	s.Busy.Add(int64(took))
	s.Last.Store(int64(took))
	if int64(took) > s.Slowest.Load() {
		s.Slowest.Store(int64(took))
	}
	i := 0
	for i < len(BatchBounds) && took > BatchBounds[i] {
		i++
	}
	s.Within[i].Add(1)
}

// LoopStats are the loop's numbers at one moment. They are comparable.
type LoopStats struct {
	Actions, Batches uint64
	// Queued is the number of actions that wait to be reduced.
	Queued              int
	Busy, Slowest, Last time.Duration
	// Within is as in Stats.
	Within [len(BatchBounds) + 1]uint64
}

// Loop returns the loop's numbers.
func (s *Store) Loop() LoopStats {
	l := LoopStats{Actions: s.stats.Actions.Load(), Batches: s.stats.Batches.Load(), Busy: time.Duration(s.stats.Busy.Load()),
		Slowest: time.Duration(s.stats.Slowest.Load()), Last: time.Duration(s.stats.Last.Load())}
	for i := range l.Within {
		l.Within[i] = s.stats.Within[i].Load()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.Queued = len(s.queue)
	return l
}

// subscriberStats are the counters of one subscriber. The loop only ever touches wakes and woken.
type subscriberStats struct {
	wakes, reads, writes atomic.Uint64
	// woken is set by a wake-up and cleared by the first read of a snapshot after it, which begins the subscriber's busy
	// time. since is the time of that read (nanoseconds since start), 0 while the subscriber waits. busy is the total.
	woken       atomic.Bool
	since, busy atomic.Int64
	crashes     atomic.Uint64
	lastError   atomic.Pointer[crash]
}

type crash struct {
	text string
	at   time.Time
}

// began is the origin of monotonic times.
var began = time.Now()

// looked notes that the subscriber has read a snapshot.
func (s *subscriberStats) looked() {
	s.reads.Add(1)
	if s.woken.Load() && s.woken.CompareAndSwap(true, false) {
		s.since.CompareAndSwap(0, int64(time.Since(began)))
	}
}

// waits notes that the subscriber is about to wait for its next wake-up.
func (s *subscriberStats) waits() {
	if since := s.since.Swap(0); since != 0 {
		s.busy.Add(int64(time.Since(began)) - since)
	}
}

// crashed notes how a run of the subscriber failed.
func (s *subscriberStats) crashed(err error, at time.Time) {
	s.crashes.Add(1)
	s.lastError.Store(&crash{err.Error(), at})
}

// SubscriberStats are the numbers of one subscriber at one moment. They are comparable.
type SubscriberStats struct {
	Name string
	// Wakes counts wake-ups, Reads reads of snapshots, Writes actions.
	Wakes, Reads, Writes uint64
	// Busy is the time from the first read of a snapshot after a wake-up until the subscriber waited again. The work of
	// other goroutines that it started does not count.
	Busy time.Duration
	// Crashes counts how often it failed; LastError and LastErrorAt describe the latest failure, even after recovery.
	Crashes     uint64
	LastError   string
	LastErrorAt time.Time
}

// Subscribers returns the numbers of all subscribers, in the order in which they were given to the supervisor.
func (s *Store) Subscribers() []SubscriberStats {
	s.mu.Lock()
	all := s.runtimes
	s.mu.Unlock()
	out := make([]SubscriberStats, len(all))
	for i, rt := range all {
		c := rt.stats
		out[i] = SubscriberStats{Name: rt.contract.Name, Wakes: c.wakes.Load(), Reads: c.reads.Load(), Writes: c.writes.Load(),
			Busy: time.Duration(c.busy.Load()), Crashes: c.crashes.Load()}
		if e := c.lastError.Load(); e != nil {
			out[i].LastError, out[i].LastErrorAt = e.text, e.at
		}
	}
	return out
}
