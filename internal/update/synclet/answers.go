package synclet

import (
	"context"
	"slices"
	"sync"
)

// Silent asks the synclets of containers to answer, all at once, and returns the ids of the containers that do not before ctx is done:
// those that have ended, those whose connection is gone, and those with which no conversation is open. An answer shows that the
// container ran when it was asked, so that it has the files that it has acknowledged.
func (p *Pool) Silent(ctx context.Context, ids []string) (silent []string) {
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, id := range ids {
		asked.Go(func() {
			if p.answers(ctx, id) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			silent = append(silent, id)
		})
	}
	asked.Wait()
	slices.Sort(silent)
	return silent
}

// answers reports whether the synclet of a container answers before ctx is done.
func (p *Pool) answers(ctx context.Context, id string) bool {
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
