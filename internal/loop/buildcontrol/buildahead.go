package buildcontrol

import (
	"slices"

	"github.com/hone-dev/hone/pkg/model"
)

// While a resource waits for others to be ready, its images are built, and delivered to the cluster, as soon as a slot is free that no
// other update wants. Nothing is deployed. Files that change meanwhile make another such build due, and once the wait is over, the update
// deploys the images, or builds those again that lack files by then.
//
// Some images have to wait, since a dependency may write files into their context: a local command, a server on this machine, a command
// that builds or deploys. hone does not know which ones, so it waits until they are ready. A base image that another resource
// builds is waited for, too: holdComponent says so.

// buildAhead returns the updates that build images for resources which wait for others, as many as slots are free.
func (d *decision) buildAhead(plan Plan, slots int) (start []Candidate) {
	if d.tiltfile.Result.Update.NoBuildAhead {
		return nil
	}
	for _, r := range d.ranked() {
		if slots <= 0 {
			return start
		}
		if plan.Holds[r.name].Reason != HoldDep || !r.buildsSomethingNew() {
			continue
		}
		if _, held := d.holdOf(buildAheadTests, r); held || d.mayBeWrittenFor(r.manifest, map[model.ManifestName]bool{}) {
			continue
		}
		ahead := *r
		ahead.slot = true
		c := d.candidate(&ahead)
		c.While = plan.Holds[r.name]
		start = append(start, c)
		d.start(&ahead)
		slots--
	}
	return start
}

// buildAheadTests are the tests that an update has to pass to build its images only: those that are not about its deploy.
var buildAheadTests = []holdTest{(*decision).holdLeaving, (*decision).holdRunning, (*decision).holdComponent, (*decision).holdCluster, (*decision).holdEngine}

// buildsSomethingNew reports whether an image lacks files or is missing, and no build ahead has failed with the same ones.
func (r *resource) buildsSomethingNew() bool {
	u := r.update
	return r.manifest.IsK8s() && slices.ContainsFunc(r.manifest.Images, func(im model.ImageTarget) bool {
		newest := u.Changes[im.ID()].Newest()
		return u.Dirty(im) && (u.BuiltAhead.IsZero() || newest.After(u.BuiltAhead))
	})
}

// builtAhead reports whether all images of a resource are built before it is deployed for the first time.
func (r *resource) builtAhead() bool {
	return r.manifest.IsK8s() && len(r.manifest.Images) > 0 && !slices.ContainsFunc(r.manifest.Images, r.update.Dirty)
}

// mayBeWrittenFor reports whether a dependency that is not ready yet, or one of its own, may write files of the images.
func (d *decision) mayBeWrittenFor(m *model.Manifest, seen map[model.ManifestName]bool) bool {
	return slices.ContainsFunc(m.ResourceDeps, func(name model.ManifestName) bool {
		dep, ok := d.named(name)
		if !ok || seen[name] || d.readyOnce(dep) {
			return false
		}
		seen[name] = true
		return runsCommands(dep.manifest) || d.mayBeWrittenFor(dep.manifest, seen)
	})
}

// runsCommands reports whether a resource runs commands of the user on this machine.
func runsCommands(m *model.Manifest) bool {
	deploys := m.IsK8s() && m.K8s.CustomDeploy != nil
	return m.IsLocal() || deploys || slices.ContainsFunc(m.Images, func(im model.ImageTarget) bool { return im.Custom != nil })
}
