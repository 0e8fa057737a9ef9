package synclet

import (
	"context"
	"slices"
)

// aloft holds the paths of an update that is being sent, or has not been answered yet. Until the answer, the knowledge about these
// paths in the container is stale.
type aloft struct {
	paths map[string]bool
	// landed is closed once the knowledge is valid again.
	landed chan struct{}
}

// take waits for the turn to send an update. The caller gives it back by receiving from turn.
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

// depart marks an update of paths as under way until the returned function is called.
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
