package tiltfileloader

import (
	"context"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/pkg/model"
)

// question asks the cluster again what it serves, for the charts that depend on it.
type question struct {
	put func(context.Context) (model.Capabilities, error)
	// due fires when it is time to ask.
	due *time.Timer
	// asked is the time of the newest question.
	asked   time.Time
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
	if !ok || t.AskedAt.Before(q.asked) {
		return // an answer is expected
	}
	if left := at.Sub(now); left > 0 {
		q.due.Reset(left)
		return
	}
	if q.asked = now; v.At.After(now) {
		q.asked = v.At // it includes all that the view shows
	}
	asked := q.asked
	asking := ctx
	q.asking.Go(func() {
		ctx, cancel := context.WithTimeout(asking, eval.ServedPatience)
		defer cancel()
		served, err := q.put(ctx)
		if err != nil {
			served = model.Capabilities{}
		}
		select {
		case q.answers <- state.ServedReported{AskedAt: asked, Served: served}:
		case <-asking.Done():
		}
	})
}

// answered passes an answer on. A session whose plan the user has seen does no more than that; it says that there is more.
func (s *Subscriber) answered(rt *store.Runtime, a state.ServedReported) {
	v := rt.View()
	t := state.TheTiltfile(v)
	if state.TheSession(v).Shown && t.ServesMore(a) {
		a.Served = *t.Told
		logstore.Warnf(s.logs.Logger(model.TiltfileName, t.Span, logstore.SourceBuild),
			"WARNING: the cluster serves more now than when the plan was made, and charts that look at .Capabilities may declare more objects; deploy again to add them")
	}
	rt.Dispatch(a)
}
