package up

import (
	"context"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
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
			_ = p.Claim.Publish(ctx, func(i *sessions.Info) { i.Started = true })
			return
		}
	}
}

// rememberProject writes down what the Tiltfile declares, each time that this changes, for when no session runs. What cannot be
// written is not missed: it only helps with names.
func rememberProject(ctx context.Context, st *store.Store, is sessions.Info) {
	wake, stop := st.Watch(state.Tiltfiles.Name())
	defer stop()
	var kept []string
	first := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		t := state.TheTiltfile(st.Snapshot().All())
		if !t.Good {
			continue
		}
		var names []string
		for _, m := range t.Result.Manifests {
			names = append(names, string(m.Name))
		}
		if !first && slices.Equal(names, kept) {
			continue
		}
		first, kept = false, names
		_ = flags.Remembered().Keep(sessions.Project{Tiltfile: is.Tiltfile, Session: is.Name, UsedAt: time.Now(), Resources: names})
	}
}

// begun reports whether a session is past its start: its Tiltfile was evaluated, and what it needs to begin answers.
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
