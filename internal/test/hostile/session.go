package hostile

import (
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// FillSession puts a text in front of all texts that a session knows, except names; see Fill.
func FillSession(v store.View, text string) {
	fillTable(v, state.Sessions, text)
	fillTable(v, state.Tiltfiles, text)
	fillTable(v, state.Resources, text)
	fillTable(v, state.Updates, text)
	fillTable(v, state.Clusters, text)
	fillTable(v, state.Engines, text)
	fillTable(v, state.Pods, text)
	fillTable(v, state.Services, text)
	fillTable(v, state.Objects, text)
	fillTable(v, state.Drifts, text)
	fillTable(v, state.ClusterEvents, text)
	fillTable(v, state.ClusterWatches, text)
	fillTable(v, state.Forwards, text)
	fillTable(v, state.Synclets, text)
	fillTable(v, state.Restarts, text)
	fillTable(v, state.Processes, text)
	fillTable(v, state.Watches, text)
	fillTable(v, state.Buttons, text)
	fillTable(v, state.Commands, text)
	fillTable(v, state.FileWatches, text)
	fillTable(v, state.ConfigMaps, text)
}

func fillTable[T any](v store.View, t *store.Table[T], text string) {
	for e := range t.In(v).Refs() {
		Fill(&e.Value, text)
		Fill(&e.Labels, text)
	}
}
