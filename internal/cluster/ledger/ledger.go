package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/pkg/model"
)

// Ledger records which objects each resource of a project has applied, so that later sessions can collect
// leftovers and delete objects that the Tiltfile no longer declares. Every change is written before the call returns, even if the
// operation that makes it was cancelled: an applied object must have a record.
// It is safe for use by several goroutines and by several processes, on one machine or on several ones.
type Ledger struct {
	storage storage.Storage
	key     Key
	vault   vault
	origin  func() Origin
	notes   notes

	mu sync.Mutex // held while the head is read and written

	// seen is the known content, for readers, who need not wait for a write. It is nil while nothing is known.
	seen atomic.Pointer[seen]

	waitMu  sync.Mutex
	waiting []*edit   // guarded by waitMu; edits that wait for mu
	rests   time.Time // guarded by waitMu; the end of the rest after the last write, see restAfter

	// known is the content of the head at a version. Guarded by mu; the content itself is never changed.
	known   content
	version storage.Version
	loaded  bool // guarded by mu

	// updates counts the updates of this process that are in flight, by the evaluation that they began with, and failed has the resources
	// whose last one failed.
	updates map[int]int                 // guarded by waitMu
	failed  map[model.ManifestName]bool // guarded by waitMu
	// changed are the objects that existed and were written in the revision of this process.
	changed map[model.ObjectID]bool // guarded by mu
	// wrote is set once this process has written an object that existed.
	wrote atomic.Bool
	// members are the kinds and namespaces of the ApplySet, as they were written last.
	members  string // guarded by mu
	changing int    // guarded by mu; the number of that revision

	// follow, unless nil, takes the revisions that are known, and followed are those that it has taken.
	follow   func([]Revision) // guarded by mu
	followed []Revision       // guarded by mu
}

// seen is a content at a version.
type seen struct {
	content content
	version storage.Version
	// owned are its records by their objects. They are gathered once, when the first question comes.
	owned func() map[model.ObjectID]owned
}

// edit is a change of the ledger and the channel for its result.
type edit struct {
	apply func(*content)
	done  chan error
}

// Options configure a Ledger.
type Options struct {
	// Dir is the folder of this machine's ledgers; the key of this machine lies beside it.
	Dir string
	// Getenv reads the environment, which may have keys of the user; nil means that there are none.
	Getenv func(string) string
	// Origin describes the operation that makes changes. It is called when a revision begins. Nil describes nothing.
	Origin func() Origin
}

// Open reads the ledger of key. One that does not exist is empty. A damaged one is a problem, and stays unchanged.
func Open(s storage.Storage, key Key, o Options) (*Ledger, error) {
	if err := key.check(); err != nil {
		return nil, err
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Origin == nil {
		o.Origin = func() Origin { return Origin{} }
	}
	v, err := openVault(o.Dir, o.Getenv)
	if err != nil {
		return nil, err
	}
	l := &Ledger{storage: s, key: key, vault: v, origin: o.Origin, updates: map[int]int{}, failed: map[model.ManifestName]bool{}, changed: map[model.ObjectID]bool{}}
	l.notes = newNotes(l)
	if err := l.upgradeAll(); err != nil {
		return nil, err
	}
	if err := l.Refresh(); err != nil {
		return nil, err
	}
	return l, nil
}

// Key returns the key of the ledger.
func (l *Ledger) Key() Key { return l.key }

// title names the ledger in messages.
func (l *Ledger) title() string { return "the ledger " + l.Place() }

// Place returns where the ledger is: a path, or a URL without credentials.
func (l *Ledger) Place() string {
	if local, ok := l.storage.(storage.Local); ok {
		return local.Path(l.key.head())
	}
	return l.storage.String() + "/" + l.key.head()
}

// patience bounds the wait for a storage: one that does not answer for so long is stuck or out of reach. It does not end with the
// operation that writes.
func patience() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), storage.Patience, fmt.Errorf("no answer, or another process has held it, for %s", storage.Patience))
}

// Refresh reads the newest content. Without it, a ledger that is not in a folder of this machine shows the content of its last change.
func (l *Ledger) Refresh() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := patience()
	defer cancel()
	l.notes.forgetCached()
	return l.load(ctx)
}

// Exists reports whether the storage has the ledger: it has none of a project that was never applied.
func (l *Ledger) Exists(ctx context.Context) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.load(ctx)
	return l.version != storage.None, err
}

// content returns the newest content that is known. It must not be changed. Nobody waits for mu unless the content has to be read: when 300
// resources are deployed at once, each asks several times.
func (l *Ledger) content() (content, error) {
	if is := l.seen.Load(); is != nil && l.unchanged(is.version) {
		return is.content, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := patience()
	defer cancel()
	return l.current(ctx)
}

// current returns the content, and reads it only if it may have changed. l.mu is held.
func (l *Ledger) current(ctx context.Context) (content, error) {
	if l.loaded && l.unchanged(l.version) {
		return l.known, nil
	}
	return l.known, l.load(ctx)
}

// unchanged reports whether the head need not be read again: it has a version, or only a request could tell.
func (l *Ledger) unchanged(version storage.Version) bool {
	local, ok := l.storage.(storage.Local)
	return !ok || local.Unchanged(l.key.head(), version)
}

// load reads the head. l.mu is held.
func (l *Ledger) load(ctx context.Context) error {
	l.known, l.version, l.loaded = emptyContent(), storage.None, false
	l.seen.Store(nil)
	doc, err := l.storage.Load(ctx, l.key.head())
	switch {
	case errors.Is(err, storage.ErrMissing):
		l.know(emptyContent(), storage.None)
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", l.title(), err)
	}
	c, err := l.parse(doc.Data)
	if err != nil {
		return err
	}
	l.know(c, doc.Version)
	return nil
}

// know takes in the content at a version, and tells the follower if its revisions are news. l.mu is held.
func (l *Ledger) know(c content, version storage.Version) {
	l.known, l.version, l.loaded = c, version, true
	l.seen.Store(&seen{c, version, sync.OnceValue(c.owned)})
	if l.follow != nil && !slices.Equal(l.followed, c.revisions) {
		l.followed = c.revisions
		l.follow(c.revisions)
	}
}

// Follow has a function take the known revisions, the newest one last: at once, and whenever this process has written others or found
// others as it read the ledger. Nothing is read for it. The function must return at once, must not use the ledger, and must not change
// the list.
func (l *Ledger) Follow(take func([]Revision)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow, l.followed = take, l.known.revisions
	take(l.known.revisions)
}

// change edits the newest content and writes it back if it differs. Edits that arrive during a write, or in the rest after it, share the
// next one, because a write takes longer than everything else. An edit may be repeated, on newer content. It may replace the lists in the
// maps that it gets, but must not change them.
func (l *Ledger) change(apply func(*content)) error {
	mine := l.later(apply)
	if left := l.resting(); left > 0 {
		select {
		case err := <-mine.done:
			return err
		case <-time.After(left):
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	return <-mine.done
}

// After a write that several edits shared, more are about to come: the end of each of many deploys is one. The next write waits for rest
// times as long as the write took, at most mostRest, so that more edits share it. The start of 1,000 resources took 60 writes of the whole
// ledger without a rest. A single edit, as of a resource that is deployed alone, causes no rest.
const (
	shared   = 4
	rest     = 3
	mostRest = storage.Patience / 300
)

// restAfter returns the rest after a write that several edits have shared.
func restAfter(edits int, took time.Duration) time.Duration {
	if edits < shared {
		return 0
	}
	return min(rest*took, mostRest)
}

// resting returns the time for which the next write is still to wait.
func (l *Ledger) resting() time.Duration {
	l.waitMu.Lock()
	defer l.waitMu.Unlock()
	return time.Until(l.rests)
}

// later adds an edit that the next change carries out, too.
func (l *Ledger) later(apply func(*content)) *edit {
	l.waitMu.Lock()
	defer l.waitMu.Unlock()
	return l.append(apply)
}

// append adds an edit. l.waitMu is held.
func (l *Ledger) append(apply func(*content)) *edit {
	e := &edit{apply: apply, done: make(chan error, 1)}
	l.waiting = append(l.waiting, e)
	return e
}

// flush carries out the waiting edits with one write. l.mu is held.
func (l *Ledger) flush() {
	l.waitMu.Lock()
	all := l.waiting
	l.waiting = nil
	l.waitMu.Unlock()
	if len(all) == 0 { // another goroutine has written them with its own
		return
	}
	began, was := time.Now(), l.version
	err := l.changeAll(all)
	if now := time.Now(); l.version != was { // it was written
		l.waitMu.Lock()
		l.rests = now.Add(restAfter(len(all), now.Sub(began)))
		l.waitMu.Unlock()
	}
	for _, e := range all {
		e.done <- err
	}
}

// changeAll applies several edits with one write. l.mu is held.
func (l *Ledger) changeAll(edits []*edit) error {
	ctx, cancel := patience()
	defer cancel()
	for {
		before, err := l.current(ctx)
		if err != nil {
			return err
		}
		after := before.clone()
		for _, e := range edits {
			e.apply(&after)
		}
		after.tidy()
		if after.revised || !before.sameThings(after) {
			after.revise(l.origin, len(before.objects) > 0)
		}
		if is := after.current(); is != nil && is.Same(l.origin()) {
			after.count(before)
			is.Objects = after.size()
		}
		after.stamp(before, l.written())
		if before.equal(after) && !before.stale {
			return nil
		}
		if err := l.freeze(ctx, before, &after); err != nil {
			return err
		}
		written, err := l.write(ctx, after)
		switch {
		case err != nil:
			return fmt.Errorf("write %s: %w", l.title(), err)
		case written:
			err := errors.Join(l.notes.drop(ctx, before.gone(after)), l.nameMembers(ctx, before, after))
			if err != nil || !before.rekeyed {
				return err
			}
			return l.rekey(ctx, after)
		}
	}
}

// fit refuses a storage that loses updates, before it gets the first document. An error that says nothing about the storage's abilities
// is tried again. l.mu is held.
func (l *Ledger) fit(ctx context.Context) error {
	if _, local := l.storage.(storage.Local); local || l.version != storage.None {
		return nil
	}
	for pause := newPause(); ; {
		err := storage.Check(ctx, l.storage)
		if _, final := problem.Of(err); err == nil || final || !pause.Sleep(ctx) {
			return err
		}
	}
}

// write replaces the content. It returns false if another writer was quicker: the content is then theirs. l.mu is held.
func (l *Ledger) write(ctx context.Context, c content) (bool, error) {
	if err := l.fit(ctx); err != nil {
		return false, err
	}
	c.write, c.revised, c.rekeyed, c.stale = rand.Text(), false, false, false
	doc, err := l.encode(c)
	if err != nil {
		return false, err
	}
	was, pause := l.version, newPause()
	for {
		version, err := l.storage.Save(ctx, l.key.head(), doc, was)
		if err == nil {
			l.know(c, version)
			return true, nil
		}
		if failed := l.load(ctx); failed == nil {
			switch {
			case l.known.write == c.write: // only the answer was lost
				return true, nil
			case l.version != was:
				return false, nil
			}
		}
		_, local := l.storage.(storage.Local)
		if local || !pause.Sleep(ctx) {
			return false, err
		}
	}
}
