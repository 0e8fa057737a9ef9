// Package enginemonitor checks whether the container engine that builds images answers.
package enginemonitor

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
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
	away   func(declared model.Builder) Builder // builds images in place of the engine; it returns nil for the engine's own builder
}

// New returns the subscriber.
func New(engine Pinger) *Subscriber {
	return &Subscriber{engine: engine, away: func(model.Builder) Builder { return nil }}
}

// With makes the subscriber check a builder of images in place of the engine, where the function returns one for the builder that the
// Tiltfile declares. The engine is then needed only for services of Compose.
func (s *Subscriber) With(away func(declared model.Builder) Builder) *Subscriber {
	s.away = away
	return s
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "EngineMonitor",
		Doc:       "Checks whether the container engine answers, once a resource needs it.",
		Inputs:    store.Reads(state.Resources, state.Engines, state.Tiltfiles),
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
		asked := declared(rt.View())
		if away := s.away(asked); away != nil && state.TheEngine(rt.View()).Builder != away.String() {
			rt.Dispatch(state.EngineReported{Builder: away.String()}) // it has another name than the engine; whether it answers is not known yet
		}
		report := s.ask(ctx, s.away(asked), state.RunsCompose(rt.View()))
		if report.Connected {
			rt.Dispatch(report)
			rt.Succeeded()
			var ok bool
			if report, ok = s.listen(ctx, rt, asked); !ok {
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

// declared returns the builder that the Tiltfile declares.
func declared(v store.View) model.Builder { return state.TheTiltfile(v).Result.Builder }

// listen waits until the next poll is due: a while, and less when a build finds that the engine no longer answers, or the Tiltfile declares
// another builder. An engine
// that runs services is pinged meanwhile, and listen returns a report once it does not answer. It returns ok false if ctx is
// done.
func (s *Subscriber) listen(ctx context.Context, rt *store.Runtime, asked model.Builder) (report state.EngineReported, ok bool) {
	lost := func(v store.View) bool { return state.TheEngine(v).Broken() || !reflect.DeepEqual(declared(v), asked) }
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
func (s *Subscriber) ask(ctx context.Context, away Builder, runs bool) state.EngineReported {
	builds, builder, limit := s.engine, "", pollTimeout
	if away != nil {
		builds, builder, limit = away, away.String(), 2*pollTimeout // a builder starts, and then answers
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	info, err := builds.Ping(ctx)
	if away != nil && err == nil && runs {
		if err = s.engine.Alive(ctx); err != nil {
			builder = ""
		}
	}
	if err != nil && away == nil && !runs {
		err = inClusterInstead(err)
	}
	if err != nil {
		return state.EngineReported{Builder: builder, Starting: docker.IsStarting(err), Err: problem.Text(err), Problem: state.ProblemOf(err)}
	}
	return state.EngineReported{Connected: true, Builder: builder, Version: info.Version, Host: info.Host, Platform: info.OS + "/" + info.Arch}
}

// inClusterInstead adds to the problem of an engine that does not answer that images can be built without one.
func inClusterInstead(err error) error {
	p, ok := problem.Of(err)
	if !ok {
		return err
	}
	more := *p
	more.Mend += "\nor build in the cluster, without an engine: --builder " + model.BuilderInCluster
	return &more
}
