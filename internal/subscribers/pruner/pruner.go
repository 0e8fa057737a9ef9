// Package pruner periodically removes images that hone built and that are no longer needed from the container engine.
package pruner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	name = "Pruner"
	// first is the pause between the first image that is built and the first pruning, which must not slow the start down.
	first = time.Minute
)

// Engine removes old images.
type Engine interface {
	Prune(ctx context.Context, req imagebuild.PruneRequest) (imagebuild.Pruned, error)
}

// Subscriber is the Pruner. It works on its own goroutine.
type Subscriber struct {
	engine Engine
	logs   *logstore.Store
}

// New returns the subscriber.
func New(engine Engine, logs *logstore.Store) *Subscriber { return &Subscriber{engine, logs} }

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      name,
		Doc:       "Removes hone's old images from the container engine, as docker_prune_settings() specifies.",
		Inputs:    store.Reads(state.Sessions, state.Tiltfiles, state.Updates, state.Engines),
		Externals: []string{"docker"},
		Stage:     store.StageController,
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	plan := schedule{built: map[string]time.Time{}}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		case <-timer.C:
		}
		v, now := rt.View(), time.Now()
		plan.observe(v, now)
		timer.Stop()
		settings := state.TheTiltfile(v).Result.DockerPrune
		at, wanted := plan.next(settings)
		switch {
		case !wanted || state.TheSession(v).Command != state.CommandUp:
		case now.Before(at):
			timer.Reset(at.Sub(now))
		case quiet(v):
			s.prune(ctx, imagebuild.PruneRequest{Settings: settings, Of: plan.images(v), Keep: inUse(v)})
			plan.pruned(time.Now())
			if at, wanted = plan.next(settings); wanted {
				timer.Reset(time.Until(at))
			}
		} // otherwise the end of a build, or the engine's answer, wakes the subscriber
		rt.Succeeded()
	}
}

func (s *Subscriber) prune(ctx context.Context, req imagebuild.PruneRequest) {
	log := s.logs.Logger(model.TiltfileName, "prune", logstore.SourceBuild)
	done, err := s.engine.Prune(ctx, req)
	if len(done.Refs) > 0 {
		logstore.Infof(log, "Removed %s", describe(done))
	}
	if err != nil && ctx.Err() == nil {
		logstore.Warnf(log, "Old images could not be removed: %s", problem.Text(err))
	}
}

// describe describes the removed images: "3 old images of earlier builds (120 MB)".
func describe(p imagebuild.Pruned) string {
	if p.Images == 0 {
		return words.Count(len(p.Refs), "old tag") + " of earlier builds"
	}
	return fmt.Sprintf("%s of earlier builds (%d MB)", words.Count(p.Images, "old image"), p.Bytes/1_000_000)
}

// quiet reports whether the engine answers and no build runs that could need the removed images.
func quiet(v store.View) bool {
	for e := range state.Updates.In(v).Refs() {
		if e.Value.Current != nil {
			return false
		}
	}
	return state.TheEngine(v).Connected
}

// inUse returns the references of the images that resources are deployed with, or will be.
func inUse(v store.View) []string {
	var out []string
	for e := range state.Updates.In(v).Refs() {
		for _, images := range []map[string]model.ImageResult{e.Value.Images, e.Value.Running} {
			for _, r := range images {
				out = append(out, r.Local, r.Cluster)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// schedule decides when to prune.
type schedule struct {
	// built holds, by reference, when the newest build of each image began. begin is the time when the first of them was
	// seen, and builds counts them since the last pruning.
	built  map[string]time.Time
	begin  time.Time
	builds int
	last   time.Time
}

// observe counts the images that were built since the last look.
func (s *schedule) observe(v store.View, now time.Time) {
	for e := range state.Updates.In(v).Refs() {
		for ref, r := range e.Value.Images {
			if r.StartedAt.After(s.built[ref]) {
				s.built[ref] = r.StartedAt
				s.builds++
			}
		}
	}
	if s.begin.IsZero() && s.builds > 0 {
		s.begin = now
	}
}

// images returns the images that the settings apply to, by their names in the Tiltfile: those that it declares, those that
// it has declared in this session, and the synclet's.
func (s *schedule) images(v store.View) []string {
	out := append(state.TheTiltfile(v).Result.ImageRefs(), imagebuild.SyncletName)
	for ref := range s.built {
		out = append(out, ref)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// next returns when to prune, which may be in the past; ok is false if the time is not known yet.
func (s *schedule) next(settings model.DockerPruneSettings) (at time.Time, ok bool) {
	switch {
	case settings.Disable || s.begin.IsZero():
		return time.Time{}, false
	case s.last.IsZero():
		return s.begin.Add(first), true
	case settings.NumBuilds > 0:
		return s.last, s.builds >= settings.NumBuilds
	}
	return s.last.Add(settings.Interval), settings.Interval > 0
}

func (s *schedule) pruned(now time.Time) { s.last, s.builds = now, 0 }
