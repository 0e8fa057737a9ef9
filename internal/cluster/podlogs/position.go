package podlogs

import (
	"hash/maphash"
	"math"
	"time"
)

// overlap is the least time before the newest line at which a new connection starts; the API's granularity adds
// up to a second. Lines may come out of order by less than that.
const overlap = time.Second

// entry identifies a delivered line. Lines with the same time and text have equal entries, which are only counted.
type entry struct {
	ns   int64
	hash uint64
}

// position is the reading position in a log.
type position struct {
	seed   maphash.Seed
	newest int64 // the time at which the next connection's overlap ends
	any    bool  // anything was delivered
	// recent are the delivered lines from floor on, in order of delivery, after head.
	recent []entry
	head   int
	floor  int64
}

func newPosition() position { return position{seed: maphash.MakeSeed(), floor: math.MinInt64} }

func (p *position) entry(ns int64, text []byte) entry {
	return entry{ns, maphash.Bytes(p.seed, text)}
}

// add records a delivered line.
func (p *position) add(e entry) {
	if !p.any || e.ns > p.newest || e.ns < p.newest-int64(overlap) {
		// The last case is a clock that was set back: with the former newest time, new lines would be missed.
		p.newest = e.ns
	}
	p.any = true
	p.recent = append(p.recent, e)
	p.floor = max(p.floor, p.start())
	for p.head < len(p.recent) && p.recent[p.head].ns < p.floor {
		p.head++
	}
	if p.head > 64 && p.head > len(p.recent)/2 {
		p.recent = p.recent[:copy(p.recent, p.recent[p.head:])]
		p.head = 0
	}
}

// start is the time from which a new connection reads, a full second.
func (p *position) start() int64 {
	second := int64(time.Second)
	from := p.newest - int64(overlap)
	return from - (from%second+second)%second
}

// since returns start as a time, but not before limit.
func (p *position) since(limit time.Time) time.Time {
	if !limit.IsZero() {
		limit = limit.UTC().Truncate(time.Second)
	}
	if !p.any {
		return limit
	}
	if from := time.Unix(0, p.start()).UTC(); from.After(limit) {
		return from
	}
	return limit
}

// replay holds the lines that a new connection repeats.
type replay struct {
	known map[entry]int
	// until is the newest delivered time when the connection began.
	until int64
	// floor is the time from which delivered lines are known.
	floor int64
	// begun is set once a delivered line has arrived: the log is then the one that the position describes.
	begun bool
}

// before reports whether an entry is older than everything that the position describes, in a log that may be another one.
func (r *replay) before(e entry) bool { return !r.begun && e.ns <= r.until }

func (p *position) replay() *replay {
	r := &replay{until: p.newest, floor: p.floor}
	if n := len(p.recent) - p.head; n > 0 {
		r.known = make(map[entry]int, n)
		for _, e := range p.recent[p.head:] {
			r.known[e]++
		}
	}
	return r
}

// take reports whether a line was delivered before.
func (r *replay) take(e entry) bool {
	if n := r.known[e]; n > 0 {
		r.begun = true
		if n == 1 {
			delete(r.known, e)
		} else {
			r.known[e] = n - 1
		}
		return true
	}
	// Lines before floor come only after a clock was set back, and only at the beginning.
	return !r.begun && e.ns < r.floor
}
