package store

import "time"

// If returns the snapshot that would follow if actions were dispatched now. Nobody else sees it, and the store does not change. New
// entries have no finalizers.
func (s *Snapshot) If(actions ...Action) *Snapshot {
	what := New(s.schema, WithClock(func() time.Time { return s.At.Add(1) }))
	first, blank := *s, what.Snapshot()
	first.derived, first.lists = blank.derived, blank.lists // values are cached by version, and the versions will not be the session's
	what.current.Store(&first)
	what.Dispatch(actions...)
	what.Step()
	return what.Snapshot()
}
