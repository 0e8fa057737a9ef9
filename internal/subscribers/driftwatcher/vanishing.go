package driftwatcher

import (
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// kind is a kind of objects, in all its versions.
type kind struct{ group, name string }

// vanishing are the kinds whose objects end by themselves, or which Kubernetes removes. DeployDiscovery says how Jobs and pods ended.
var vanishing = map[kind]bool{
	{"", "Pod"}:                    true,
	{"batch", "Job"}:               true,
	{"", "Event"}:                  true,
	{"events.k8s.io", "Event"}:     true,
	{"apps", "ControllerRevision"}: true,
	{"certificates.k8s.io", "CertificateSigningRequest"}: true,
}

// vanishes reports whether an object may be gone although no one has deleted it: because of its kind, or because it has run to its
// end, such as a workflow that is cleaned up.
func (b *book) vanishes(id model.ObjectID, a applied) bool {
	return vanishing[kind{id.Group, id.Kind}] || state.Objects.In(b.view).Value(a.uid).Ended
}
