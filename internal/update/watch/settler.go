package watch

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// How changes settle. The sink of a Watcher calls Add for each batch; Run, on the goroutine of its caller, hands over the targets
// whose files are at rest. mu guards all state, which is one settling for each target:
//
//	nothing waits ──Add: learn──> a burst is collected ──nothing came until dueAt──> locked? ──no──> released: nothing waits
//	                                ↑ each further Add: note                           └─yes: dueAt again after lockPause
//
// A target is at rest when no change has come for its quiet time. quiet is learned at the beginning of each burst (learn): it grows
// if the last release came too early, that is, if the next change followed within MaxQuiet; it is halved, down to nothing, if the
// target is low-latency and the last burst was singleSave, that is, a single save; otherwise it approaches the default again. Within a burst,
// restsAt also waits for twice the longest pause so far (gap). The wait ends at the latest Cap after the first change, or LockedCap
// while Git is at work.
//
// A file that the Tiltfile reads, too, waits under two targets. The other target is then released no earlier than the target of the
// Tiltfile (configs).

// SettlerOptions configure a Settler. The zero value means the defaults.
type SettlerOptions struct {
	// Quiet is the time without changes after which a target's changes are released; 30 ms by default.
	Quiet time.Duration
	// Eager replaces Quiet, if it is shorter, for the targets for which LowLatency returns true; 5 ms by default. It falls to nothing for
	// targets whose changes come one file at a time. Add calls LowLatency, which must not call the settler; nil means no target.
	Eager      time.Duration
	LowLatency func(model.TargetID) bool
	// MaxQuiet bounds the quiet time, which grows for targets whose changes come in bursts; 200 ms by default.
	MaxQuiet time.Duration
	// Cap is the longest time for which changes are kept, counted from the first; 2 s by default.
	Cap time.Duration
	// LockedCap replaces Cap while Locked returns true; 10 s by default.
	LockedCap time.Duration
	// Locked reports whether a program is at work in the source tree of the folders and will change more. By default
	// that is Git holding its index.lock. Only Run calls it, every 10 ms while it returns true.
	Locked func(dirs []string) bool
}

// leastQuiet is the shortest time worth waiting for: timers are not more exact.
const leastQuiet = time.Millisecond

// lockPause is the time between two looks at a lock.
const lockPause = 10 * time.Millisecond

// Settler collects changes per target and releases them when the target's files have come to rest. Changes that were
// undone meanwhile are dropped. A file that the Tiltfile also reads is released for other targets no earlier than for the
// Tiltfile, since its meaning for them is known only after the Tiltfile has been evaluated.
type Settler struct {
	opts SettlerOptions
	wake chan struct{}

	mu      sync.Mutex
	targets map[model.TargetID]*settling // guarded by mu
	configs *settling                    // guarded by mu; of the files that the Tiltfile reads, nil before the first change
	order   int                          // guarded by mu; of the next target that starts to settle
	handing bool                         // guarded by mu; Run is handing over a batch
}

// settling is the state of one target. It is kept between bursts, with the quiet time that was learned.
type settling struct {
	id         model.TargetID
	order      int
	paths      map[string]Print // nil when nothing waits
	dirs       map[string]bool  // the folders of paths
	at         time.Time        // of the latest batch, by the batch
	made       time.Time        // likewise
	first      time.Time        // when the first of paths came
	last       time.Time        // when the latest change came, kept after the release
	gap        time.Duration    // the longest pause within this burst
	quiet      time.Duration    // the quiet time that was learned from earlier bursts
	singleSave bool             // this burst, or the one before it, is one change of one file of this target alone
	retry      time.Time        // when to look at the lock again
	complete   time.Time        // the changes up to this time are known to be complete
}

// NewSettler returns an empty settler.
func NewSettler(opts SettlerOptions) *Settler {
	set := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	set(&opts.Quiet, 30*time.Millisecond)
	set(&opts.Eager, 5*time.Millisecond)
	set(&opts.MaxQuiet, 200*time.Millisecond)
	opts.Eager = min(opts.Eager, opts.Quiet)
	opts.MaxQuiet = max(opts.MaxQuiet, opts.Quiet)
	set(&opts.Cap, 2*time.Second)
	set(&opts.LockedCap, 10*time.Second)
	if opts.Locked == nil {
		opts.Locked = newGitLocks().locked
	}
	return &Settler{opts: opts, wake: make(chan struct{}, 1), targets: map[model.TargetID]*settling{}}
}

// Add takes changes. It never blocks and may be called by any goroutine, also while Run is not running.
func (s *Settler) Add(b Batch) {
	now := time.Now()
	s.mu.Lock()
	for _, c := range b.Changes {
		s.add(c, b, now)
	}
	s.mu.Unlock()
	poke(s.wake)
}

// add takes the changes of one target. s.mu is held.
func (s *Settler) add(c Change, b Batch, now time.Time) {
	t := s.targets[c.ID]
	if t == nil {
		t = &settling{id: c.ID, quiet: s.quiet(c.ID)}
		s.targets[c.ID] = t
		if c.ID.Type == model.TargetConfigs {
			s.configs = t
		}
	}
	gap := now.Sub(t.last)
	switch {
	case t.paths != nil:
		t.gap = max(t.gap, gap)
		t.singleSave = false
	default:
		s.learn(t, gap)
		t.singleSave = len(c.Paths) == 1 && len(b.Changes) == 1 && gap >= s.opts.MaxQuiet
		t.paths, t.dirs = map[string]Print{}, map[string]bool{}
		t.first, t.gap, t.retry = now, 0, time.Time{}
		t.order = s.order
		s.order++
	}
	t.last = now
	if b.At.After(t.at) {
		t.at = b.At
	}
	if b.Made.After(t.made) {
		t.made = b.Made
	}
	for i, path := range c.Paths {
		var p Print
		if i < len(c.Prints) {
			p = c.Prints[i]
		}
		t.note(path, p)
	}
}

// learn adapts a target's quiet time when a burst begins; gap is the time since the change before it. A burst that follows soon
// after a release belonged to the released changes: a formatter or a generator was still at work. Single saves shorten the wait of
// a low-latency target. Apart from the program's start, this wait is the largest part of the time that a restart takes.
func (s *Settler) learn(t *settling, gap time.Duration) {
	least := s.quiet(t.id)
	if gap < s.opts.MaxQuiet {
		t.quiet = min(max(t.quiet, least, gap+gap/2), s.opts.MaxQuiet)
		return
	}
	if t.singleSave && s.lowLatency(t.id) {
		t.quiet /= 2
		if t.quiet < leastQuiet {
			t.quiet = 0
		}
		return
	}
	t.quiet = max(least, least+(t.quiet-least)*7/10)
}

// quiet returns a target's quiet time before anything was learned.
func (s *Settler) quiet(id model.TargetID) time.Duration {
	if s.lowLatency(id) {
		return s.opts.Eager
	}
	return s.opts.Quiet
}

func (s *Settler) lowLatency(id model.TargetID) bool {
	return s.opts.LowLatency != nil && s.opts.LowLatency(id)
}

// note takes one path.
func (t *settling) note(path string, p Print) {
	if old, ok := t.paths[path]; ok {
		p.Was = old.Was
	}
	t.paths[path] = p
	t.dirs[filepath.Dir(path)] = true
	if p.Now == PrintAbsent || p.Now == PrintUnknown {
		return
	}
	// The path exists, so the folders above it do, whatever was noted about them before.
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if old, ok := t.paths[dir]; ok && old.Was == PrintFolder {
			delete(t.paths, dir)
		}
	}
}

// dropFolders drops the removed folders without a removed file in them: they appeared after the last release.
func (t *settling) dropFolders() {
	above := map[string]bool{}
	for path, p := range t.paths {
		if p.Was == PrintFolder {
			continue
		}
		for dir := filepath.Dir(path); !above[dir]; dir = filepath.Dir(dir) {
			above[dir] = true
		}
	}
	maps.DeleteFunc(t.paths, func(path string, p Print) bool { return p.Was == PrintFolder && !above[path] })
}

// Run passes settled changes to out, in batches of targets that settled together, until ctx ends; then it returns nil,
// and changes that have not settled stay for a later Run. One goroutine calls out; Add does not wait for it.
func (s *Settler) Run(ctx context.Context, out func(Batch)) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-timer.C:
		}
		b, wait := s.release()
		if len(b.Changes) > 0 {
			out(b)
			s.handed()
		}
		timer.Reset(wait)
	}
}

// release removes and returns the settled changes, with the time to wait for the next.
func (s *Settler) release() (Batch, time.Duration) {
	now := time.Now()
	var ready []*settling
	s.mu.Lock()
	for _, t := range s.targets {
		if t.paths != nil && !s.dueAt(t).After(now) {
			ready = append(ready, t)
		}
	}
	slices.SortFunc(ready, func(a, b *settling) int { return a.order - b.order })
	asked := make([][]string, len(ready))
	for i, t := range ready {
		asked[i] = slices.Sorted(maps.Keys(t.dirs))
	}
	s.mu.Unlock()

	locked := make([]bool, len(ready)) // called without the lock, since it looks at files
	for i, dirs := range asked {
		locked[i] = s.opts.Locked(dirs)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	var b Batch
	for i, t := range ready {
		switch {
		case locked[i] && now.Sub(t.first) < s.opts.LockedCap:
			t.retry = now.Add(lockPause)
		case s.dueAt(t).After(now): // a change came meanwhile
		default:
			t.release(&b)
		}
	}
	s.handing = len(b.Changes) > 0
	wait := time.Hour
	for _, t := range s.targets {
		if t.paths != nil {
			wait = min(wait, s.dueAt(t).Sub(now))
		}
	}
	return b, max(wait, 0)
}

// dueAt returns the time at which the changes of a target can be released if no more come. s.mu is held.
func (s *Settler) dueAt(t *settling) time.Time {
	due := s.restsAt(t)
	if c := s.configs; c != nil && c != t && t.shares(c) {
		due = later(due, s.restsAt(c))
	}
	return due
}

// shares reports whether a file waits under both targets.
func (t *settling) shares(other *settling) bool {
	few, many := t.paths, other.paths
	if len(few) > len(many) {
		few, many = many, few
	}
	for path := range few {
		if _, ok := many[path]; ok {
			return true
		}
	}
	return false
}

// Complete says that the changes that wait belong together, and that no more follow: they are released at once, unless Git holds its lock.
// It may be called by any goroutine.
func (s *Settler) Complete() {
	now := time.Now()
	s.mu.Lock()
	for _, t := range s.targets {
		t.complete = now
	}
	s.mu.Unlock()
	poke(s.wake)
}

// restsAt returns the time at which a target will have settled if no more changes come. s.mu is held.
func (s *Settler) restsAt(t *settling) time.Time {
	if !t.last.After(t.complete) {
		return later(t.last, t.retry)
	}
	quiet := min(max(t.quiet, 2*t.gap), s.opts.MaxQuiet)
	if !t.singleSave {
		quiet = max(quiet, s.quiet(t.id))
	}
	due := t.last.Add(quiet)
	if end := t.first.Add(s.opts.Cap); end.Before(due) {
		due = end
	}
	return later(due, t.retry)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// release moves the waiting changes into b, except those that were undone.
func (t *settling) release(b *Batch) {
	maps.DeleteFunc(t.paths, func(_ string, p Print) bool { return p.reverted() })
	t.dropFolders()
	c := Change{ID: t.id}
	for _, path := range slices.SortedFunc(maps.Keys(t.paths), strings.Compare) {
		c.Paths = append(c.Paths, path)
		c.Prints = append(c.Prints, t.paths[path])
	}
	if len(c.Paths) > 0 {
		b.Changes = append(b.Changes, c)
		if t.at.After(b.At) {
			b.At = t.at
		}
		if t.made.After(b.Made) {
			b.Made = t.made
		}
	}
	t.paths, t.dirs = nil, nil
}
