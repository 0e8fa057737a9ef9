package deploy

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// claims lets one operation at a time work on an object, from its decision to its end: no other operation applies an
// object between the check of its owner and its deletion.
type claims struct {
	mu    sync.Mutex
	held  map[model.ObjectID]bool // guarded by mu
	freed chan struct{}           // guarded by mu; closed when claims are released; nil without waiters
}

// Held is a set of objects that an operation has claimed. It is safe for use by several goroutines.
type Held struct {
	claims *claims
	ids    map[model.ObjectID]bool // not yet released; guarded by claims.mu
}

// Release releases all objects that are still claimed. It may be called more than once.
func (h *Held) Release() {
	h.claims.mu.Lock()
	defer h.claims.mu.Unlock()
	h.claims.free(h, slices.Collect(maps.Keys(h.ids)))
}

// Free releases one object that the operation no longer touches.
func (h *Held) Free(id model.ObjectID) {
	h.claims.mu.Lock()
	defer h.claims.mu.Unlock()
	h.claims.free(h, []model.ObjectID{id})
}

// acquire waits until no operation works on any of the objects, then claims them all at once. It fails only when ctx
// ends.
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

// try claims the objects, or returns a channel to wait for before the next try.
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

// free releases the given objects, as far as h still holds them. c.mu is held.
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

// Claim waits until no other operation of this applier works on the given objects, and keeps other operations out until
// the objects are released. A deletion releases an object once the API server has accepted the deletion, because
// waiting for the end of the object changes nothing. Callers of Apply and Delete claim the objects themselves, so that
// their earlier decisions, such as who owns an object, still hold during the call. Collect claims the objects that it
// deletes.
//
// Collect cannot deadlock with an operation that has claimed objects: such an operation records its objects before it
// looks for leftovers, and a record has one owner.
func (a *Applier) Claim(ctx context.Context, records []ledger.Record) (*Held, error) {
	ids := make([]model.ObjectID, len(records))
	for i, r := range records {
		ids[i] = r.ObjectID
	}
	return a.claims.acquire(ctx, ids)
}
