// Package revisionwatcher reports the revisions of the project: those that the session writes, and those of others as soon as the session
// has read them.
package revisionwatcher

import (
	"context"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// Ledger knows the revisions of the project in all clusters. Neither of its methods reads a storage.
type Ledger interface {
	// Revisions returns the known revisions, which must not be changed.
	Revisions() []api.Revision
	// Revised delivers a value when there are others.
	Revised() <-chan struct{}
}

// Subscriber is the RevisionWatcher.
type Subscriber struct{ ledger Ledger }

// New returns the subscriber. ledger is nil in a session without a cluster.
func New(ledger Ledger) *Subscriber { return &Subscriber{ledger} }

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (*Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:    "RevisionWatcher",
		Doc:     "Reports the revisions of the project, as the session's other parts write and read them in the ledger.",
		Outputs: store.Emits(state.RevisionsKnown{}),
		Stage:   store.StageWatch,
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.ledger == nil {
		<-ctx.Done()
		return nil
	}
	for {
		rt.Dispatch(state.RevisionsKnown{Revisions: s.ledger.Revisions()})
		rt.Succeeded()
		rt.Idle()
		select {
		case <-ctx.Done():
			return nil
		case <-s.ledger.Revised():
		}
	}
}
