package synclet

import "context"

// Answers reports whether the synclet of the container with an id answers before ctx is done. One does not if it has ended, its connection
// is gone, or no conversation with it is open. An answer shows that the container ran when it was asked, so that it has the files that it
// has acknowledged.
func (p *Pool) Answers(ctx context.Context, id string) bool {
	p.mu.Lock()
	e := p.entries[id]
	p.mu.Unlock()
	if e == nil {
		return false
	}
	e.mu.Lock()
	s := e.conversation
	e.mu.Unlock()
	if s == nil {
		return false
	}
	_, err := s.Ping(ctx)
	return err == nil
}
