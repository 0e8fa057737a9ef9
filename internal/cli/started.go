package cli

import (
	"context"

	"github.com/hone-dev/hone/internal/session"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/store"
)

// publishStart says in the registry that the session has begun its work, once it has.
func publishStart(ctx context.Context, p sessionParts) {
	wake, stop := p.Store.Watch(state.Tiltfiles.Name(), state.Clusters.Name(), state.Engines.Name(), state.Resources.Name())
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		if begun(p.Store.Snapshot().All()) {
			_ = p.Claim.Publish(ctx, func(i *session.Info) { i.Started = true })
			return
		}
	}
}

// begun reports whether a session will go on: its Tiltfile was evaluated, and what it cannot begin without answers.
func begun(v store.View) bool {
	t := state.TheTiltfile(v)
	switch {
	case !t.Loaded || t.Usage && !t.Good:
		return false
	case !t.Good:
		return true // it waits for the user to mend the Tiltfile
	}
	return (!state.NeedsCluster(v) || state.TheCluster(v).Ever) && (!state.NeedsEngine(v) || state.TheEngine(v).Ever)
}
