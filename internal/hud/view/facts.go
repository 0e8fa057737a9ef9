package view

import (
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Fact is a fact about a resource for the user's own commands.
type Fact struct{ Name, Value string }

// Facts returns the facts about a resource; those that do not apply are empty.
func Facts(v store.View, name model.ManifestName) []Fact {
	b := newBuilder(v, v.Snapshot.At)
	var row Row
	if s, ok := b.of(name); ok {
		row = b.resourceRow(s)
	}
	pod, _ := status.Shown(b.pods[name].Values())
	container, url := "", ""
	if list := pod.LastingContainers(); len(list) > 0 {
		container = list[0].Name
	}
	if len(row.Endpoints) > 0 {
		url = row.Endpoints[0].URL
	}
	return []Fact{{"RESOURCE", string(name)}, {"TILTFILE", b.tiltfile.Path}, {"CONTEXT", state.ClusterOf(v, state.Resources.In(v).Value(string(name)).Manifest).Context}, {"NAMESPACE", pod.Namespace},
		{"POD", pod.Name}, {"CONTAINER", container}, {"URL", url}}
}
