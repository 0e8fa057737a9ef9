package hudtest

import (
	"context"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Others replaces all other subscribers of a session, so that the contracts are complete: it declares that it reads every
// table and emits every action, but does nothing.
type Others struct{}

var _ store.Subscriber = Others{}

// Contract implements store.Subscriber.
func (Others) Contract() store.Contract {
	c := store.Contract{
		Name: "Others", Doc: "Stands for the rest of the session.", Feedback: "it does nothing",
		Outputs: append(store.Emits(state.SessionStarted{}, state.SessionEnded{}, state.TiltfileStarted{}, state.TiltfileLoaded{}, state.TiltfileOvertaken{},
			state.ContainersRecognized{}, state.FilesNoticed{}, state.FilesChanged{}, state.SyncletChanged{}, state.ClusterWatchFailed{}, state.ClusterWatchMended{}, state.SyncletGone{}, state.BuildStarted{}, state.BuildProgressed{}, state.BuildCompleted{}, state.LaneEnded{}, state.ResourcesReady{}, state.HoldsChanged{}, state.CollectionReported{}, state.PruneGuardChanged{}, state.LeavingHeld{}, state.ObjectsLost{}, state.ResourceDrifted{}, state.DriftAcceptanceEnded{}, state.ObjectsTakenDown{}, state.DeployLockTaken{}, state.DeployLockReleased{}, state.RetryDue{}, state.RoundDue{}, state.StartOverdue{}, state.TiltfileRoundDue{}, state.ServedReported{}, state.CommandRoundDue{},
			state.ClusterReported{}, state.EngineReported{}, state.PodChanged{}, state.PodGone{}, state.ProbeFailed{}, state.ServiceChanged{},
			state.ServiceGone{}, state.ObjectsChanged{}, state.ObjectGone{}, state.KubeEventsSeen{}, state.ForwardChanged{}, state.ForwardClosed{},
			state.ProcessChanged{}, state.ProcessGone{}, state.RestartEnded{}, state.CommandStarted{}, state.CommandReported{}, state.CommandEnded{},
			state.WatchReported{}), store.Shares(state.ResourcesTriggered{}, state.ButtonClicked{}, state.ResourcesSwitched{},
			state.TriggerModeChosen{}, state.TiltfileArgsSet{}, state.ObjectsDeclared{}, state.ObjectsWithdrawn{}, state.ResourcesRestarted{},
			state.SessionPaused{}, state.SessionResumed{}, state.ForwardsChosen{}, state.PruneAllowed{}, state.ChangesConfirmed{},
			state.ResourcesRestored{}, state.DriftAccepted{})...),
	}
	for _, t := range store.NewGraph(state.Schema, nil).Tables {
		c.Inputs = append(c.Inputs, store.Input{Table: t.Name})
	}
	return c
}

// Run implements store.Subscriber.
func (Others) Run(ctx context.Context, _ *store.Runtime) error {
	<-ctx.Done()
	return nil
}
