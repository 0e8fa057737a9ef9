package tiltfileloader

import (
	"context"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// patience is how long the cluster has to say what it serves. Nothing waits for the answer but the end of "hone ci".
const patience = 10 * time.Second

// question asks the cluster again what it serves, for the charts that depend on it.
type question struct {
	put func(context.Context) (model.Capabilities, error) // nil without a cluster
	// due fires when it is time to ask.
	due *time.Timer
	// asked is the time of the newest question, and open is set until its answer comes.
	asked   time.Time
	open    bool
	answers chan state.ServedReported
	asking  sync.WaitGroup
}

func newQuestion(put func(context.Context) (model.Capabilities, error)) *question {
	return &question{put: put, due: time.NewTimer(time.Hour), answers: make(chan state.ServedReported, 1)}
}

// stop waits for an open question, whose context has ended.
func (q *question) stop() {
	q.due.Stop()
	q.asking.Wait()
}

// ask asks the cluster if that is due.
func (q *question) ask(ctx context.Context, v store.View, now time.Time) {
	t := state.TheTiltfile(v)
	at, ok := t.AskAgain(state.TheCluster(v))
	if idle := !q.open && !t.AskedAt.Before(q.asked); !ok || !idle || q.put == nil {
		return
	}
	if left := at.Sub(now); left > 0 {
		q.due.Reset(left)
		return
	}
	if q.asked, q.open = now, true; v.At.After(now) {
		q.asked = v.At // it includes all that the view shows
	}
	asked := q.asked
	q.asking.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		served, err := q.put(ctx)
		q.answers <- state.ServedReported{AskedAt: asked, Served: served, Failed: err != nil}
	})
}

// answered passes an answer on. A session whose plan the user has seen does no more than that; it says that there is more.
func (s *Subscriber) answered(rt *store.Runtime, q *question, a state.ServedReported) {
	q.open = false
	v := rt.View()
	t := state.TheTiltfile(v)
	if state.TheSession(v).Shown && t.ServesMore(a) {
		a.Served = *t.Told
		logstore.Warnf(s.logs.Logger(model.TiltfileName, t.Span, logstore.SourceBuild),
			"WARNING: the cluster serves more now than when the plan was made, and charts that look at .Capabilities may declare more objects; deploy again to add them")
	}
	rt.Dispatch(a)
}
