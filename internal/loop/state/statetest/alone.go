package statetest

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// patience bounds the wait of Until, by the clock of the test.
const patience = 10 * time.Second

// Alone is one subscriber at work on a store, without the others. It ends with the test.
type Alone struct {
	Store  *store.Store
	t      testing.TB
	cancel context.CancelFunc
	all    sync.WaitGroup
	once   sync.Once
	// done is closed when the subscriber has returned, with err.
	done chan struct{}
	err  error
}

// Start runs a subscriber on an empty store whose loop runs too. others are the names of further subscribers that hold
// resources; Release releases resources on their behalf.
func Start(t testing.TB, sub store.Subscriber, others ...string) *Alone {
	s := store.New(state.Schema)
	for _, name := range others {
		store.NewRuntime(s, holder(name))
	}
	rt := store.NewRuntime(s, sub)
	ctx, cancel := context.WithCancel(context.Background())
	a := &Alone{Store: s, t: t, cancel: cancel, done: make(chan struct{})}
	loop, stopLoop := context.WithCancel(context.Background())
	a.all.Go(func() { s.Run(loop) })
	a.all.Go(func() {
		defer stopLoop()
		defer rt.Attach()()
		a.err = sub.Run(ctx, rt)
		close(a.done)
		<-ctx.Done() // the store outlives a subscriber that has nothing left to do
	})
	t.Cleanup(a.Stop)
	return a
}

// holder is a subscriber that does nothing but hold resources.
type holder string

// Contract implements store.Subscriber.
func (h holder) Contract() store.Contract {
	return store.Contract{Name: string(h), Doc: "Holds resources.", Inputs: store.Holds(state.Resources)}
}

// Run implements store.Subscriber.
func (holder) Run(ctx context.Context, _ *store.Runtime) error {
	<-ctx.Done()
	return nil
}

// Stop ends the subscriber, then the loop, and fails the test when the subscriber returned an error. It may be called
// again.
func (a *Alone) Stop() {
	a.once.Do(func() {
		a.cancel()
		a.all.Wait()
		if a.err != nil {
			a.t.Errorf("the subscriber ended: %v", a.err)
		}
	})
}

// Ended reports whether the subscriber has returned on its own.
func (a *Alone) Ended() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// Dispatch queues actions for the loop, in order.
func (a *Alone) Dispatch(actions ...store.Action) {
	for _, action := range actions {
		a.Store.Dispatch(action)
	}
}

// Then dispatches actions one after the other, each after all effects of the one before. It works within synctest only.
func (a *Alone) Then(actions ...store.Action) *Alone {
	for _, action := range actions {
		a.Store.Dispatch(action)
		synctest.Wait()
	}
	synctest.Wait()
	return a
}

// Release releases a resource on behalf of another subscriber.
func (a *Alone) Release(resource, finalizer string) {
	a.Dispatch(store.FinalizerReleased{Table: state.Resources.Name(), ID: resource, Finalizer: finalizer})
}

// View returns everything as it is now.
func (a *Alone) View() store.View { return a.Store.Snapshot().All() }

// Until waits for a snapshot for which ok holds, and ends the test when none comes in time.
func (a *Alone) Until(what string, ok func(store.View) bool) {
	a.t.Helper()
	wake, stop := a.Store.Watch()
	defer stop()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case <-wake:
			if ok(a.View()) {
				return
			}
		case <-timer.C:
			a.t.Fatalf("still not so after %s: %s", patience, what)
		}
	}
}

// Logs returns a log store that ends with the test.
func Logs(t testing.TB) *logstore.Store {
	t.Helper()
	logs, err := logstore.New(logstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = logs.Close() })
	return logs
}

// Texts returns the log texts of a resource, oldest first, each after its prefix.
func Texts(logs *logstore.Store, resource string) []string {
	var out []string
	for _, l := range logs.Tail(logstore.Filter{}, 1000) {
		if string(l.Resource) == resource {
			out = append(out, l.Prefix+l.Text)
		}
	}
	return out
}
