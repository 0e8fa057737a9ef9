package rest

import (
	"context"
	"errors"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Writer changes the store for clients. Only one change at a time reads the newest snapshot and dispatches its actions. So if
// two changes are based on the same version of an object, the second is refused.
type Writer struct {
	Store
	// Sign returns the actions of a request with their origin; nil leaves them as they are.
	Sign func(ctx context.Context, actions []store.Action) []store.Action
	lock chan struct{} // holds a value during a change
}

// lookEvery limits the wait for a snapshot that changes no table, which is not announced.
const lookEvery = 5 * time.Millisecond

// NewWriter returns the writer of a store. All clients must use the same writer.
func NewWriter(s Store) *Writer { return &Writer{Store: s, lock: make(chan struct{}, 1)} }

// The errors of Write, in addition to the errors of its argument.
var (
	// ErrBusy means that other changes did not end in time. Nothing was changed.
	ErrBusy = errors.New("other requests are writing")
	// ErrLate means that the loop did not reduce the actions in time. They may still take effect.
	ErrLate = errors.New("the session did not apply the change in time")
	// ErrEnded means that the loop has ended. Nothing was changed.
	ErrEnded = problem.New("the session has ended", "hone up starts it again; hone sessions lists running sessions")
)

// Write dispatches the actions that decide returns for the newest snapshot, and waits until they are reduced. It returns the
// first snapshot that contains them, or the one that decide has read if there are none or if decide fails. The consequences of
// the actions may follow later. The deadline of ctx limits the whole change.
func (w *Writer) Write(ctx context.Context, decide func(store.View) ([]store.Action, error)) (store.View, error) {
	select {
	case w.lock <- struct{}{}:
		defer func() { <-w.lock }()
	case <-ctx.Done():
		return store.View{}, ErrBusy
	}
	v := w.View()
	actions, err := decide(v)
	if err != nil || len(actions) == 0 {
		return v, err
	}
	if w.Sign != nil {
		actions = w.Sign(ctx, actions)
	}
	at := w.Dispatch(actions...)
	if at.IsZero() {
		return v, ErrEnded
	}
	return w.Reduced(ctx, at)
}

// Reduced waits until the actions that were dispatched with this time are reduced, and returns a snapshot that contains them.
func (w *Writer) Reduced(ctx context.Context, at time.Time) (store.View, error) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		changed := w.Changed()
		v := w.View()
		if !v.At.Before(at) {
			return v, nil
		}
		select {
		case <-changed:
		case <-ticker.C:
		case <-ctx.Done():
			return v, ErrLate
		}
	}
}
