package buildcontroller

import (
	"maps"
	"slices"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/verdict"
	"github.com/hone-dev/hone/pkg/model"
)

// inputsOf returns all that a test is about.
func inputsOf(v store.View, test model.Manifest, basis state.Basis) verdict.Inputs {
	in := verdict.Inputs{Test: test}
	for _, name := range slices.Sorted(maps.Keys(basis)) {
		e := state.Resources.In(v).Ref(string(name))
		if e == nil {
			return verdict.Inputs{Test: test, Unknown: true}
		}
		u, pods := state.Updates.In(v).Value(e.ID), state.Present(state.PodsOf(v, name))
		in.Needs = append(in.Needs, verdict.Need{Declared: state.BuildPart(e.Value.Manifest), Watched: watchedBy(e.Value.Manifest),
			Images: imagesOf(u, pods), Files: copiesOf(u)})
		drift := state.Drifts.In(v).Value(e.ID)
		in.Unknown = in.Unknown || len(drift.Objects) > 0 || u.AnyOwed()
	}
	return in
}

// watchedBy returns the files that a resource depends on, unless images say all about them.
func watchedBy(m model.Manifest) model.WatchSpec {
	if m.IsLocal() {
		return m.Local.Watch
	}
	if d := m.CustomDeploy(); d != nil {
		return d.Watch
	}
	return model.WatchSpec{}
}

// imagesOf returns the images of a resource: those that hone built, and those that its containers run.
func imagesOf(u state.Update, pods []state.Pod) (images []string) {
	for ref, built := range u.Running {
		images = append(images, ref+" "+built.Cluster)
	}
	for _, p := range pods {
		for _, c := range p.LastingContainers() {
			images = append(images, c.Name+" "+c.Image+" "+c.ImageID)
		}
	}
	slices.Sort(images)
	return slices.Compact(images)
}

// copiesOf returns the files that containers may have in place of the images'.
func copiesOf(u state.Update) []string {
	changes := map[model.TargetID][]string{}
	for _, all := range []map[model.TargetID]state.Changes{u.Changes, u.Earlier} {
		for id, c := range all {
			changes[id] = append(changes[id], state.PathsOf(c)...)
		}
	}
	return state.AllChanges(changes)
}

// isVoid reports whether a build is the run of a test whose verdict would be about older revisions than the newest ones.
func isVoid(v store.View, name model.ManifestName, build *build) bool {
	return build.basis != nil && !buildcontrol.Holds(v, name, build.basis)
}
