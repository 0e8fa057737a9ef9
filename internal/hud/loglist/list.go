package loglist

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// firstStep and lastStep bound the line numbers that are looked at in one go: few at first, so that the newest lines are
	// shown at once, then more, so that a step's overhead does not count.
	firstStep = 1 << 12
	lastStep  = 1 << 17
	// mostScans bounds the goroutines that look at lines at the same time.
	mostScans = 4
	// expiry is the interval at which lines that have become too old for since: are dropped.
	expiry = time.Second
	// followPause is the least time between two looks at new lines.
	followPause = time.Second / 30
	// keptLines bounds the lines that a list keeps to show them again.
	keptLines = 4096
)

// Logs is the part of the log store that lists read.
type Logs interface {
	ReadBefore(f logstore.Filter, seq uint64, n int) []logstore.Line
	ReadAfter(f logstore.Filter, seq uint64, n int) []logstore.Line
	Scan(ctx context.Context, f logstore.Filter, from, to uint64, back bool, yield func(logstore.LineRef) bool) error
	Count(f logstore.Filter) int
	Dropped(f logstore.Filter) uint64
	Newest() uint64
	Oldest(f logstore.Filter) uint64
	Drops() uint64
	Subscribe() (changed <-chan struct{}, cancel func())
}

var _ Logs = (*logstore.Store)(nil)

// Lister opens lists of one log.
type Lister struct {
	logs Logs
	now  func() time.Time
	news chan struct{} // one slot
	// errors counts the messages at error level that were learned.
	errors atomic.Uint64

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
}

// NewLister returns a lister whose lists end with ctx. now is the clock that since: refers to.
func NewLister(ctx context.Context, logs Logs, now func() time.Time) *Lister {
	l := &Lister{logs: logs, now: now, news: make(chan struct{}, 1)}
	l.ctx, l.stop = context.WithCancel(ctx)
	return l
}

// News delivers a value after a list has found more.
func (l *Lister) News() <-chan struct{} { return l.news }

// Errors returns the number of messages at error level that all Patterns together have learned so far.
func (l *Lister) Errors() uint64 { return l.errors.Load() }

// Close ends all lists and waits for them.
func (l *Lister) Close() {
	l.stop()
	l.work.Wait()
}

// List is the lines that a query selects. It is safe for use by several goroutines.
type List struct {
	logs   Logs
	query  Query
	filter logstore.Filter
	cancel context.CancelFunc
	news   chan struct{}
	now    func() time.Time
	window time.Duration // how far back lines are listed; zero for all
	delay  time.Duration // how old lines must be
	// resting is set while the list does not follow the log; woken has a value when that has ended; one slot.
	resting atomic.Bool
	woken   chan struct{}

	mu      sync.Mutex
	x       *index // nil if the store finds the lines by itself
	oldest  uint64 // of the lines to look at
	newest  uint64 // that was looked at or is to be looked at
	start   uint64
	version uint64
	begun   bool
	kept    map[uint64]logstore.Line
	drops   uint64 // of the log when the index was trimmed last
}

// Open starts a list. It looks at the lines near the line numbered `from` first; the newest line is math.MaxUint64.
func (l *Lister) Open(q Query, from uint64) *List {
	out := &List{logs: l.logs, query: q, cancel: func() {}, news: l.news, now: l.now, window: q.Typed.Window(), delay: q.Typed.Delay(), woken: make(chan struct{}, 1)}
	out.filter = q.filter(l.now())
	if broad(out.filter) && out.delay == 0 {
		return out
	}
	ctx, cancel := context.WithCancel(l.ctx)
	out.cancel, out.kept = cancel, map[uint64]logstore.Line{}
	out.newest = l.logs.Newest()
	out.oldest = l.logs.Oldest(out.scope())
	out.start = min(from, out.newest)
	out.x = newIndex(out.start)
	l.work.Go(func() { out.run(ctx) })
	return out
}

// Close ends the search. The lines that were found can still be read.
func (l *List) Close() { l.cancel() }

// Rest makes the list stop following the log once it has found all lines, until it is called with false: a hidden list need not
// grow. It never blocks.
func (l *List) Rest(on bool) {
	if l.resting.Swap(on) && !on {
		select {
		case l.woken <- struct{}{}:
		default:
		}
	}
}

// Query returns the query of the list.
func (l *List) Query() Query { return l.query }

// scope is the filter without the part that the index checks: the resources.
func (l *List) scope() logstore.Filter { return logstore.Filter{Resources: l.filter.Resources} }

// run looks for lines until ctx is done.
func (l *List) run(ctx context.Context) {
	changed, cancel := l.logs.Subscribe()
	defer cancel()
	var late <-chan time.Time
	if l.delay > 0 {
		l.begin(ctx)
	}
	if l.window > 0 || l.delay > 0 {
		tick := time.NewTicker(expiry)
		defer tick.Stop()
		late = tick.C
	}
	for step := uint64(firstStep); ctx.Err() == nil; step = min(2*step, lastStep) {
		forward, back := l.step(ctx, step)
		if forward || back {
			continue
		}
		select {
		case <-ctx.Done():
		case <-changed:
			retry.Sleep(ctx, followPause)
		case <-late:
			if l.window > 0 {
				l.expire()
			}
		}
		for l.resting.Load() && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-l.woken:
			}
		}
	}
}

// begin moves the start of a list of old lines to their end.
func (l *List) begin(ctx context.Context) {
	limit, at := l.now().Add(-l.delay), uint64(0)
	_ = l.logs.Scan(ctx, l.scope(), 0, math.MaxUint64, true, func(line logstore.LineRef) bool {
		if line.Time.After(limit) {
			return true
		}
		at = line.Seq
		return false
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start, l.newest = min(l.start, at), at
	l.x = newIndex(l.start)
}

// ripe returns the number of the newest line that is old enough to look at; it starts from the last line that was looked at.
// Lines are nearly in the order of their times.
func (l *List) ripe(ctx context.Context, last uint64) uint64 {
	newest := l.logs.Newest()
	if l.delay == 0 {
		return newest
	}
	limit, at := l.now().Add(-l.delay), newest
	_ = l.logs.Scan(ctx, l.scope(), last, newest+1, false, func(line logstore.LineRef) bool {
		if line.Time.After(limit) {
			at = line.Seq - 1
		}
		return at == newest
	})
	return max(last, at)
}

// step looks at up to n line numbers in each direction, and reports whether there are more.
func (l *List) step(ctx context.Context, n uint64) (forward, back bool) {
	l.mu.Lock()
	low, high, oldest := l.x.low, l.x.high, l.oldest
	l.mu.Unlock()
	newest := l.ripe(ctx, high)
	grew := false
	if high < newest {
		to := min(high+n, newest)
		grew = l.look(ctx, high, to+1, false)
		high = to
	}
	if low > oldest && low > 1 {
		to := max(low-min(low, n), oldest, 1)
		grew = l.look(ctx, to-1, low, true) || grew
		low = to
	}
	if ctx.Err() != nil {
		return false, false
	}
	l.mu.Lock()
	moved := l.x.high != high || l.x.low != low
	changed := !l.begun
	l.x.low, l.x.high, l.newest, l.begun = low, high, newest, true
	if trimmed := l.trim(); grew || trimmed {
		l.version++
		changed = true
	}
	l.mu.Unlock()
	forward, back = high < newest, low > oldest && low > 1
	if moved && (back || forward || low != l.start) {
		changed = true
	}
	if changed {
		l.tell()
	}
	return forward, back
}

// look adds the lines with from < Seq < to, and reports whether there are any. It divides the range among the processors.
func (l *List) look(ctx context.Context, from, to uint64, back bool) bool {
	parts := uint64(1)
	if to-from > lastStep/2 {
		parts = uint64(min(runtime.GOMAXPROCS(0), mostScans))
	}
	found := make([][]ref, parts)
	var scans sync.WaitGroup
	width := (to - from - 1) / parts
	for i := range parts {
		first, end := from+i*width, from+(i+1)*width+1
		if i == parts-1 {
			end = to
		}
		scans.Go(func() { found[i] = l.scan(ctx, first, end, back) })
	}
	scans.Wait()
	if ctx.Err() != nil { // a part of a step would be looked at twice
		return false
	}
	if back {
		slices.Reverse(found)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	grew := false
	for _, refs := range found {
		for _, r := range refs {
			l.x.add(r, back)
			grew = true
		}
	}
	return grew
}

// scan returns the lines with from < Seq < to.
func (l *List) scan(ctx context.Context, from, to uint64, back bool) (refs []ref) {
	_ = l.logs.Scan(ctx, l.filter, from, to, back, func(line logstore.LineRef) bool {
		refs = append(refs, ref{line.Seq, line.Resource})
		return true
	})
	return refs
}

// trim forgets the lines that the store has dropped, and reports whether there are any. The mutex is held.
func (l *List) trim() bool {
	drops := l.logs.Drops()
	if drops == l.drops { // a look at each of a thousand resources, thirty times a second, would cost more than the search
		return false
	}
	l.drops = drops
	before := l.x.n
	for name := range l.x.resources {
		one := logstore.Filter{Resources: []model.ManifestName{name}}
		l.x.trim(name, l.logs.Oldest(one))
	}
	l.oldest = max(l.oldest, l.logs.Oldest(l.scope()))
	return l.x.n != before
}

// expire removes the lines that have become too old. The lines of a resource are nearly in the order of their times.
func (l *List) expire() {
	since := l.now().Add(-l.window)
	l.mu.Lock()
	before := l.x.n
	for name, f := range l.x.resources {
		old := sort.Search(f.len(), func(i int) bool {
			one := l.logs.ReadAfter(logstore.Filter{Resources: []model.ManifestName{name}}, f.get(i)-1, 1)
			return len(one) == 0 || !one[0].Time.Before(since)
		})
		switch {
		case old == f.len():
			l.x.trim(name, f.get(old-1)+1)
		case old > 0:
			l.x.trim(name, f.get(old))
		}
	}
	gone := l.x.n != before
	if gone {
		l.version++
	}
	l.mu.Unlock()
	if gone {
		l.tell()
	}
}

func (l *List) tell() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// Version changes whenever the list contains other lines than before.
func (l *List) Version() uint64 {
	if l.x == nil {
		return uint64(l.logs.Count(l.filter)) + l.logs.Dropped(l.filter)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}

// Begun reports whether the list has looked at the lines nearest to its start: until then it is empty, whatever the log contains.
func (l *List) Begun() bool {
	if l.x == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun
}

// Len returns the number of lines that were found so far and are still stored.
func (l *List) Len() int {
	if l.x == nil {
		return l.logs.Count(l.filter)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.x.n
}

// Rank returns the number of found lines before the line numbered seq. ok is false if the log would have to be read for the
// answer.
func (l *List) Rank(seq uint64) (n int, ok bool) {
	if l.x == nil {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.x.rank(seq), true
}

// Empty reports whether no line of the whole log passes the query.
func (l *List) Empty() bool { return l.Len() == 0 && l.Looked() >= 1 }

// Looked returns the part of the log that was looked at, from 0 to 1.
func (l *List) Looked() float64 {
	if l.x == nil {
		return 1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	all := float64(l.newest-min(l.oldest, l.newest)) + 1
	open := 0.0
	if l.x.low > max(l.oldest, 1) {
		open += float64(l.x.low - max(l.oldest, 1))
	}
	if l.x.high < l.newest {
		open += float64(l.newest - l.x.high)
	}
	return max(0, 1-open/all)
}

// Reaches reports whether everything between two line numbers was looked at.
func (l *List) Reaches(from, to uint64) bool {
	if l.x == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return (l.x.low <= max(from, l.oldest, 1)) && (l.x.high >= min(to, l.newest))
}

// Before returns the last n lines before the line numbered seq, oldest first.
func (l *List) Before(seq uint64, n int) []logstore.Line {
	if l.x == nil {
		return l.logs.ReadBefore(l.filter, seq, n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fetch(l.x.before(seq, n))
}

// After returns the first n lines after the line numbered seq, oldest first.
func (l *List) After(seq uint64, n int) []logstore.Line {
	if l.x == nil {
		return l.logs.ReadAfter(l.filter, seq, n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fetch(l.x.after(seq, n))
}

// fetch reads lines. Lines that the store has dropped since they were found are left out. The mutex is held.
func (l *List) fetch(refs []ref) []logstore.Line {
	if len(l.kept)+len(refs) > keptLines {
		clear(l.kept)
	}
	lines := make([]logstore.Line, 0, len(refs))
	for _, r := range refs {
		line, ok := l.kept[r.seq]
		if !ok {
			one := l.logs.ReadAfter(logstore.Filter{Resources: []model.ManifestName{r.resource}}, r.seq-1, 1)
			if len(one) == 0 || one[0].Seq != r.seq {
				continue
			}
			line = one[0]
			l.kept[r.seq] = line
		}
		lines = append(lines, line)
	}
	return lines
}
