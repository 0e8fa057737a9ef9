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

// publishStart records in the registry that the session has begun its work, once it has.
func publishStart(ctx context.Context, p sessionParts) {
	wake, stop := p.Store.Watch(state.Tiltfiles.Name(), state.Clusters.Name(), state.Engines.Name(), state.Resources.Name(), state.Updates.Name())
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

// rememberProject records where the session works, and the resources and clusters that the Tiltfile declares, whenever they change, for
// commands without a session. Write errors are ignored, since the record only helps with names.
func rememberProject(ctx context.Context, st *store.Store, is sessions.Info) {
	wake, stop := st.Watch(state.Tiltfiles.Name())
	defer stop()
	var kept []string
	var keptClusters []sessions.Cluster
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
		var clusters []sessions.Cluster
		for _, d := range t.Result.Clusters {
			clusters = append(clusters, sessions.Cluster{Name: d.Name, Context: d.Context, Namespace: d.Namespace})
		}
		if !first && slices.Equal(names, kept) && slices.Equal(clusters, keptClusters) {
			continue
		}
		first, kept, keptClusters = false, names, clusters
		_ = flags.Remembered().Keep(sessions.Project{Tiltfile: is.Tiltfile, Session: is.Name, UsedAt: time.Now(), Context: is.Context, Namespace: is.Namespace,
			Resources: names, Clusters: clusters})
	}
}

// begun reports whether a session is past its start: its Tiltfile was evaluated, and the cluster and the engine that it needs have
// answered. If one of them is unreachable, a session that has begun an update of anything is past its start as well.
func begun(v store.View) bool {
	t := state.TheTiltfile(v)
	switch {
	case !t.Loaded || t.Usage && !t.Good:
		return false
	case !t.Good:
		return true // it waits for the user to fix the Tiltfile
	}
	var needs []state.Contact
	for _, on := range state.NeededClusters(v) {
		needs = append(needs, state.ClusterOn(v, on).Contact)
	}
	if state.NeedsEngine(v) {
		needs = append(needs, state.TheEngine(v).Contact)
	}
	for _, need := range needs {
		waits := need.Err != "" && state.Updated(v)
		if !need.Ever && !waits {
			return false
		}
	}
	return true
}
