// Package enginemonitor checks whether the container engine that builds images answers.
package enginemonitor

import (
	"context"
	"fmt"
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
	// An engine that runs services of Compose is pinged all the time, because their shown state comes from it. It answers a
	// ping without waiting for any of its other work. The pause between two pings and the time for an answer bound the time
	// for which its silence goes unnoticed.
	pulse        = 500 * time.Millisecond
	pulseTimeout = 2500 * time.Millisecond
)

// Pinger is the part of a container engine that is needed here.
type Pinger interface {
	Ping(ctx context.Context) (docker.Info, error)
	Alive(ctx context.Context) error
}

// Builder builds images in place of an engine. Its text is its name for people.
type Builder interface {
	Pinger
	fmt.Stringer
}

// Subscriber is the EngineMonitor. It leaves the engine alone until a resource needs an image from it.
type Subscriber struct {
	engine Pinger
	away   Builder // builds images in place of the engine; nil for the engine's own builder
}

// New returns the subscriber.
func New(engine Pinger) *Subscriber { return &Subscriber{engine: engine} }

// With makes the subscriber check a builder of images in place of the engine; nil means the engine. The engine is then needed only for
// services of Compose.
func (s *Subscriber) With(away Builder) *Subscriber {
	s.away = away
	return s
}

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
		report := s.ask(ctx, state.RunsCompose(rt.View()))
		if report.Connected {
			rt.Dispatch(report)
			rt.Succeeded()
			var ok bool
			if report, ok = s.listen(ctx, rt); !ok {
				return nil
			}
		}
		if report.Err == "" {
			continue
		}
		if ctx.Err() == nil {
			rt.Dispatch(report)
		}
		if !rt.Pause(ctx, pollFailing, func(store.View) bool { return false }) {
			return nil
		}
	}
}

// listen waits until the next poll is due: a while, and less when a build finds that the engine no longer answers. An engine
// that runs services is pinged meanwhile, and listen returns a report once it does not answer. It returns ok false if ctx is
// done.
func (s *Subscriber) listen(ctx context.Context, rt *store.Runtime) (report state.EngineReported, ok bool) {
	lost := func(v store.View) bool { return state.TheEngine(v).Broken() }
	heard := time.Now()
	for until := heard.Add(pollHealthy); ; {
		left, runs := time.Until(until), state.RunsCompose(rt.View())
		if left <= 0 || lost(rt.View()) {
			return report, true
		}
		if runs {
			left = min(left, pulse)
		}
		if !rt.Pause(ctx, left, func(v store.View) bool { return lost(v) || !runs && state.RunsCompose(v) }) {
			return report, false
		}
		if !runs {
			continue
		}
		err := s.alive(ctx)
		switch {
		case ctx.Err() != nil:
			return report, false
		case err != nil:
			return state.EngineReported{Err: problem.Text(err), Problem: state.ProblemOf(err), Heard: heard}, true
		}
		heard = time.Now()
	}
}

func (s *Subscriber) alive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pulseTimeout)
	defer cancel()
	return s.engine.Alive(ctx)
}

// ask asks the builder of images, and the engine if it runs services.
func (s *Subscriber) ask(ctx context.Context, runs bool) state.EngineReported {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	builds, builder := s.engine, ""
	if s.away != nil {
		builds, builder = s.away, s.away.String()
	}
	info, err := builds.Ping(ctx)
	if s.away != nil && err == nil && runs {
		if err = s.engine.Alive(ctx); err != nil {
			builder = ""
		}
	}
	if err != nil {
		return state.EngineReported{Builder: builder, Err: problem.Text(err), Problem: state.ProblemOf(err)}
	}
	return state.EngineReported{Connected: true, Builder: builder, Version: info.Version, Host: info.Host, Platform: info.OS + "/" + info.Arch}
}
