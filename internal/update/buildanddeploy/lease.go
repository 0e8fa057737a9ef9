package buildanddeploy

import (
	"context"
	"errors"
	"sync"
	"syscall"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// A Cluster holds the lease of a namespace while its operations run: one process at a time changes the objects of the project there, on
// this machine and on others that share the ledger. It does not hold it while it waits for readiness, which can take long.

// holding is the lease of a Cluster.
type holding struct {
	// turn has a value unless the lease is being taken or released, which may need requests. An operation that finds the lease held
	// only counts itself: 300 deploys at once waited in line for a fifth of their time.
	turn chan struct{}

	mu    sync.Mutex
	lease *ledger.Lease // guarded by mu; nil if users is 0
	users int           // guarded by mu
}

func newHolding() *holding {
	h := &holding{turn: make(chan struct{}, 1)}
	h.turn <- struct{}{}
	return h
}

// join counts one more user of the lease, if it is held.
func (h *holding) join() *ledger.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lease != nil {
		h.users++
	}
	return h.lease
}

// begin counts the first user of a lease.
func (h *holding) begin(lease *ledger.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease, h.users = lease, 1
}

// leave counts one user less. last is set, and nothing counted, if the lease has no other user.
func (h *holding) leave() (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users == 1 {
		return true
	}
	h.users--
	return false
}

// end releases the lease, unless it has got another user meanwhile.
func (h *holding) end() {
	<-h.turn
	defer func() { h.turn <- struct{}{} }()
	h.mu.Lock()
	h.users--
	last, lease := h.users == 0, h.lease
	if last {
		h.lease = nil
	}
	h.mu.Unlock()
	if last {
		lease.Release()
	}
}

// isFull reports whether a write failed for lack of space.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// alone reports whether the ledger is in a folder of this machine: then a lease that was free and could not be written for lack of space
// cannot be written by others, either.
func (c *Cluster) alone(ctx context.Context) bool {
	in, err := c.ledgers.Storage(ctx)
	_, local := in.(storage.Local)
	return err == nil && local
}

// hold takes the lease, unless this Cluster holds it already or needs none. The context ends when the lease is lost. done must be called
// at the end of the operation.
func (c *Cluster) hold(ctx context.Context, log logstore.Logger) (held context.Context, done func(), err error) {
	records, err := c.Ledger(ctx)
	if err != nil {
		return ctx, nil, err
	}
	if c.holding == nil {
		return ctx, func() {}, nil
	}
	lease := c.holding.join()
	if lease == nil {
		lease, err = c.take(ctx, records, log)
	}
	if isFull(err) && c.alone(ctx) {
		logstore.Warnf(log, "WARNING: %v. The deploy goes on: on a full disk, no other process can take the lease", err)
		return ctx, func() {}, nil
	}
	if err != nil {
		return ctx, nil, err
	}
	held, cancel := lease.Guard(ctx)
	return held, sync.OnceFunc(func() {
		cancel()
		if c.holding.leave() {
			c.holding.end()
		}
	}), nil
}

// take waits for the lease, unless another operation takes it first.
func (c *Cluster) take(ctx context.Context, records *deploy.Memory, log logstore.Logger) (*ledger.Lease, error) {
	h := c.holding
	select {
	case <-h.turn:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { h.turn <- struct{}{} }()
	if lease := h.join(); lease != nil {
		return lease, nil
	}
	lease, err := records.Lease(ctx, c.namespace, ledger.Here(c.origin.Command), func(by ledger.Holder) {
		logstore.Infof(log, "Waiting for %s…", by)
	})
	if err == nil {
		h.begin(lease)
	}
	return lease, err
}
