package portforwardcontroller

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/portforward"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
)

// TestPatience checks when a forward counts as failed: once a failure has lasted, also with another cause, until the pod answers or is
// another one.
func TestPatience(t *testing.T) {
	target := &portforward.Target{Namespace: "default", Pod: "one", Port: 80}
	fails := func(cause string) portforward.Status {
		return portforward.Status{State: portforward.StateError, Target: target, Cause: cause}
	}
	ready := portforward.Status{State: portforward.StateReady, Target: target}
	answers := portforward.Status{State: portforward.StateReady, Target: target, Answered: true}
	for _, tc := range []struct {
		name  string
		news  map[int]portforward.Status
		until time.Duration
		want  []state.ForwardState
	}{
		{"ready", map[int]portforward.Status{0: ready}, time.Minute, []state.ForwardState{"ready"}},
		{"an app restarts", map[int]portforward.Status{0: ready, 100: fails("refused"), 600: answers}, time.Minute, []state.ForwardState{"ready", "waiting", "ready"}},
		{"it fails", map[int]portforward.Status{0: ready, 100: fails("refused")}, time.Minute, []state.ForwardState{"ready", "waiting", "failed"}},
		{"with two causes", map[int]portforward.Status{0: fails("refused"), 1500: fails("reset")}, 1600 * time.Millisecond, []state.ForwardState{"waiting", "failed", "failed"}},
		{"another pod fails for the same cause", map[int]portforward.Status{0: fails("refused"), 1500: ready, 1600: fails("refused")}, time.Minute,
			[]state.ForwardState{"waiting", "failed", "ready", "waiting", "failed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			logs := statetest.Logs(t)
			synctest.Test(t, func(t *testing.T) {
				var got []state.ForwardState
				n := narrator{log: logs.Logger("web", "forward:web", logstore.SourceRuntime), after: time.Second, news: make(chan portforward.Status),
					report: func(_ portforward.Status, is state.ForwardState) { got = append(got, is) }}
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { n.run(ctx) })
				began := time.Now()
				for _, at := range slices.Sorted(maps.Keys(tc.news)) {
					time.Sleep(time.Until(began.Add(time.Duration(at) * time.Millisecond)))
					n.take(ctx, tc.news[at])
				}
				time.Sleep(time.Until(began.Add(tc.until)))
				cancel()
				running.Wait()
				if !slices.Equal(got, tc.want) {
					t.Errorf("%v, want %v", got, tc.want)
				}
			})
		})
	}
}
