package synclet

import (
	"context"
	"slices"
)

// inFlight holds the paths of an update that is being sent, or has not been answered yet. Until the answer, the knowledge about these
// paths in the container is stale.
type inFlight struct {
	paths map[string]bool
	// done is closed once the knowledge is valid again.
	done chan struct{}
}

// take waits for the turn to send an update. The caller gives it back by receiving from turn.
func (s *Conversation) take(ctx context.Context) error {
	select {
	case s.sending <- struct{}{}:
		return nil
	case <-s.done:
		return s.closed()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// depart marks an update of paths as under way until the returned function is called.
func (s *Conversation) begins(paths []string) (ends func()) {
	a := &inFlight{make(map[string]bool, len(paths)), make(chan struct{})}
	for _, p := range paths {
		a.paths[p] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight = append(s.inFlight, a)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight = slices.DeleteFunc(s.inFlight, func(other *inFlight) bool { return other == a })
		close(a.done)
	}
}

// settled waits for the updates under way that change a path of b.
func (s *Conversation) settled(ctx context.Context, b Batch) error {
	s.mu.Lock()
	under := slices.Clone(s.inFlight)
	s.mu.Unlock()
	for _, a := range under {
		if !slices.ContainsFunc(b.Deletes, func(p string) bool { return a.paths[p] }) &&
			!slices.ContainsFunc(b.Puts, func(p Put) bool { return a.paths[p.Remote] }) {
			continue
		}
		select {
		case <-a.done:
		case <-s.done:
			return s.closed()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
