package buildanddeploy

import (
	"context"
	"errors"
	"sync"
	"syscall"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// A Cluster holds the lease of a namespace while its operations run: one process at a time changes the objects of the project there, on
// this machine and on others that share the ledger. It does not hold it while it waits for readiness, which can take long.

// holding is the lease of a Cluster.
type holding struct {
	turn  chan struct{} // has a value while nobody changes the rest
	lease *ledger.Lease
	users int
}

func newHolding() *holding {
	h := &holding{turn: make(chan struct{}, 1)}
	h.turn <- struct{}{}
	return h
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
	h := c.holding
	select {
	case <-h.turn:
	case <-ctx.Done():
		return ctx, nil, context.Cause(ctx)
	}
	defer func() { h.turn <- struct{}{} }()
	if h.lease == nil {
		h.lease, err = records.Lease(ctx, c.namespace, ledger.Here(c.origin.Command), func(by ledger.Holder) {
			logstore.Infof(log, "Waiting for %s…", by)
		})
		if isFull(err) && c.alone(ctx) {
			logstore.Warnf(log, "WARNING: %v. The deploy goes on: on a full disk, no other process can take the lease", err)
			return ctx, func() {}, nil
		}
		if err != nil {
			return ctx, nil, err
		}
	}
	h.users++
	held, cancel := h.lease.Guard(ctx)
	return held, sync.OnceFunc(func() {
		cancel()
		<-h.turn
		defer func() { h.turn <- struct{}{} }()
		if h.users--; h.users == 0 {
			h.lease.Release()
			h.lease = nil
		}
	}), nil
}
