package commandcontroller

import (
	"context"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/workers"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

const name = "CommandController"

// Subscriber is the CommandController.
type Subscriber struct {
	logs *logstore.Store
	env  []string
}

// New returns the subscriber; env is added to the environment of every command.
func New(logs *logstore.Store, env []string) *Subscriber { return &Subscriber{logs, env} }

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      name,
		Doc:       "Runs the commands that the Tiltfile declares outside of resources, and restarts them on clicks and changes.",
		Inputs:    append(store.Holds(state.Commands), store.Reads(state.Sessions, state.Tiltfiles, state.Buttons, state.FileWatches, state.ConfigMaps)...),
		Outputs:   store.Emits(state.CommandStarted{}, state.CommandReported{}, state.CommandEnded{}, state.CommandRoundDue{}),
		Externals: []string{"process"},
		Stage:     store.StageController,
		Feedback:  "a run is identified by its cause, and no report about a run is a cause",
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	runs := workers.NewSet(ctx, same, func(ctx context.Context, _ string, r run) { s.execute(ctx, rt, r) })
	defer runs.Stop()
	circles := circles{named: map[string]int{}, pause: time.NewTimer(time.Hour)}
	defer circles.pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		case <-runs.Ended():
		case <-circles.pause.C:
		}
		v := rt.View()
		wanted := map[string]run{}
		for e := range state.Commands.In(v).Refs() {
			if e.Phase != store.Running {
				continue
			}
			if r := due(v, e.Value); r != nil {
				wanted[e.ID] = *r
			}
		}
		runs.Want(wanted)
		s.slowDown(rt, wanted, &circles)
		for e := range state.Commands.In(v).Refs() {
			if e.Phase != store.Running && slices.Contains(e.Finalizers, name) && !runs.Has(e.ID) {
				rt.Release(state.Commands, e.ID)
			}
		}
		rt.Succeeded()
	}
}
