package driftwatcher

import (
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// kind is a kind of objects, in all its versions.
type kind struct{ group, name string }

// running are the kinds whose objects end by themselves. DeployDiscovery says how they ended.
var running = map[kind]bool{
	{"", "Pod"}:      true,
	{"batch", "Job"}: true,
}

// vanishes reports whether an object may be gone although no one has deleted it: because of its kind, or because it has run to its
// end, such as a workflow that is cleaned up.
func (b *tracker) vanishes(id model.ObjectID, a applied) bool {
	return running[kind{id.Group, id.Kind}] || deploy.PassingKind(id) || state.Objects.In(b.view).Value(a.uid).Ended
}
