package deploy

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/hone-dev/hone/pkg/model"
)

// claims lets one operation at a time work on an object, from the moment it decides that it may until it is through:
// between the question whose an object is and its deletion no other operation applies it.
type claims struct {
	mu    sync.Mutex
	held  map[model.ObjectID]bool // guarded by mu
	freed chan struct{}           // guarded by mu; closed when claims are given back, nil while nothing waits
}

// Held are objects that an operation has claimed. It is safe for use by several goroutines.
type Held struct {
	claims *claims
	ids    map[model.ObjectID]bool // those that were not given back yet; guarded by claims.mu
}

// Release gives back all that is still claimed. It may be called more than once.
func (h *Held) Release() {
	h.claims.mu.Lock()
	defer h.claims.mu.Unlock()
	h.claims.free(h, slices.Collect(maps.Keys(h.ids)))
}

// Free gives one object back: the operation does not touch it any more.
func (h *Held) Free(id model.ObjectID) {
	h.claims.mu.Lock()
	defer h.claims.mu.Unlock()
	h.claims.free(h, []model.ObjectID{id})
}

// acquire waits until no operation works on any of the objects, and claims them all at once. It fails only when ctx ends.
func (c *claims) acquire(ctx context.Context, ids []model.ObjectID) (*Held, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		freed := c.try(ids)
		if freed == nil {
			h := &Held{claims: c, ids: map[model.ObjectID]bool{}}
			for _, id := range ids {
				h.ids[id] = true
			}
			return h, nil
		}
		select {
		case <-ctx.Done():
		case <-freed:
		}
	}
}

// try claims the objects, or returns what to wait for before the next try.
func (c *claims) try(ids []model.ObjectID) (freed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if c.held[id] {
			if c.freed == nil {
				c.freed = make(chan struct{})
			}
			return c.freed
		}
	}
	if c.held == nil {
		c.held = map[model.ObjectID]bool{}
	}
	for _, id := range ids {
		c.held[id] = true
	}
	return nil
}

// free gives back those of the objects that h still has. c.mu is held.
func (c *claims) free(h *Held, ids []model.ObjectID) {
	any := false
	for _, id := range ids {
		if h.ids[id] {
			delete(h.ids, id)
			delete(c.held, id)
			any = true
		}
	}
	if any && c.freed != nil {
		close(c.freed)
		c.freed = nil
	}
}

// Claim waits until no other operation of this applier works on the given objects, and keeps others out until they are given
// back. A deletion gives back an object once the API server has taken the deletion: who waits for its end touches nothing.
// Apply and Delete leave claiming to their callers, so that what is decided
// before them, such as who owns an object, still holds while they work. Collect claims what it deletes.
//
// An operation that has claimed objects and then collects never waits for one that waits for it: it records what it
// claimed before it looks for what is left over, and a record has one owner.
func (a *Applier) Claim(ctx context.Context, records []ObjectRecord) (*Held, error) {
	ids := make([]model.ObjectID, len(records))
	for i, r := range records {
		ids[i] = r.ObjectID
	}
	return a.claims.acquire(ctx, ids)
}
