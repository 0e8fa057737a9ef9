// Package enginemonitor checks whether the container engine that builds images answers.
package enginemonitor

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

const (
	pollHealthy = 30 * time.Second
	pollFailing = 2 * time.Second
	pollTimeout = 5 * time.Second
)

// Pinger is the part of a container engine that is needed here.
type Pinger interface {
	Ping(ctx context.Context) (docker.Info, error)
}

// Subscriber is the EngineMonitor. It leaves the engine alone until a resource needs an image from it.
type Subscriber struct{ engine Pinger }

// New returns the subscriber.
func New(engine Pinger) *Subscriber { return &Subscriber{engine: engine} }

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "EngineMonitor",
		Doc:       "Checks whether the container engine answers, once a resource needs it.",
		Inputs:    store.Reads(state.Resources, state.Engines),
		Outputs:   store.Emits(state.EngineReported{}),
		Externals: []string{"docker"},
		Stage:     store.StageWatch,
		Feedback:  "it checks at once when a build could not reach the engine",
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if !rt.Await(ctx, state.NeedsEngine) {
		return nil
	}
	for {
		pause := pollHealthy
		if report := s.ask(ctx); report.Connected {
			rt.Dispatch(report)
			rt.Succeeded()
		} else if ctx.Err() == nil {
			rt.Dispatch(report)
			pause = pollFailing
		}
		// The next check comes at once when a build finds that the engine no longer answers.
		lost := func(v store.View) bool {
			e := state.TheEngine(v)
			return pause == pollHealthy && e.Ever && !e.Connected
		}
		if !rt.Pause(ctx, pause, lost) {
			return nil
		}
	}
}

func (s *Subscriber) ask(ctx context.Context) state.EngineReported {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	info, err := s.engine.Ping(ctx)
	if err != nil {
		return state.EngineReported{Err: problem.Text(err)}
	}
	return state.EngineReported{Connected: true, Version: info.Version, Host: info.Host, Platform: info.OS + "/" + info.Arch}
}
