// Package buildcontrol decides which resources are updated next, and why all others wait. The decision is a pure function
// of a view of the store: BuildController acts on it, and the HUD and the tests read the same decision.
package buildcontrol

import (
	"cmp"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Tables returns the tables that the decision reads.
func Tables() []store.Input { return Decided.Inputs() }

// Candidate is a resource that should be updated now.
type Candidate struct {
	Name   model.ManifestName
	Reason state.BuildReason
	// Files are the changed files that request it, absolute, sorted.
	Files []string
	// InPlace is set when only containers lack changes, so that updating them is enough. InPlaceOnly is set if nothing else may be done.
	InPlace, InPlaceOnly bool
	// Absent is why a crashed container cannot take the update in place; empty if none has crashed, or if another one can take it.
	Absent string
	// Until is zero unless it is a part of an update, see part.go. Ahead are its files that arrive in a version which still waits.
	Until time.Time
	Ahead []string
	// Slot is set if it takes a slot, as long as it builds.
	Slot bool
	// While is not zero if it builds images and deploys nothing: the resource goes on waiting for this reason.
	While Hold
}

// BuildOnly reports whether it only builds images.
func (c Candidate) BuildOnly() bool { return c.While.Reason != "" }

// Plan is the decision.
type Plan struct {
	// Start are the resources to start now, in this order, no more that need a slot than slots are free.
	Start []Candidate
	// Holds are the reasons why other resources that want an update do not get it now.
	Holds map[model.ManifestName]Hold
	// Outdated are the tests whose newest verdict is not about the newest saved files of all that they depend on.
	Outdated map[model.ManifestName]bool
}

// Starts reports whether a resource is started now.
func (p Plan) Starts(name model.ManifestName) bool {
	return slices.ContainsFunc(p.Start, func(c Candidate) bool { return c.Name == name })
}

// resource holds the facts about one resource while deciding.
type resource struct {
	name model.ManifestName
	// manifest and update belong to the snapshot.
	manifest *model.Manifest
	order    int
	leaving  bool
	update   *state.Update
	revision state.Revision
	pods     []state.Pod
	// waits is set if new updates wait for the user.
	waits bool
	// running is set while an update runs, slot if that began with a slot, and partly while a part of one runs.
	running, slot, partly bool
	// outdated is set for a test whose newest verdict is about other revisions than the newest ones.
	outdated bool
	want
}

// want is the update that a resource wants: its reason, and the changed files that request it. The reason is 0 if it wants none.
type want struct {
	reason  state.BuildReason
	files   []string
	inPlace bool
	// until and ahead are zero unless it is a part of an update, see part.go.
	until time.Time
	ahead []string
}

// Decide returns the updates to start now. running names the resources whose builds are under way, including builds that the view
// does not show yet. The plan is shared by all callers, and must not be changed.
func Decide(v store.View, running map[model.ManifestName]Underway) Plan {
	for name := range running {
		if e := state.Updates.In(v).Ref(string(name)); e == nil || e.Value.Current == nil {
			return decide(v, running)
		}
	}
	return Decided.In(v)
}

// Decided is the decision of Decide without running builds that the view does not show yet.
var Decided = store.Derive(state.Schema, "what to update", func(v store.View) Plan { return decide(v, nil) },
	state.Sessions, state.Tiltfiles, state.Resources, state.Updates, state.Clusters, state.Engines,
	state.Pods, state.Objects, state.Processes, state.Restarts, state.Synclets, state.ClusterWatches, state.Drifts)

func decide(v store.View, running map[model.ManifestName]Underway) Plan {
	d := gather(v, running)
	plan := Plan{Holds: map[model.ManifestName]Hold{}, Outdated: d.outdated}
	slots := d.slots()
	var busy []model.ManifestName // once no slot is free
	for _, r := range d.ranked() {
		hold, held := d.hold(r)
		needsSlot := d.needsSlot(r)
		if !held && slots <= 0 && needsSlot {
			if busy == nil {
				busy = d.inSlots()
			}
			hold, held = Hold{Reason: HoldSlot, On: busy}, true
		}
		if held {
			plan.Holds[r.name] = hold
			if r = d.part(r, hold); r == nil {
				continue
			}
		}
		if needsSlot && !r.inPlace { // a part is in place
			slots--
			r.slot = true
		}
		plan.Start = append(plan.Start, d.candidate(r))
		d.start(r)
	}
	plan.Start = append(plan.Start, d.buildAhead(plan, slots)...)
	return plan
}

// candidate returns a resource to be updated now.
func (d *decision) candidate(r *resource) Candidate {
	unconfirmed := d.session.Confirmation.Asked && r.inPlace && !r.update.Agreed()
	return Candidate{Name: r.name, Reason: r.reason, Files: r.files, InPlace: r.inPlace, InPlaceOnly: unconfirmed || !r.until.IsZero(),
		Absent: absent(r), Until: r.until, Ahead: r.ahead, Slot: r.slot}
}

// decision is one pass over the snapshot.
type decision struct {
	view     store.View
	session  state.Session
	tiltfile state.Tiltfile
	pods     state.Groups[state.Pod]
	// resources are the resources that want an update or have one running, in the order of the Tiltfile: usually few of all.
	resources []*resource
	// active are the resources whose builds run, those that this pass starts included.
	active []*resource
	// byName are the resources that the pass has come across.
	byName map[model.ManifestName]*resource
	// judgments are the answers about the tests of this pass, and outdated says which of their newest verdicts are old.
	judgments map[model.ManifestName]judged
	outdated  map[model.ManifestName]bool
}

func newDecision(v store.View) *decision {
	return &decision{view: v, session: state.TheSession(v), tiltfile: state.TheTiltfile(v),
		pods: state.PodsByResource.In(v), byName: map[model.ManifestName]*resource{},
		judgments: map[model.ManifestName]judged{}, outdated: map[model.ManifestName]bool{}}
}

func gather(v store.View, running map[model.ManifestName]Underway) *decision {
	d := newDecision(v)
	all, needs := needs.In(v)
	var tests []*resource
	for i, e := range all {
		underway, known := running[model.ManifestName(e.ID)]
		if !needs[i].deciding && !known {
			continue
		}
		if !e.Value.Enabled {
			continue
		}
		r := d.resource(e)
		r.running, r.partly, r.slot = known && !underway.Part, underway.Part, underway.Slot
		if current := r.update.Current; current != nil {
			r.running, r.partly = r.running || !current.Part, r.partly || current.Part
			r.slot = r.slot || current.Slot
		}
		if r.manifest.IsTest() {
			d.byName[r.name] = &r
			tests = append(tests, &r)
			continue
		}
		d.consider(&r)
	}
	for _, r := range tests { // once all that they depend on is known
		if r.outdated = d.isOutdated(r); r.outdated {
			d.outdated[r.name] = true
		}
		d.consider(r)
	}
	slices.SortFunc(d.active, inOrder)
	slices.SortFunc(d.resources, inOrder)
	return d
}

// consider takes a resource into account if it wants an update, or has one running.
func (d *decision) consider(r *resource) {
	r.want = wants(r)
	if !r.updating() && r.reason == 0 {
		return
	}
	if r.updating() {
		d.active = append(d.active, r)
	}
	d.resources = append(d.resources, r)
	d.byName[r.name] = r
}

// inOrder compares resources by the order of state.OrderedUpdates.
func inOrder(a, b *resource) int {
	switch {
	case a.leaving && !b.leaving:
		return 1
	case b.leaving && !a.leaving:
		return -1
	}
	return cmp.Or(a.order-b.order, cmp.Compare(a.name, b.name))
}

// need holds the answers that depend on a resource and its update alone.
type need struct {
	// deciding is false if the resource wants no update, whatever its pods and the rest of the state are.
	deciding bool
	// ready is set when the resource may have become ready for the first time, or for the first time since a deploy.
	ready bool
}

var needs = state.EachUpdating("which resources need deciding", func(e state.Updating) need {
	if !e.Value.Enabled {
		return need{}
	}
	u := e.Update
	changed := len(u.Changes)+len(u.Noticed) > 0 || u.AnyOwed()
	always := e.Value.Manifest.IsTest() || syncsFirst(e.Value.Manifest) // they depend on more than their own changes
	awaited := e.Phase == store.Running && (!u.WasReady || u.AwaitsReady())
	return need{
		deciding: changed || always || u.Current != nil || Due(&e.Value.Manifest, u),
		ready:    awaited && u.Succeeded && u.Current == nil,
	}
})

// Due reports whether a resource wants an update, whatever its pods and the rest of the state are, and the resources that a test depends on.
func Due(m *model.Manifest, u *state.Update) bool {
	return wants(&resource{name: m.Name, manifest: m, update: u}).reason != 0
}

// resource gathers the facts about a resource.
func (d *decision) resource(e state.Updating) resource {
	name := model.ManifestName(e.ID)
	m := &e.Value.Manifest
	return resource{name: name, manifest: m, order: e.Value.Order, leaving: e.Phase == store.TearingDown, revision: state.RevisionOf(e),
		waits: m.TriggerMode == model.TriggerManual || d.session.Paused() || d.session.Confirmation.Asked, update: e.Update, pods: d.pods[name].Values()}
}

// named returns the resource with a name; ok is false if there is none, or if it is switched off.
func (d *decision) named(name model.ManifestName) (r *resource, ok bool) {
	if r, ok = d.byName[name]; ok {
		return r, true
	}
	e := state.Resources.In(d.view).Ref(string(name))
	if e == nil || !e.Value.Enabled {
		return nil, false
	}
	idle := d.resource(state.UpdatingOf(d.view, e))
	d.byName[name] = &idle
	return &idle, true
}

// asked returns why a resource should be updated, whatever files have changed; 0 if it need not be.
func asked(r *resource) (reason state.BuildReason) {
	u := r.update
	attempted := !u.AttemptedAt.IsZero()
	if !u.Triggered.IsZero() {
		reason |= state.ReasonTrigger
	}
	if !u.Rebuild.IsZero() {
		reason |= state.ReasonRebuild
	}
	if !u.Restore.IsZero() && attempted {
		reason |= state.ReasonRestore
	}
	if !u.Keep.IsZero() && attempted {
		reason |= state.ReasonKeep
	}
	if !attempted && r.manifest.AutoInit && u.TakenDown == "" {
		reason |= state.ReasonInitial
	}
	if !u.Declared.IsZero() && attempted {
		reason |= state.ReasonConfig
		if u.Moves() {
			reason |= state.ReasonRegistry
		}
	}
	if len(u.Lost) > 0 && attempted {
		reason |= state.ReasonLost
	}
	if r.outdated && u.TakenDown == "" {
		reason |= state.ReasonTested
	}
	return reason
}

// wants returns the update that a resource wants, whether or not something holds it.
func wants(r *resource) want {
	u := r.update
	attempted := !u.AttemptedAt.IsZero()
	reason := asked(r)
	if reason == 0 {
		if files := fastPath(r); len(files) > 0 {
			return want{reason: state.ReasonFiles, files: files, inPlace: true}
		}
	}
	if !u.Broken.IsZero() && attempted {
		reason |= state.ReasonBroken
	}
	if !u.Retry.IsZero() && attempted {
		reason |= state.ReasonRetry
	}
	pending := u.Pending()
	if len(pending) > 0 && (attempted || reason != 0) {
		reason |= state.ReasonFiles
	}
	if reason == 0 {
		return bringBack(r)
	}
	because := reason
	if r.manifest.TriggerMode == model.TriggerManual {
		because &^= state.ReasonTrigger // here a trigger only lets pending changes through; otherwise it requests a rebuild
	}
	return want{reason: reason, files: state.AllChanges(pending), inPlace: attempted && because == state.ReasonFiles && updatable(r, pending)}
}

// updatable reports whether all pending changes are in images whose containers have live update steps that may be
// tried, or are for the live update of a custom deploy, which leaves other changes to its command at once.
func updatable(r *resource, pending map[model.TargetID][]string) bool {
	if r.manifest.IsLocal() || r.update.InPlaceBroken != "" || r.update.AppliedAt.IsZero() {
		return false
	}
	for id, files := range pending {
		if id.Type == model.TargetK8s {
			if r.manifest.StepsFor(id).MostEffort(slices.Values(files)) == model.EffortImage {
				return false
			}
			continue
		}
		im, ok := r.manifest.Image(id.Name)
		if id.Type != model.TargetImage || !ok || !covered(r, im) {
			return false
		}
	}
	return len(pending) > 0
}

// covered reports whether every container that holds files of an image can be updated in place: the image has steps, or no
// container runs it directly and all images that are built on it are covered.
func covered(r *resource, im model.ImageTarget) bool {
	if !im.LiveUpdate.Empty() {
		return true
	}
	if runs(r, r.update.Running[im.Ref].Cluster) {
		return false
	}
	based := 0
	for _, other := range r.manifest.Images {
		if !slices.Contains(other.DependsOn, im.Ref) {
			continue
		}
		if based++; !covered(r, other) {
			return false
		}
	}
	return based > 0
}

// runs reports whether a container of a current pod runs an image, given by the cluster's reference.
func runs(r *resource, image string) bool {
	return image != "" && slices.ContainsFunc(r.pods, func(p state.Pod) bool {
		return p.Current && slices.ContainsFunc(p.LastingContainers(), func(c model.Container) bool { return c.Image == image })
	})
}

// NextDue returns the action that becomes due next by the clock alone, and when: the retry of a failed build, the next round of
// an endless loop, or the latest start of a crashed container. It returns nil if there is none.
func NextDue(v store.View) (next store.Action, at time.Time) {
	consider := func(a store.Action, t time.Time) {
		if next == nil || t.Before(at) {
			next, at = a, t
		}
	}
	for e := range state.Updates.In(v).Refs() {
		u := &e.Value
		if !u.RetryAt.IsZero() {
			consider(state.RetryDue{Resource: model.ManifestName(e.ID), Serial: u.Serial}, u.RetryAt)
		}
		if name := model.ManifestName(e.ID); u.Current == nil && state.Circling(v, name) {
			consider(state.RoundDue{Resource: name, Serial: u.Serial}, u.CircleEnds(v.At))
		}
	}
	if s := state.NextStart(v); s.UID != "" {
		consider(state.StartOverdue{UID: s.UID, Since: s.Since}, s.By)
	}
	return next, at
}

// ranked returns the resources that want an update, most urgent first: those never built (local ones, then uncategorized,
// then deploy-only ones, then the rest, each in Tiltfile order), those that the user requested in the order of the
// requests, then those whose pending change is oldest.
func (d *decision) ranked() []*resource {
	var out []*resource
	for _, r := range d.resources {
		if r.reason != 0 {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b *resource) int {
		ra, rb := rank(a), rank(b)
		if ra != rb {
			return ra - rb
		}
		switch ra {
		case rankTriggered:
			return a.update.Triggered.Compare(b.update.Triggered)
		case rankChanged:
			return cmp.Or(since(a).Compare(since(b)), a.order-b.order)
		}
		return a.order - b.order
	})
	return out
}

const (
	rankLocal = iota
	rankUncategorized
	rankDeployOnly
	rankFirst
	rankTriggered
	rankChanged
)

func rank(r *resource) int {
	switch {
	case r.reason.Has(state.ReasonInitial) && r.manifest.IsLocal():
		return rankLocal
	case r.reason.Has(state.ReasonInitial) && r.name.Uncategorized():
		return rankUncategorized
	case r.reason.Has(state.ReasonInitial) && len(r.manifest.Images) == 0:
		return rankDeployOnly
	case r.reason.Has(state.ReasonInitial):
		return rankFirst
	case r.reason.Has(state.ReasonTrigger):
		return rankTriggered
	}
	return rankChanged
}

func since(r *resource) time.Time {
	if t := r.update.PendingSince(); !t.IsZero() {
		return t
	}
	return r.update.Declared
}

// updating reports whether an update of the resource runs, or a part of one.
func (r *resource) updating() bool { return r.running || r.partly }

// start marks a resource as running for the rest of the pass, so that later decisions take it into account.
func (d *decision) start(r *resource) {
	r.running = true
	d.active = append(d.active, r)
}
