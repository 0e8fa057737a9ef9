package synclet

import (
	"context"
	"slices"
)

// aloft are the paths of an update that was sent, or is being sent, and has not been answered. What is known about them in the container
// is not true any more, or not yet.
type aloft struct {
	paths map[string]bool
	// landed is closed once what is known is true again.
	landed chan struct{}
}

// take takes the turn to send an update. The caller gives it back.
func (s *Conversation) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-s.done:
		return s.closed()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// depart notes that an update of paths is under way, until the returned function is called.
func (s *Conversation) depart(paths []string) (land func()) {
	a := &aloft{make(map[string]bool, len(paths)), make(chan struct{})}
	for _, p := range paths {
		a.paths[p] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aloft = append(s.aloft, a)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.aloft = slices.DeleteFunc(s.aloft, func(other *aloft) bool { return other == a })
		close(a.landed)
	}
}

// meet waits for the updates under way that change a path of b.
func (s *Conversation) meet(ctx context.Context, b Batch) error {
	s.mu.Lock()
	under := slices.Clone(s.aloft)
	s.mu.Unlock()
	for _, a := range under {
		if !slices.ContainsFunc(b.Deletes, func(p string) bool { return a.paths[p] }) &&
			!slices.ContainsFunc(b.Puts, func(p Put) bool { return a.paths[p.Remote] }) {
			continue
		}
		select {
		case <-a.landed:
		case <-s.done:
			return s.closed()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
