package page

import (
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// Clusters returns the clusters of a session that works on several, its own first; nil for any other session.
func Clusters(v store.View) (out []api.Cluster) {
	for _, c := range state.SeveralClusters(v) {
		shown := api.Cluster{Name: c.Title, Context: c.Context, Namespace: state.NamespaceOn(v, c.On, c.Namespace), Connected: c.Connected,
			Needed: state.NeedsCluster(v, c.On), Starting: c.Starting}
		if !c.Connected {
			shown.Error = c.Err
		}
		out = append(out, shown)
	}
	return out
}
