// Package sessioncontroller reports which resources have become ready, and decides when a session is over: "hone ci" when
// everything is ready or something has failed permanently, and any session that cannot begin.
package sessioncontroller

import (
	"cmp"
	"context"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Subscriber is the SessionController.
type Subscriber struct {
	session state.Session
	logs    *logstore.Store
	now     func() time.Time
}

// New returns the subscriber for the given session, which it opens.
func New(session state.Session, logs *logstore.Store) *Subscriber {
	return &Subscriber{session: session, logs: logs, now: time.Now}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:     "SessionController",
		Doc:      "Opens the session, reports which resources have become ready, and decides when the session is over: ci when everything is ready or something has failed permanently, any session that cannot begin.",
		Inputs:   status.Tables(),
		Outputs:  store.Emits(state.SessionStarted{}, state.ResourcesReady{}, state.SessionEnded{}),
		Stage:    store.StageController,
		Feedback: "a session ends once, and a resource becomes ready for the first time once",
	}
}

// After each look at all resources, the subscriber rests for rest times as long as the look took, so that it takes a fifth of a processor at
// most. While 1,000 resources are deployed, something changes each millisecond.
const rest = 4

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if state.TheSession(rt.View()).StartedAt.IsZero() {
		rt.Dispatch(state.SessionStarted{Session: s.session})
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	ready, tries, silence := map[model.ManifestName]time.Time{}, newTries(s.logs), quiet{logs: s.logs}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		case <-timer.C:
		}
		began := time.Now()
		v := rt.View()
		session := state.TheSession(v)
		if session.StartedAt.IsZero() {
			continue
		}
		if session.Ended != nil {
			return nil
		}
		if ready := buildcontrol.NewlyReady(v); len(ready) > 0 {
			rt.Dispatch(state.ResourcesReady{Names: ready})
		}
		end, again := judge(v, s.now(), ready, tries)
		if end != nil {
			rt.Dispatch(*end)
			return nil
		}
		if session.Command == state.CommandCI {
			again = sooner(again, silence.note(v, s.now()))
		}
		timer.Stop()
		if again > 0 {
			timer.Reset(again)
		}
		rt.Idle()
		retry.Sleep(ctx, rest*time.Since(began))
	}
}

// judge returns the session's end, or the time after which to look again without a change (0: never).
func judge(v store.View, now time.Time, deployed map[model.ManifestName]time.Time, tries *tries) (*state.SessionEnded, time.Duration) {
	if why := cannotBegin(v); why != "" {
		return &state.SessionEnded{Failure: why, Cause: state.EndOutside}, 0
	}
	session := state.TheSession(v)
	if session.Command != state.CommandCI {
		return nil, 0
	}
	tries.note(v)
	return judgeCI(v, session, now, deployed, tries)
}

// cannotBegin returns why a session ends before its first update, because no change that the user could make while it runs
// would help.
func cannotBegin(v store.View) string {
	t, engine := state.TheTiltfile(v), state.TheEngine(v)
	unreachable := noCluster(v)
	switch {
	case t.Usage && !t.Good:
		return t.Err
	case !t.Good:
		return ""
	case state.Updated(v):
		return ""
	case unreachable != "":
		return unreachable
	case !engine.Ever && !engine.Starting && state.NeedsEngine(v):
		return engine.Err
	}
	return ""
}

// noCluster returns why none of the clusters that are needed can be reached; empty if one may.
func noCluster(v store.View) (why string) {
	for _, on := range state.NeededClusters(v) {
		c := state.ClusterOn(v, on)
		if c.Ever || c.Starting || c.Err == "" {
			return ""
		}
		why = cmp.Or(why, c.Err)
	}
	return why
}
