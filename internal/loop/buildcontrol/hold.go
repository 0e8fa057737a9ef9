package buildcontrol

import (
	"slices"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// holdTest returns one reason why a resource has to wait.
type holdTest func(*decision, *resource) (hold Hold, held bool)

// tests are in the order in which their answers help the user most.
var tests = []holdTest{
	(*decision).holdLeaving, (*decision).holdRunning, (*decision).holdTiltfile, (*decision).holdManual, (*decision).holdPaused,
	(*decision).holdDeployLock, (*decision).holdConfirm, (*decision).holdPartly, (*decision).holdCircle, (*decision).holdLocal, (*decision).holdUncategorized, (*decision).holdComponent, (*decision).holdNewest, (*decision).holdDeps,
	(*decision).holdCluster, (*decision).holdEngine, (*decision).holdDeploy,
	(*decision).holdSending,
}

// hold returns why a resource that wants an update must wait.
func (d *decision) hold(r *resource) (Hold, bool) { return d.holdOf(tests, r) }

// holdOf returns the answer of the first of some tests that holds a resource.
func (d *decision) holdOf(tests []holdTest, r *resource) (Hold, bool) {
	for _, test := range tests {
		if h, held := test(d, r); held {
			return h, true
		}
	}
	return Hold{}, false
}

func (d *decision) holdLeaving(r *resource) (Hold, bool) {
	return Hold{Reason: HoldTeardown}, r.leaving
}

func (d *decision) holdRunning(r *resource) (Hold, bool) {
	return Hold{Reason: HoldBuilding}, r.running
}

// holdPartly waits for the end of a part of an update. Until then, the hold of the rest is the one that the user should know.
func (d *decision) holdPartly(r *resource) (Hold, bool) {
	return Hold{Reason: HoldBuilding}, r.partly
}

func (d *decision) holdTiltfile(*resource) (Hold, bool) {
	evaluating := d.tiltfile.Due(d.session) || d.tiltfile.Running()
	if d.tiltfile.Good && !evaluating && !d.tiltfile.Unsaid(d.view) {
		return Hold{}, false
	}
	return Hold{Reason: HoldTiltfile, On: []model.ManifestName{model.TiltfileName}}, true
}

// holdManual holds changes of manual resources until the user triggers them. Containers that lack changes that were
// triggered once are still brought up to date, and a new declaration counts as a change.
func (d *decision) holdManual(r *resource) (Hold, bool) {
	asked := r.reason & (state.ReasonTrigger | state.ReasonRestore | state.ReasonInitial | state.ReasonContainer | state.ReasonBehind | state.ReasonBroken |
		state.ReasonRetry)
	if r.reason&^(state.ReasonLost|state.ReasonKeep) == 0 {
		asked = r.reason // it only restores an earlier state
	}
	return Hold{Reason: HoldManual}, r.manifest.TriggerMode == model.TriggerManual && asked == 0
}

// holdPaused holds everything that the user has not requested since the session is paused, except updates that only bring files
// back. A pod without a controller that the user restarts has to be applied again.
func (d *decision) holdPaused(r *resource) (Hold, bool) {
	asked := r.reason&(state.ReasonTrigger|state.ReasonRestore) != 0 || bringsBack(r.reason)
	if r.reason == state.ReasonLost {
		asked = replacesPods(d.view, r.name, *r.update)
	}
	return Hold{Reason: HoldPaused}, d.session.Paused() && !asked
}

// holdConfirm holds all changes that the user has not agreed to, in a session that asks. A request agrees to itself alone: the
// user has not looked at the other changes of the resource. Containers are brought up to date in place anyway.
func (d *decision) holdConfirm(r *resource) (Hold, bool) {
	if !d.session.Confirmation.Asked || r.update.Agreed() {
		return Hold{}, false
	}
	requested := r.reason&^(state.ReasonTrigger|state.ReasonRebuild|state.ReasonRestore) == 0
	part := bringsBack(r.reason) || !r.until.IsZero()
	inPlace := r.inPlace && r.effort() < model.EffortImage
	return Hold{Reason: HoldConfirm}, !requested && !part && !inPlace
}

// holdCircle holds the next round of an endless loop for a while.
func (d *decision) holdCircle(r *resource) (Hold, bool) {
	return Hold{Reason: HoldCircle}, r.reason == state.ReasonFiles && !r.inPlace && state.Circling(d.view, r.name)
}

// holdDeployLock holds everything while another process deploys the project.
func (d *decision) holdDeployLock(*resource) (Hold, bool) {
	return Hold{Reason: HoldDeployLock}, len(d.session.DeployLocks) > 0
}

func (d *decision) holdLocal(r *resource) (Hold, bool) {
	if !r.manifest.IsLocal() || r.manifest.Local.Update.Empty() {
		return Hold{}, false
	}
	var exclusive, others []model.ManifestName
	for _, o := range d.active {
		if !o.manifest.IsLocal() || o.manifest.Local.Update.Empty() {
			continue
		}
		others = append(others, o.name)
		if !o.manifest.Local.AllowParallel {
			exclusive = append(exclusive, o.name)
		}
	}
	if len(exclusive) > 0 {
		return Hold{Reason: HoldLocal, On: exclusive}, true
	}
	return Hold{Reason: HoldUnparallel, On: others}, !r.manifest.Local.AllowParallel && len(others) > 0
}

func (d *decision) holdUncategorized(r *resource) (Hold, bool) {
	if !r.manifest.IsK8s() {
		return Hold{}, false
	}
	uncategorized := model.UncategorizedName
	if on := r.manifest.Cluster(); on != "" {
		uncategorized = model.UncategorizedIn(state.ClusterTitle(d.view, on))
	}
	u, ok := d.named(uncategorized)
	if !ok || u.leaving {
		return Hold{}, false
	}
	applied := !u.running && !u.update.AttemptedAt.IsZero()
	if applied || r.name == u.name {
		return Hold{}, false
	}
	return Hold{Reason: HoldUncategorized, On: []model.ManifestName{u.name}}, true
}

// holdComponent waits for another resource that is building an image that this one also needs: afterwards the result is in
// the engine's cache.
func (d *decision) holdComponent(r *resource) (Hold, bool) {
	var on []model.ManifestName
	for _, o := range d.active {
		for _, im := range r.manifest.Images {
			if _, shared := o.manifest.Image(im.Ref); shared {
				on = append(on, o.name)
				break
			}
		}
	}
	return Hold{Reason: HoldComponent, On: on}, len(on) > 0
}

// holdDeps waits, before the first build only, until each dependency has been ready once. It does not wait for disabled
// dependencies, which would never be ready.
func (d *decision) holdDeps(r *resource) (Hold, bool) {
	if !r.update.AttemptedAt.IsZero() {
		return Hold{}, false
	}
	var on []model.ManifestName
	for _, dep := range r.manifest.ResourceDeps {
		if o, ok := d.named(dep); ok && !d.readyOnce(o) {
			on = append(on, dep)
		}
	}
	return Hold{Reason: HoldDep, On: on, Built: r.builtAhead()}, len(on) > 0
}

func (d *decision) readyOnce(r *resource) bool {
	return r.update.WasReady || !r.running && readyNow(d.view, *r.manifest, *r.update, r.pods)
}

// readyNow reports whether a resource's updates have succeeded so far, and its runtime is ready.
func readyNow(v store.View, m model.Manifest, u state.Update, pods []state.Pod) bool {
	return u.Succeeded && u.Current == nil && Runtime(v, m, u, pods).Status.Settled()
}

// NewlyReady returns the resources that are ready for the first time, or for the first time since their newest deploy, in the
// order of the Tiltfile. Having been ready once is enough for dependents, even if a resource fails before they can begin.
func NewlyReady(v store.View) []model.ManifestName {
	var ready []*resource
	all, needs := needs.In(v)
	for i, e := range all {
		if !needs[i].ready {
			continue
		}
		r := &resource{name: model.ManifestName(e.ID), order: e.Value.Order}
		if readyNow(v, e.Value.Manifest, *e.Update, state.PodsOf(v, r.name)) {
			ready = append(ready, r)
		}
	}
	slices.SortFunc(ready, inOrder)
	var names []model.ManifestName
	for _, r := range ready {
		names = append(names, r.name)
	}
	return names
}

func (d *decision) holdCluster(r *resource) (Hold, bool) {
	h := Hold{Reason: HoldCluster}
	if on := r.manifest.Cluster(); on != "" {
		h.Detail = "cluster " + state.ClusterTitle(d.view, on)
	}
	return h, r.manifest.IsK8s() && !state.ClusterOf(d.view, *r.manifest).Connected
}

// holdEngine waits for the container engine if it builds an image or runs the service.
func (d *decision) holdEngine(r *resource) (Hold, bool) {
	return Hold{Reason: HoldEngine, Detail: "the " + state.TheEngine(d.view).Title()}, r.manifest.NeedsEngine() && !r.inPlace && !state.TheEngine(d.view).Connected
}

// holdDeploy waits for containers that are still starting if the pending changes can be copied into them.
func (d *decision) holdDeploy(r *resource) (Hold, bool) {
	if !r.inPlace || r.reason.Has(state.ReasonTrigger) {
		return Hold{}, false
	}
	current := state.Standing(r.pods)
	if len(current) == 0 {
		return Hold{Reason: HoldDeploy}, true
	}
	for _, p := range current {
		if _, failing := state.PodFailure(p.Pod); failing {
			waits, _ := comeback(r, p)
			return Hold{Reason: HoldDeploy, Detail: waits}, waits != ""
		}
		for _, c := range p.LastingContainers() {
			if c.State != model.ContainerRunning && c.State != model.ContainerTerminated {
				return Hold{Reason: HoldDeploy}, true
			}
		}
	}
	return Hold{}, false
}

// holdSending waits if every container that could be updated still gets an earlier change.
func (d *decision) holdSending(r *resource) (Hold, bool) {
	return Hold{Reason: HoldBehind}, r.inPlace && r.lanes().busy()
}
