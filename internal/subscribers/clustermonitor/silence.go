package clustermonitor

import (
	"context"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// A cluster is silent when nothing at all has arrived from it for a while: no answer, no event of a watch, no line of a log.
// As long as something arrives, nothing is asked. Watches run over HTTP/2, whose connections are pinged twice a second, and a
// server answers pings even if it takes long to answer requests. So the silence of such a connection is short before it
// counts; where nothing is pinged, a request must have been unanswered for all that time.
const (
	// askAfter is the silence after which the cluster is asked. It is longer than the interval of pings, so that their
	// answers make the question unnecessary.
	askAfter = 750 * time.Millisecond
	// askSoon is askAfter for a connection without pings.
	askSoon = time.Second
	// silentAfter is the silence after which the cluster counts as silent.
	silentAfter = 3 * time.Second
	// overslept is the delay of a timer beyond which the time until then does not count: the machine slept, or the process
	// was stopped.
	overslept = time.Second
	// listenAway is the time between two checks whether something arrives from a cluster that does not answer.
	listenAway = 250 * time.Millisecond
)

// listen waits for the given time, and less if another subscriber finds that the cluster does not answer, or if a question
// fails. A poll is due after that. It returns an error once the cluster is silent, and ok false if ctx is done. Silence
// before begun does not count.
func (m *monitor) listen(
	ctx context.Context, rt *store.Runtime, c model.Cluster, begun time.Time, pause time.Duration,
) (silence error, ok bool) {
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	lost := func(v store.View) bool { return state.ClusterOn(v, m.on).Broken() }
	answer := make(chan error, 1)
	var asked time.Time // zero while no question is open
	due := time.Now()
	until := due.Add(pause)
	for {
		needed := state.NeedsCluster(rt.View(), m.on)
		quiet, pinged := m.client.Quiet()
		if late := time.Since(due); late > overslept {
			begun, until = time.Now(), until.Add(late)
			if !asked.IsZero() {
				asked = begun
			}
		}
		quiet = min(quiet, time.Since(begun))
		after := askSoon
		if pinged {
			after = askAfter
		}
		next := after - quiet
		lives := quiet < after
		stuck := pinged && min(m.client.Stuck(), time.Since(begun)) >= after
		switch {
		case !needed:
			next = time.Until(until)
		case lives && stuck && asked.IsZero():
			// Other connections live, and so does the cluster, but the users of this one wait.
			asked = time.Now()
			asking.Go(func() { answer <- m.client.Renew(ctx) })
			next = listenAway
		case lives:
			next = min(next, askAfter/2)
		case asked.IsZero():
			asked = time.Now()
			ask := m.client.Alive
			if pinged { // an answer to a request would come later than those to the pings, if the connection lived
				ask = m.client.Renew
			}
			asking.Go(func() { answer <- ask(ctx) })
			next = listenAway
		case quiet >= silentAfter && (pinged || time.Since(asked) >= silentAfter):
			return k8s.Silent(c, quiet), true
		default:
			next = min(listenAway, silentAfter-quiet)
			if next <= 0 {
				next = min(listenAway, silentAfter-time.Since(asked))
			}
		}
		due = time.Now().Add(next)
		changed := func(v store.View) bool { return lost(v) || !needed && state.NeedsCluster(v, m.on) }
		if !rt.Pause(ctx, max(0, min(next, time.Until(until))), changed) {
			return nil, false
		}
		select {
		case err := <-answer:
			if asked = (time.Time{}); err != nil {
				return nil, ctx.Err() == nil
			}
			begun = time.Now()
		default:
		}
		if lost(rt.View()) || !time.Now().Before(until) {
			return nil, true
		}
	}
}

// check asks whether the cluster is healthy, and listens meanwhile: the connection may die during the question. It returns
// the answer, or the silence. heard is set if the subscriber has listened up to now, so that the silence before the call
// counts.
func (m *monitor) check(ctx context.Context, rt *store.Runtime, c model.Cluster, heard bool) (err, silence error) {
	asking, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	listening, answered := context.WithCancel(ctx)
	defer answered()
	var question sync.WaitGroup
	question.Go(func() {
		defer answered()
		err = m.client.Healthy(asking)
	})
	begun := time.Now()
	if heard {
		begun = begun.Add(-silentAfter)
	}
	if silence, _ = m.listen(listening, rt, c, begun, pollTimeout); silence != nil {
		cancel()
	}
	question.Wait()
	return err, silence
}

// await waits for the given time, and less if something arrives from a cluster that was silent. It returns false if ctx is
// done.
func (m *monitor) await(ctx context.Context, rt *store.Runtime, pause time.Duration) bool {
	never := func(store.View) bool { return false }
	before, _ := m.client.Quiet()
	for until := time.Now().Add(pause); ; {
		left := time.Until(until)
		if left <= 0 {
			return true
		}
		if !rt.Pause(ctx, min(left, listenAway), never) {
			return false
		}
		if quiet, _ := m.client.Quiet(); quiet < before {
			return true
		}
	}
}
