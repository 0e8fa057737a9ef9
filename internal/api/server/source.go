package server

import (
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/api/redact"
	"github.com/hone-dev/hone/internal/api/server/rest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// numbers are the statistics of the store.
type numbers interface {
	Loop() store.LoopStats
	Subscribers() []store.SubscriberStats
}

// host is the server's part of the store: store.Runtime, or frozen for a snapshot.
type host interface {
	numbers
	Aside() store.View
	Dispatch(actions ...store.Action) time.Time
}

// frozen is a store in which nothing happens.
type frozen struct{ view store.View }

func (f frozen) Aside() store.View                        { return f.view }
func (frozen) Dispatch(...store.Action) (ended time.Time) { return ended }
func (frozen) Loop() store.LoopStats                      { return store.LoopStats{} }
func (frozen) Subscribers() []store.SubscriberStats       { return nil }

// source is the store as requests see it.
type source struct {
	host
	changes *broadcast
	// writer is the source as clients change it.
	writer *rest.Writer

	mu       sync.Mutex
	redactor *redact.Redactor
	// version is the version of the table from which the redactor was created.
	version uint64
}

var _ rest.Store = (*source)(nil)

// View implements rest.Store.
func (s *source) View() store.View { return s.Aside() }

// Changed implements rest.Store.
func (s *source) Changed() <-chan struct{} { return s.changes.wait() }

// Session implements rest.Store.
func (s *source) Session(v store.View) string { return state.TheSession(v).RunID }

// Redactor implements rest.Store.
func (s *source) Redactor(v store.View) *redact.Redactor {
	now := v.Version(state.Tiltfiles.Name())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.redactor == nil || now > s.version {
		s.redactor, s.version = redact.Of(v), now
	}
	return s.redactor
}

// broadcast wakes any number of waiters at once. The zero value is ready to use.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

// wait returns a channel that the next call to tell closes.
func (b *broadcast) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) tell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
