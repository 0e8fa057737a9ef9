package watch

import (
	"context"
	"slices"
	"time"
)

// syncPause is the interval at which the calls of Sync check whether they may return.
const syncPause = 2 * time.Millisecond

// mark is the place of a call of Sync in the order of events.
type mark struct {
	passed chan struct{}
	// compare is set if the order of events is unknown, so that all files have to be compared.
	compare bool
}

// marksOf returns the marks among notices.
func marksOf(ns []notice) []notice {
	var out []notice
	for _, n := range ns {
		if n.op == opMark {
			out = append(out, n)
		}
	}
	return out
}

// Sync waits until every change that was made before the call has been handed to the sink; writes to existing files that are still open
// may come later. While files keep changing, that may take long. Where the system does not order its events, Sync has all files
// compared; where it sends none, as for remote file systems, the files there. It fails when ctx ends. It may be called by any goroutine.
func (w *Watcher) Sync(ctx context.Context) error {
	m := &mark{passed: make(chan struct{})}
	if err := w.backend.Mark(m); err != nil {
		w.log.Debug("comparing all watched files", "reason", err)
		m.compare = true
		w.inbox.put([]notice{{op: opMark, mark: m}})
	}
	select {
	case <-m.passed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reach takes marks whose turn has come. What no event tells is looked at now: once for all of them.
func (w *Watcher) reach(marks []*mark) {
	if len(marks) == 0 {
		return
	}
	w.marks = append(w.marks, marks...)
	if slices.ContainsFunc(marks, func(m *mark) bool { return m.compare }) {
		w.rescan()
		return
	}
	w.pollAll()
}

// waited releases the callers of Sync whose marks are passed, as soon as no look is pending, and reports whether some must keep
// waiting. Run calls it after the sink.
func (w *Watcher) waited() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.marks) == 0 {
		return false
	}
	hashing := len(w.rehash.heap) > 0 || w.hasher.busy()
	if hashing || !w.pending.settled() || len(w.changed)+len(w.touched) > 0 {
		return true
	}
	for _, m := range w.marks {
		close(m.passed)
	}
	w.marks = nil
	return false
}

// Sync waits until everything that was added before the call has been handed over by Run. It fails when ctx ends. It may
// be called by any goroutine.
func (s *Settler) Sync(ctx context.Context) error {
	asked := time.Now()
	look := time.NewTicker(syncPause)
	defer look.Stop()
	for s.holds(asked) {
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// holds reports whether something that was added by the given time has not been handed over.
func (s *Settler) holds(asked time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.targets {
		if t.paths != nil && !t.first.After(asked) {
			return true
		}
	}
	return s.handing
}

// handed notes that the receiver has the batch.
func (s *Settler) handed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handing = false
}
