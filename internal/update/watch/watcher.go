package watch

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// Options configure a Watcher. The zero value is usable.
type Options struct {
	// Logger receives diagnostics; nil for none.
	Logger *slog.Logger
	// GlobalIgnores apply to every spec, in addition to those passed to Set.
	GlobalIgnores []model.Ignore
	// Clock returns the time for batches; nil for the system's clock.
	Clock func() time.Time
	// OnProblems is called with all present problems when they have changed, one call at a time, from within Set or Run.
	// It must not call Set.
	OnProblems func([]*problem.Problem)
}

// Watcher reports changes of files to the consumers that requested them. It runs once: New, any number of calls of Set,
// one Run, which also releases all system resources.
type Watcher struct {
	log        *slog.Logger
	fixed      []model.Ignore
	clock      func() time.Time
	onProblems func([]*problem.Problem)
	backend    backend
	inbox      *inbox
	hasher     *hasher
	times      timings
	kick       chan struct{} // tells Run that Set left something to report or to wait for

	setMu  sync.Mutex     // held throughout Set; taken before mu
	specs  []Spec         // guarded by setMu
	global []model.Ignore // guarded by setMu

	mu       sync.Mutex // guards the fields below
	reg      *registry
	folders  map[string]*folder
	twins    twins
	left     map[string]bool   // where something has been reported that a folder may follow
	anchors  map[string]string // root -> the folder that is watched because of it alone
	pending  *pending
	rehash   *pending // large files to be read once it is certain which state was reported
	changed  map[string]Print
	touched  map[string]bool // files of equal content whose time was set
	latest   time.Time       // when the latest of changed was made
	told     time.Time       // when the system reported the change that is being looked at
	polling  poller
	troubles troubles
	buf      []byte
	peeks    map[string]peek // of the paths that are being looked at, if they are many
	marks    []*mark         // that Run has reached; the callers of Sync wait for the rest
	ran      atomic.Bool     // Run was called
	ended    atomic.Bool     // the context of Run has ended, or Run has returned: nothing more is read

	tellMu sync.Mutex // held while OnProblems is called
}

// timings are the times for which the watcher waits where a single event is ambiguous.
type timings struct {
	// fresh is for a new file: many programs write under a temporary name and rename.
	fresh time.Duration
	// gone is for a file that vanished: many programs replace a file by removing it first.
	gone time.Duration
	// unclosed is for a file that was created or written and not closed; it is also the pause between two looks while
	// the file is being written, for unclosedMax in total.
	unclosed, unclosedMax time.Duration
	// written is the quiet time after a write, where closing is not reported, for writtenMax in total.
	written, writtenMax time.Duration
}

var defaultTimings = timings{
	fresh: 4 * time.Millisecond, gone: 15 * time.Millisecond,
	unclosed: 100 * time.Millisecond, unclosedMax: 2 * time.Second,
	written: 5 * time.Millisecond, writtenMax: 100 * time.Millisecond,
}

// New returns a watcher that watches nothing yet. A bad pattern among the options is a *problem.Problem.
func New(opts Options) (*Watcher, error) { return newWatcher(opts, newBackend()) }

func newWatcher(opts Options, b backend) (*Watcher, error) {
	w := &Watcher{
		log: opts.Logger, fixed: cloneIgnores(opts.GlobalIgnores), clock: opts.Clock, onProblems: opts.OnProblems,
		backend: b, inbox: newInbox(), hasher: newHasher(), times: defaultTimings, kick: make(chan struct{}, 1),
		folders: map[string]*folder{}, anchors: map[string]string{}, twins: twins{}, left: map[string]bool{}, pending: newPending(), rehash: newPending(),
		changed: map[string]Print{}, touched: map[string]bool{}, troubles: newTroubles(),
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if w.clock == nil {
		w.clock = time.Now
	}
	var err error
	w.reg, err = newRegistry(nil, w.fixed, &registry{}, w.ended.Load)
	return w, err
}

var errEnded = fmt.Errorf("watch: %w", os.ErrClosed)

// Set replaces the specs to watch; global ignores apply to every spec. When Set returns nil, every later change is reported, even
// if Run starts later. Existing files are not changes. Set may take as long as reading the new folders, and no time when nothing is
// new. On error, which is a *problem.Problem for a bad pattern, the specs stay as they were. When the context of Run ends, Set soon fails. Folders that cannot be watched are not
// an error; see Problems.
func (w *Watcher) Set(specs []Spec, global []model.Ignore) error {
	w.setMu.Lock()
	defer w.setMu.Unlock()
	sameGlobal := equalIgnores(global, w.global)
	if sameGlobal && slices.EqualFunc(specs, w.specs, Spec.Equal) {
		return nil
	}
	w.mu.Lock()
	old := w.reg
	w.mu.Unlock()
	reg, err := newRegistry(specs, slices.Concat(w.fixed, global), old, w.ended.Load)
	if err != nil {
		return err
	}
	w.specs = w.specs[:0:0]
	for _, s := range specs {
		w.specs = append(w.specs, s.clone())
	}
	w.global = cloneIgnores(global)
	w.change(old, reg, !sameGlobal)
	if w.ended.Load() {
		return errEnded
	}
	poke(w.kick)
	w.tellProblems()
	return nil
}

// change moves from one registry to another. It releases the lock briefly after each folder.
func (w *Watcher) change(old, reg *registry, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reg = reg
	for _, path := range slices.Sorted(maps.Keys(reg.roots)) {
		if w.ended.Load() {
			return
		}
		o := old.roots[path]
		if all || o == nil || !maps.Equal(o.keys, reg.roots[path].keys) {
			w.walk(w.arrive(path, old), old, false, func() {
				w.mu.Unlock()
				w.mu.Lock()
			})
		}
	}
	w.sweep(old)
}

// tellProblems calls OnProblems if there is news.
func (w *Watcher) tellProblems() {
	w.tellMu.Lock()
	defer w.tellMu.Unlock()
	w.mu.Lock()
	news := w.troubles.news
	w.troubles.news = false
	list := w.troubles.list()
	w.mu.Unlock()
	if !news {
		return
	}
	for _, p := range list {
		w.log.Warn("watching files", "problem", p.Error())
	}
	if w.onProblems != nil {
		w.onProblems(list)
	}
}

// Run reports changes to sink until ctx ends, and then returns nil after everything that it started has ended. One
// goroutine calls sink; while sink runs, nothing else is reported, so it should return quickly. An error means that the
// system no longer delivers events.
func (w *Watcher) Run(ctx context.Context, sink func(Batch)) error {
	if w.ran.Swap(true) { // a Set that still reads its trees does not keep Run from noticing the end
		return errEnded
	}
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(ctx, func() { w.ended.Store(true) })()
	var wg sync.WaitGroup
	failed := make(chan error, 1)
	wg.Go(func() {
		if err := w.backend.Run(ctx, w.inbox.put); err != nil {
			failed <- err
		}
	})
	wg.Go(func() { w.hasher.run(ctx) })
	defer func() {
		cancel()
		wg.Wait()
		w.ended.Store(true)
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case <-w.inbox.wake:
			w.locked(func() { w.handle(w.inbox.take()) })
		case rs := <-w.hasher.results:
			w.locked(func() { w.hashed(rs) })
		case <-w.kick:
		case <-timer.C:
		}
		next := w.due()
		if b := w.flush(); len(b.Changes) > 0 {
			sink(b)
		}
		w.tellProblems()
		if w.waited() {
			next = min(next, syncPause)
		}
		timer.Reset(next)
	}
}

func (w *Watcher) locked(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// due looks at every path that is due and returns how long to wait for the next.
func (w *Watcher) due() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	// Paths that become due meanwhile are looked at, too: the files of a folder that has come as a whole are reported as a whole.
	for ls := w.pending.popAll(now); len(ls) > 0; ls = w.pending.popAll(now) {
		w.peeks = peekAll(ls)
		for _, l := range ls {
			w.lookLater(l, now)
		}
		w.peeks, now = nil, time.Now()
	}
	for l := w.rehash.pop(now); l != nil; l = w.rehash.pop(now) {
		w.hasher.hashNow(hashJob{path: l.path})
	}
	w.poll(now)
	wait := time.Hour
	for _, next := range []func() (time.Time, bool){w.pending.next, w.rehash.next, w.polling.next} {
		if t, ok := next(); ok {
			wait = min(wait, time.Until(t))
		}
	}
	return max(wait, 0)
}

// report notes that path changed, at the given time.
func (w *Watcher) report(path string, was, now Fingerprint, at time.Time) {
	if at.After(w.latest) {
		w.latest = at
	}
	if p, ok := w.changed[path]; ok {
		was = p.Was
	}
	w.changed[path] = Print{Was: was, Now: now}
}

// flush returns the changes noted since the last call, by target.
func (w *Watcher) flush() Batch {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.changed)+len(w.touched) == 0 {
		return Batch{}
	}
	b := Batch{At: w.clock(), Made: w.latest}
	if b.Made.IsZero() {
		b.Made = b.At
	}
	w.latest = time.Time{}
	index := map[model.TargetID]int{}
	for _, path := range w.reported() {
		p, changed := w.changed[path]
		if changed = changed && !p.reverted(); !changed {
			p = Print{} // nothing restores the time of a file that was touched
		}
		if !changed && !w.touched[path] {
			continue
		}
		w.reg.eachWanting(path, func(consumer int) {
			id := w.reg.consumers[consumer].ID
			if !changed && !w.reg.consumers[consumer].Touches {
				return
			}
			i, ok := index[id]
			if !ok {
				i = len(b.Changes)
				index[id] = i
				b.Changes = append(b.Changes, Change{ID: id})
			}
			c := &b.Changes[i]
			if n := len(c.Paths); n == 0 || c.Paths[n-1] != path {
				c.Paths = append(c.Paths, path)
				c.Prints = append(c.Prints, p)
			}
		})
	}
	clear(w.changed)
	clear(w.touched)
	return b
}

// reported returns the paths that were noted since the last flush, sorted.
func (w *Watcher) reported() []string {
	paths := slices.Collect(maps.Keys(w.changed))
	for path := range w.touched {
		if _, changed := w.changed[path]; !changed {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
