// Package clusterwatch keeps one watch of the cluster running for each thing that a subscriber follows, passes the watches'
// reports to the subscriber, and records which watches fail.
//
// # Concurrency
//
// Run owns one goroutine per watch; all of them have ended when it returns. It calls the Follower from its own goroutine only.
package clusterwatch

import (
	"context"
	"maps"
	"time"

	"github.com/hone-dev/hone/internal/base/workers"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// buffered is the most reports that may wait. The watches pause while there are more.
const buffered = 256

// Watches defines how to watch, by keys of type K that report events of type E.
type Watches[K comparable, E any] struct {
	// ID names a watch, uniquely among all subscribers, for the user.
	ID func(K) string
	// Blinds is set if resources have an unknown state while a watch of theirs fails, as in state.ClusterWatch.
	Blinds bool
	// Watch reports events until ctx is done. It calls trouble when it fails, and with nil when it works again.
	Watch func(ctx context.Context, key K, trouble func(error), event func(E)) error
	// Wake, unless nil, makes Run call the follower's Changes after each value.
	Wake <-chan struct{}
}

// In names the cluster of a watch, at the end of its ID; empty for the session's own.
func In(cluster string) string {
	if cluster == "" {
		return ""
	}
	return " in " + cluster
}

// Follower converts the reports of watches to actions.
type Follower[K comparable, E any] interface {
	// Wanted receives the newest snapshot, before each call of Changes. It returns the keys to watch, each with the resources that depend on it; while
	// there are none, a failure of the watch is not reported.
	Wanted(v store.View) map[K][]model.ManifestName
	// Take receives an event of a watch, and reports whether it may change anything. An event always belongs to a watch
	// that is currently wanted, and has been without a break since it began.
	Take(key K, event E) bool
	// Changes returns the actions for the changes since the last call. It is called again after the given time, unless
	// something happens earlier; zero means no such time.
	Changes(ctx context.Context, v store.View) (actions []store.Action, again time.Duration)
}

// report is a report of a watch: an event, or its own state.
type report[K comparable, E any] struct {
	key    K
	serial int
	event  E
	// trouble is set for a report about the watch itself; a nil err means that it works again.
	trouble bool
	err     error
}

// Run keeps the watches that the follower wants until ctx is done.
func Run[K comparable, E any](ctx context.Context, rt *store.Runtime, w Watches[K, E], f Follower[K, E]) error {
	reports := make(chan report[K, E], buffered)
	same := func(a, b int) bool { return a == b }
	watches := workers.NewSet(ctx, same, func(ctx context.Context, key K, serial int) {
		send := func(r report[K, E]) {
			r.key, r.serial = key, serial
			select {
			case reports <- r:
			case <-ctx.Done():
			}
		}
		_ = w.Watch(ctx, key, func(err error) { send(report[K, E]{trouble: true, err: err}) }, func(e E) { send(report[K, E]{event: e}) })
	})
	defer watches.Stop()
	b := newTracker(w, f)
	again := time.NewTimer(time.Hour)
	again.Stop()
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		case <-w.Wake:
		case <-rt.Wake():
		case r := <-reports:
			matters := b.take(r)
			for range len(reports) { // handle all reports that have arrived meanwhile in one step
				matters = b.take(<-reports) || matters
			}
			if !matters {
				continue
			}
		}
		v := rt.View()
		watches.Want(b.want(v))
		actions, wait := f.Changes(ctx, v)
		rt.Dispatch(append(actions, b.troubles.Changes(b.users)...)...)
		if again.Stop(); wait > 0 {
			again.Reset(wait)
		}
		rt.Succeeded()
	}
}

// tracker records the watches and their failures. It belongs to Run's goroutine.
type tracker[K comparable, E any] struct {
	follower Follower[K, E]
	// serials are the watches that are wanted, each with a number. A watch that begins again has another number, so that
	// late reports of the first are not attributed to it.
	serials map[K]int
	last    int
	// users are the resources that depend on each watch; none of a watch that waits for the first objects.
	users    map[K][]model.ManifestName
	troubles state.WatchTroubles[K]
}

func newTracker[K comparable, E any](w Watches[K, E], f Follower[K, E]) *tracker[K, E] {
	return &tracker[K, E]{follower: f, serials: map[K]int{}, troubles: state.WatchTroubles[K]{ID: w.ID, Blinds: w.Blinds}}
}

// want receives a snapshot and returns the watches that should run.
func (b *tracker[K, E]) want(v store.View) map[K]int {
	wanted := b.follower.Wanted(v)
	maps.DeleteFunc(b.serials, func(key K, _ int) bool { _, still := wanted[key]; return !still })
	b.users = map[K][]model.ManifestName{}
	for key, names := range wanted {
		if b.serials[key] == 0 {
			b.last++
			b.serials[key] = b.last
		}
		b.users[key] = names
	}
	return b.serials
}

// take receives a report, and reports whether it may change anything.
func (b *tracker[K, E]) take(r report[K, E]) bool {
	switch {
	case b.serials[r.key] != r.serial:
		return false
	case r.trouble:
		b.troubles.Take(r.key, r.err)
		return true
	}
	return b.follower.Take(r.key, r.event)
}
