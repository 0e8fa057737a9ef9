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

// question asks clusters again for their APIs, for the charts that depend on them. Clusters are named as in model.K8sTarget.
type question struct {
	put func(ctx context.Context, on string) (model.Capabilities, error)
	// due fires when it is time to ask one.
	due *time.Timer
	// asked are the times of the newest questions.
	asked   map[string]time.Time
	answers chan state.ServedReported
	asking  sync.WaitGroup
}

func newQuestion(put func(ctx context.Context, on string) (model.Capabilities, error)) *question {
	return &question{put: put, due: time.NewTimer(time.Hour), asked: map[string]time.Time{}, answers: make(chan state.ServedReported, 1)}
}

// stop waits for open questions, whose context has ended.
func (q *question) stop() {
	q.due.Stop()
	q.asking.Wait()
}

// ask asks the clusters for which that is due.
func (q *question) ask(ctx context.Context, v store.View, now time.Time) {
	t := state.TheTiltfile(v)
	next := time.Hour
	for on := range t.Told {
		at, ok := t.AskAgain(v, on)
		if !ok || t.AskedAt[on].Before(q.asked[on]) {
			continue // an answer is expected
		}
		if left := at.Sub(now); left > 0 {
			next = min(next, left)
			q.due.Reset(next)
			continue
		}
		if q.asked[on] = now; v.At.After(now) {
			q.asked[on] = v.At // it includes all that the view shows
		}
		q.askOne(ctx, on, q.asked[on])
	}
}

// askOne asks a cluster on a goroutine of its own.
func (q *question) askOne(asking context.Context, on string, asked time.Time) {
	q.asking.Go(func() {
		ctx, cancel := context.WithTimeout(asking, eval.ServedPatience)
		defer cancel()
		served, err := q.put(ctx, on)
		if err != nil {
			served = model.Capabilities{}
		}
		select {
		case q.answers <- state.ServedReported{On: on, AskedAt: asked, Served: served}:
		case <-asking.Done():
		}
	})
}

// capabilities asks a cluster for its version and its APIs.
func (s *Subscriber) capabilities(ctx context.Context, on string) (none model.Capabilities, err error) {
	if on == "" {
		return s.options.Capabilities(ctx)
	}
	way, err := s.options.Clusters(on, "")
	if err != nil {
		return none, err
	}
	return way.Capabilities(ctx)
}

// answered passes an answer on. A session whose plan the user has seen does no more than that; it says that there is more.
func (s *Subscriber) answered(rt *store.Runtime, a state.ServedReported) {
	v := rt.View()
	t := state.TheTiltfile(v)
	if state.TheSession(v).Shown && t.ServesMore(a) {
		a.Served = t.Told[a.On]
		logstore.Warnf(s.logs.Logger(model.TiltfileName, t.Span, logstore.SourceBuild),
			"WARNING: the cluster serves more now than when the plan was made, and charts that look at .Capabilities may declare more objects; deploy again to add them")
	}
	rt.Dispatch(a)
}
