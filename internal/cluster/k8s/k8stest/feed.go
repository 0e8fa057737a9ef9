package k8stest

import (
	"context"
	"slices"
	"sync"
)

// feed keeps the current event of each object, in the order of arrival, and a journal for the watches.
type feed[E any] struct {
	synced func() E
	// deleted makes the last event of an object from the one before; nil for events that nothing ends.
	deleted func(E) E

	mu      sync.Mutex
	current map[string]E
	order   []string
	journal []entry[E]
	changed chan struct{} // closed and replaced at each change
	paused  bool
	refused error // why watches are refused; nil if they are allowed
}

type entry[E any] struct {
	key   string
	event E
	last  bool
}

func newFeed[E any](synced func() E, deleted func(E) E) *feed[E] {
	return &feed[E]{synced: synced, deleted: deleted, current: map[string]E{}, changed: make(chan struct{})}
}

func (f *feed[E]) get(key string) (E, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.current[key]
	return e, ok
}

// set makes e the current event of key.
func (f *feed[E]) set(key string, e E) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.current[key]; !ok {
		f.order = append(f.order, key)
	}
	f.current[key] = e
	f.append(entry[E]{key: key, event: e})
}

// remove ends key.
func (f *feed[E]) remove(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last, ok := f.current[key]
	if !ok {
		return
	}
	delete(f.current, key)
	f.order = slices.DeleteFunc(f.order, func(k string) bool { return k == key })
	f.append(entry[E]{key, f.deleted(last), true})
}

func (f *feed[E]) append(e entry[E]) {
	f.journal = append(f.journal, e)
	f.wake()
}

func (f *feed[E]) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// refuse makes watches fail with err, or work again when it is nil.
func (f *feed[E]) refuse(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = err
	f.wake()
}

func (f *feed[E]) pause(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = on
	f.wake()
}

// watch passes to fn the current events that match, the synced event, and all later matching events, until ctx is done. What no
// longer matches is deleted for this watch.
// It calls trouble, which may be nil, when the watch is refused and when that ends.
func (f *feed[E]) watch(ctx context.Context, match func(key string, e E) bool, trouble func(error), fn func(E)) error {
	var told error
	var batch []entry[E]
	shown := map[string]E{}
	next, first := 0, true
	for {
		f.mu.Lock()
		changed := f.changed
		batch = batch[:0]
		refused := f.refused
		if !f.paused && refused == nil {
			if first {
				for _, k := range f.order {
					batch = append(batch, entry[E]{key: k, event: f.current[k]})
				}
			} else {
				batch = append(batch, f.journal[next:]...)
			}
			next = len(f.journal)
		}
		listed := first && !f.paused && refused == nil
		f.mu.Unlock()
		if trouble != nil && refused != told { //nolint:errorlint // compares identity
			told = refused
			trouble(refused)
		}
		for _, e := range batch {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			was, before := shown[e.key]
			delete(shown, e.key)
			if match(e.key, e.event) {
				fn(e.event)
				if !e.last {
					shown[e.key] = e.event
				}
			} else if before && f.deleted != nil {
				fn(f.deleted(was))
			}
		}
		if listed {
			first = false
			fn(f.synced())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
