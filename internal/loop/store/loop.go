package store

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/immutable"

	"github.com/hone-dev/hone/internal/base/bug"
)

// slowBatch is the longest time that a batch may take before the watchdog reports it (reference check C12).
const slowBatch = 5 * time.Millisecond

// Store holds the newest snapshot and the queue of actions. All its methods are safe for concurrent use.
type Store struct {
	schema  *Schema
	now     func() time.Time
	log     *slog.Logger
	current atomic.Pointer[Snapshot]
	stats   Stats

	mu      sync.Mutex
	queue   []envelope
	closed  bool
	last    time.Time
	readers []*mailbox
	// runtimes are the runtimes of all subscribers, in the subscribers' order.
	runtimes []*Runtime
	// finalizers holds, per table, the names that new entries get.
	finalizers [][]string
	// passing are the tables that follow others and are followed; their followers are called last.
	passing []int

	poke chan struct{}
}

// mailbox is the wake-up slot of one reader.
type mailbox struct {
	tables []bool
	// releases are the tables whose releases also wake it; nil means all.
	releases []bool
	slot     chan struct{}
	// stats is nil for readers outside of the contracts.
	stats *subscriberStats
}

// awaits reports whether a release in a table wakes it.
func (m *mailbox) awaits(table int) bool { return m.releases == nil || m.releases[table] }

func (m *mailbox) wake() {
	if m.stats != nil {
		m.stats.woken.Store(true)
	}
	select {
	case m.slot <- struct{}{}:
		if m.stats != nil {
			m.stats.wakes.Add(1)
		}
	default:
	}
}

// Option changes a new Store.
type Option func(*Store)

// WithClock replaces time.Now, which stamps actions when they are dispatched.
func WithClock(now func() time.Time) Option { return func(s *Store) { s.now = now } }

// WithLog sets where the watchdog writes.
func WithLog(l *slog.Logger) Option { return func(s *Store) { s.log = l } }

// New returns a store with empty tables.
func New(schema *Schema, options ...Option) *Store {
	s := &Store{
		schema: schema, now: time.Now, log: slog.New(slog.DiscardHandler),
		poke: make(chan struct{}, 1), finalizers: make([][]string, len(schema.tables)), passing: schema.passing(),
	}
	for _, option := range options {
		option(s)
	}
	first := &Snapshot{schema: schema, contents: make([]*content, len(schema.tables)), versions: make([]uint64, len(schema.tables)),
		derived: make([]derivation, schema.derived), lists: make([]*listing, len(schema.tables))}
	for i := range schema.tables {
		first.contents[i], first.lists[i] = immutable.NewSortedMap[string, Row](nil), &listing{}
	}
	s.current.Store(first)
	return s
}

// Snapshot returns the newest snapshot.
func (s *Store) Snapshot() *Snapshot { return s.current.Load() }

// Stats returns the loop's counters.
func (s *Store) Stats() *Stats { return &s.stats }

// Dispatch queues actions for the loop, in order. An action that no table accepts is a bug of the caller: it is reported
// and dropped. Dispatch returns the time stamp of the actions: a snapshot holds them if its At is not earlier. After the
// loop's end the time is zero.
func (s *Store) Dispatch(actions ...Action) time.Time {
	refused := func(a Action) bool { return !s.accepts(a) }
	if i := slices.IndexFunc(actions, refused); i >= 0 {
		bug.Reportf("no table accepts action %s", TypeOf(actions[i]))
		actions = slices.DeleteFunc(slices.Clone(actions), refused)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return time.Time{}
	}
	// Strictly rising stamps let readers tell the actions that a snapshot holds (up to Snapshot.At) from later ones.
	now := s.now()
	if !now.After(s.last) {
		now = s.last.Add(1)
	}
	s.last = now
	for _, a := range actions {
		s.queue = append(s.queue, envelope{a, now})
	}
	s.mu.Unlock()
	select {
	case s.poke <- struct{}{}:
	default:
	}
	return now
}

func (s *Store) accepts(a Action) bool {
	if _, generic := a.(FinalizerReleased); generic {
		return true
	}
	return len(s.schema.reducers[TypeOf(a)]) > 0
}

// Run is the loop: it reduces dispatched actions batch by batch until ctx is done, and then the rest of the queue. It must
// be called once.
//
// It has a thread of its own, which sleeps between batches. A thread that has just run other goroutines has used up its
// time slice, and on a busy machine the kernel preempts it in the middle of a batch, for 2 to 8 ms. (While clients sent
// endless bodies, 9 of 1,000 batches took more than 1 ms on shared threads, and 2 on a thread of its own.)
func (s *Store) Run(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case <-s.poke:
			s.reduce(s.take(false))
		case <-ctx.Done():
			s.reduce(s.take(true))
			return
		}
	}
}

// close makes further actions no-ops, after a panic of the loop.
func (s *Store) close() { s.take(true) }

func (s *Store) take(last bool) []envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := s.queue
	s.queue = nil
	s.closed = s.closed || last
	return batch
}

func (s *Store) reduce(batch []envelope) {
	if len(batch) == 0 {
		return
	}
	start := time.Now()
	before := s.current.Load()
	drafts := make([]*draft, len(s.schema.tables))
	for _, e := range batch {
		s.reduceOne(before, drafts, e)
	}
	s.publish(before, drafts, batch[len(batch)-1].at)
	s.measure(len(batch), time.Since(start))
}

func (s *Store) reduceOne(before *Snapshot, drafts []*draft, e envelope) {
	draftOf := func(i int) *draft {
		if drafts[i] == nil {
			drafts[i] = newDraft(s.schema.tables[i], before, s.finalizers[i])
		}
		drafts[i].now = e.at
		return drafts[i]
	}
	if r, ok := e.action.(FinalizerReleased); ok {
		if _, i := s.schema.table(r.Table); i >= 0 {
			draftOf(i).release(r.ID, r.Finalizer)
			drafts[i].tell(draftOf)
			s.pass(drafts, draftOf)
		}
		return
	}
	reducers := s.schema.reducers[TypeOf(e.action)]
	for _, r := range reducers {
		r.reduce(draftOf(r.table), e.action)
	}
	for _, r := range reducers {
		drafts[r.table].tell(draftOf)
	}
	s.pass(drafts, draftOf)
}

// pass calls the followers of the tables that follow others themselves.
func (s *Store) pass(drafts []*draft, draftOf func(table int) *draft) {
	for _, i := range s.passing {
		if drafts[i] != nil {
			drafts[i].tell(draftOf)
		}
	}
}

func (s *Store) publish(before *Snapshot, drafts []*draft, at time.Time) {
	after := &Snapshot{Seq: before.Seq + 1, At: at, schema: s.schema, derived: before.derived, lists: before.lists}
	after.contents = append([]*content(nil), before.contents...)
	after.versions = append([]uint64(nil), before.versions...)
	changed, released := make([]bool, len(drafts)), make([]bool, len(drafts))
	for i, d := range drafts {
		if d != nil && d.changed {
			after.versions[i]++
			after.contents[i] = d.freeze(after.lists[i], after.versions[i])
			released[i], changed[i] = true, !d.onlyReleased()
		}
	}
	s.current.Store(after)
	s.mu.Lock()
	readers := s.readers
	s.mu.Unlock()
	for _, m := range readers {
		for i := range drafts {
			wanted := changed[i] || released[i] && m.awaits(i)
			if wanted && m.tables[i] {
				m.wake()
				break
			}
		}
	}
}

func (s *Store) measure(actions int, took time.Duration) {
	s.stats.count(actions, took)
	if took > slowBatch {
		s.log.Warn("slow batch", "actions", actions, "took", took)
	}
}

// Watch returns a wake-up slot for a reader of the named tables (all, when none is named) that is outside of the
// contracts, such as a test, and a function that ends it.
func (s *Store) Watch(tables ...string) (wake <-chan struct{}, stop func()) {
	m := &mailbox{tables: make([]bool, len(s.schema.tables)), slot: make(chan struct{}, 1)}
	for i, t := range s.schema.tables {
		m.tables[i] = len(tables) == 0
		for _, name := range tables {
			m.tables[i] = m.tables[i] || t.name == name
		}
	}
	s.attach(m)
	m.wake()
	return m.slot, func() { s.detach(m) }
}

func (s *Store) attach(m *mailbox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers = append(append([]*mailbox(nil), s.readers...), m)
}

func (s *Store) detach(m *mailbox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rest []*mailbox
	for _, r := range s.readers {
		if r != m {
			rest = append(rest, r)
		}
	}
	s.readers = rest
}

// Step reduces the queued actions and returns, for tests that want a snapshot without a loop. It must not be used together with
// Run.
func (s *Store) Step() { s.reduce(s.take(false)) }
