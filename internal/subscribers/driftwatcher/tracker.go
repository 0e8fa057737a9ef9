package driftwatcher

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// atOnce bounds the resources that are compared at a time.
	atOnce = 2
	// settle is the delay of a comparison after a change, because changes come in groups.
	settle = 300 * time.Millisecond
	// firstLook is the delay of the first comparison of an object, so that it does not compete with the first deploys.
	firstLook = 2 * time.Second
	// lookAgain is the time between two comparisons of objects that the watch does not report.
	lookAgain = 10 * time.Second
	// mostKept is the most times within keptWithin that hone undoes changes of others to a kept object, or the deletion of any
	// object. More of them mean that another program enforces its own state, and the two would undo each other's writes forever.
	mostKept   = 3
	keptWithin = time.Minute
	// retry is the delay of a comparison after one that has failed.
	retry = 10 * time.Second
)

// How drift is noticed. clusterwatch.Run calls Wanted with each snapshot, Take with each event of a watch, and Changes after
// either; they run on one goroutine, which owns the tracker. Comparisons and acceptances ask the cluster on goroutines of their own
// (checks). Each hands in an outcome under mu, and wakes clusterwatch.Run; the next Changes takes it in (collect).
//
// The fields of a resource are the states of this loop:
//
//	at rest ──an event, new objects, the end of an update, lookAt──> dirty
//	dirty ──pending finds objects: after settle or firstLook (due)──> busy: a comparison runs
//	dirty ──pending finds none──> at rest
//	busy ──outcome, or after retry if it failed──> dirty
//
// Nothing is compared while the resource is being updated. pending decides by sights: seen holds the watch's newest report of each
// object, compared the sight at its last comparison; an object whose two sights differ has to be compared, and at lookAt also one
// that the watch does not report (unwatched). A comparison that was overtaken by an update or an acceptance is dropped.
//
// An acceptance goes around: the user's request is Accept in the table of drifts; accept records it (accepts is set), the outcome sets
// accepted and counts acceptances, news reports DriftAcceptanceEnded, and once the table no longer has Accept, Wanted resets both
// fields.
//
// With a thousand resources, one of them changes all the time. So nothing here goes through all resources: Wanted compares the entries of
// updates with those before, by their pointers, and Changes visits the resources that are not at rest (active).

// object names an object: its cluster, as in model.K8sTarget, and its ID there.
type object struct {
	cluster string
	model.ObjectID
}

// applied is an object that a resource applied.
type applied struct {
	resource model.ManifestName
	uid      string
	scope    scope
	// foreign is set if hone did not make it. Others write it, so that only its loss is noticed.
	foreign bool
}

// sight is the watch's report of an object: when it differs from the sight of the last comparison, the object may differ, too.
type sight struct {
	gone                 bool
	uid, owned, revision string
	leaving              bool
}

// outcome is the result of a comparison: of some objects of a resource, as they were seen before it began.
type outcome struct {
	resource model.ManifestName
	sights   map[object]sight
	steps    []api.PlanStep
	err      error
	// accepted is set for the end of an acceptance, after which the sights are compared again.
	accepted bool
	// acceptances is the number of acceptances of the resource when the comparison began.
	acceptances int
}

// resource is the watcher's knowledge of a resource with applied objects.
type resource struct {
	entry *store.Entry[state.Update]
	ids   []object
	// dirty is set if an object may have to be compared, due when the comparison is to begin, and busy while it runs.
	dirty, busy bool
	due         time.Time
	// lookAt is the time when objects that were deleted are compared once more; zero if there are none.
	lookAt time.Time
	// accepts is the entry whose acceptance is being recorded, and accepted is set once it is, until the table shows that.
	accepts  *store.Entry[state.Drift]
	accepted bool
	// acceptances counts them: a comparison that began before one has no meaning after it.
	acceptances int
}

// tracker is the subscriber's knowledge about applied objects. It is for one goroutine, except outcomes.
type tracker struct {
	ctx       context.Context
	comparer  Comparer
	logs      *logstore.Store
	resources map[model.ManifestName]*resource
	// active are the resources that are not at rest, and accepting those whose acceptance is being recorded.
	active    map[model.ManifestName]bool
	accepting map[model.ManifestName]bool
	// objects are the applied objects, each with the resources that have applied it, the newest last. wanted are the watches for them, and
	// users the number of objects of each.
	objects map[object][]applied
	wanted  map[scope][]model.ManifestName
	users   map[scope]int
	seen    map[object]k8s.MetadataEvent
	synced  map[scope]bool
	// compared are the sights of the last comparison of each object, and drift its results.
	compared map[object]sight
	drift    map[object]state.ObjectDrift
	told     map[model.ManifestName]state.Drift
	// kept are the times when changes of others to kept objects were last noticed, to be undone.
	kept map[object][]time.Time
	// recorded are the resources whose acceptance has ended since news was called.
	recorded []model.ManifestName
	// view is the newest snapshot, and updates are its updates.
	view    store.View
	updates store.List[state.Update]

	checks  sync.WaitGroup
	running int
	wake    chan struct{} // receives a value after outcomes were added

	mu       sync.Mutex
	outcomes []outcome // guarded by mu
}

func newTracker(ctx context.Context, c Comparer, logs *logstore.Store) *tracker {
	return &tracker{ctx: ctx, comparer: c, logs: logs, resources: map[model.ManifestName]*resource{}, active: map[model.ManifestName]bool{},
		accepting: map[model.ManifestName]bool{}, objects: map[object][]applied{}, wanted: map[scope][]model.ManifestName{}, users: map[scope]int{},
		seen: map[object]k8s.MetadataEvent{}, synced: map[scope]bool{}, compared: map[object]sight{}, drift: map[object]state.ObjectDrift{},
		told: map[model.ManifestName]state.Drift{}, kept: map[object][]time.Time{}, wake: make(chan struct{}, 1)}
}

// Wanted implements clusterwatch.Follower. A watch that fails is not reported: other subscribers follow more important parts of the
// same objects.
func (b *tracker) Wanted(v store.View) map[scope][]model.ManifestName {
	drifted := b.view.Snapshot == nil || v.Version(state.Drifts.Name()) != b.view.Version(state.Drifts.Name())
	list := state.Updates.In(v).List()
	var others []moved
	for was, is := range list.Changes(b.updates) {
		if m, applied := b.follow(was, is); applied {
			others = append(others, m)
		}
	}
	b.view, b.updates = v, list
	b.index(others)
	if drifted || len(others) > 0 {
		for e := range state.Drifts.In(v).Refs() {
			if r := b.resources[model.ManifestName(e.ID)]; r != nil && len(e.Value.Accept) > 0 && r.accepts == nil {
				b.accept(model.ManifestName(e.ID), r, e)
			}
		}
	}
	for name := range b.accepting {
		switch r := b.resources[name]; {
		case r == nil || r.accepts == nil:
			delete(b.accepting, name)
		case r.accepted && len(state.Drifts.In(v).Value(string(name)).Accept) == 0: // done, and the table shows it
			r.accepts, r.accepted = nil, false
			delete(b.accepting, name)
		}
	}
	return b.wanted
}

// moved is a resource that has applied other objects than before.
type moved struct {
	resource model.ManifestName
	before   []object
	now      map[object]applied
}

// follow takes in the change of an entry, and reports whether its resource has applied other objects.
func (b *tracker) follow(was, is *store.Entry[state.Update]) (m moved, others bool) {
	if is == nil || len(is.Value.Applied) == 0 {
		return b.leaves(was)
	}
	m.resource = model.ManifestName(is.ID)
	r := b.resources[m.resource]
	switch {
	case r == nil:
		r, others = &resource{}, true
		b.resources[m.resource] = r
		b.stir(m.resource)
	case !sameObjects(r.entry.Value.Applied, is.Value.Applied):
		others = true
		b.stir(m.resource)
	case r.entry.Value.Current != nil && is.Value.Current == nil:
		b.stir(m.resource) // only now are its writes known
	}
	r.entry = is
	if !others {
		return m, false
	}
	m.before, m.now = r.ids, map[object]applied{}
	r.ids = nil
	for _, o := range is.Value.Applied {
		if o.APIVersion == "" { // a container of Compose
			continue
		}
		id := object{o.Cluster, o.ObjectID}
		r.ids = append(r.ids, id)
		m.now[id] = applied{m.resource, o.UID, scope{o.Cluster, o.APIVersion, o.Kind, o.Namespace, o.Foreign}, o.Foreign}
	}
	return m, true
}

// leaves is follow for a resource that has no applied objects any more. was is nil for one that never had.
func (b *tracker) leaves(was *store.Entry[state.Update]) (m moved, others bool) {
	if was == nil {
		return m, false
	}
	m.resource = model.ManifestName(was.ID)
	r := b.resources[m.resource]
	if r == nil {
		return m, false
	}
	m.before = r.ids
	delete(b.resources, m.resource)
	return m, true
}

// stir makes Changes look at a resource.
func (b *tracker) stir(name model.ManifestName) {
	if r := b.resources[name]; r != nil {
		r.dirty = true
		b.active[name] = true
	}
}

// accept begins to record the changes of a resource that the user has accepted.
func (b *tracker) accept(name model.ManifestName, r *resource, e *store.Entry[state.Drift]) {
	r.accepts = e
	b.accepting[name] = true
	on := r.entry.Value.Applied[0].Cluster
	fields := map[model.ObjectID][]string{}
	for _, a := range e.Value.Accept {
		fields[a.Object] = a.Paths
	}
	b.checks.Go(func() {
		log := b.logs.Logger(name, "drift:"+string(name), logstore.SourceBuild)
		accepted, err := b.comparer.Accept(b.ctx, on, name, fields)
		for _, id := range slices.SortedFunc(maps.Keys(accepted), compareIDs) {
			logstore.Infof(log, "%s/%s: %s: left to others, until the Tiltfile's own value changes, or the object is made again",
				strings.ToLower(id.Kind), id.Name, strings.Join(accepted[id], ", "))
		}
		if err != nil && b.ctx.Err() == nil {
			logstore.Errorf(log, "%s", problem.Text(err))
		}
		b.ended(outcome{resource: name, accepted: true})
	})
}

// ended hands in an outcome.
func (b *tracker) ended(o outcome) {
	b.mu.Lock()
	b.outcomes = append(b.outcomes, o)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func sameObjects(a, b []model.AppliedObject) bool {
	return len(a) == len(b) && (&a[0] == &b[0] || slices.Equal(a, b))
}

// index takes in the objects of resources that have applied others, and drops the records of objects that no resource has applied any more.
// An object that goes from one resource to another keeps its records.
func (b *tracker) index(all []moved) {
	for _, m := range all {
		for id, a := range m.now {
			b.release(id, m.resource)
			b.objects[id] = append(b.objects[id], a)
			b.users[a.scope]++
			b.wanted[a.scope] = nil
		}
	}
	for _, m := range all {
		for _, id := range m.before {
			if _, still := m.now[id]; still {
				continue
			}
			if b.release(id, m.resource); len(b.objects[id]) > 0 {
				continue
			}
			delete(b.objects, id)
			delete(b.compared, id)
			delete(b.drift, id)
			delete(b.kept, id)
		}
	}
	unwatched := false
	for sc, n := range b.users {
		if n == 0 {
			delete(b.users, sc)
			delete(b.wanted, sc)
			delete(b.synced, sc)
			unwatched = true
		}
	}
	if unwatched {
		maps.DeleteFunc(b.seen, func(id object, _ k8s.MetadataEvent) bool { return !b.watches(id) })
	}
}

// release drops a resource from those that have applied an object.
func (b *tracker) release(id object, name model.ManifestName) {
	b.objects[id] = slices.DeleteFunc(b.objects[id], func(a applied) bool {
		if a.resource == name {
			b.users[a.scope]--
		}
		return a.resource == name
	})
}

// applied returns an object as the newest resource that has applied it did; ok is false if none has.
func (b *tracker) applied(id object) (a applied, ok bool) {
	list := b.objects[id]
	if len(list) == 0 {
		return a, false
	}
	return list[len(list)-1], true
}

// watches reports whether a running watch reports objects like this one: then its earlier reports must stay known, because it will
// not repeat them.
func (b *tracker) watches(id object) bool {
	for sc := range b.wanted {
		of := sc.kind == id.Kind && sc.cluster == id.cluster
		if of && (sc.namespace == "" || sc.namespace == id.Namespace) {
			return true
		}
	}
	return false
}

// Take implements clusterwatch.Follower.
func (b *tracker) Take(sc scope, e k8s.MetadataEvent) bool {
	id := object{sc.cluster, e.ID}
	switch {
	case e.Synced:
		b.synced[sc] = true
		for id := range b.objects {
			if a, _ := b.applied(id); a.scope == sc {
				b.stir(a.resource)
			}
		}
		return true
	case e.Deleted:
		if b.seen[id].UID == e.UID {
			delete(b.seen, id)
		}
	default:
		e.Labels = nil // not needed, and the largest part
		b.seen[id] = e
	}
	a, ours := b.applied(id)
	if ours {
		b.stir(a.resource)
	}
	return ours
}

// sight returns the watch's report of an object; ok is false while there is none.
func (b *tracker) sight(id object, a applied) (s sight, ok bool) {
	if e, ok := b.seen[id]; ok {
		return sight{uid: e.UID, owned: e.Owned, revision: e.Revision, leaving: e.Leaving}, true
	}
	return sight{gone: true, uid: a.uid}, b.synced[a.scope]
}

// pending returns the objects of a resource that have to be compared. first is set if none of them was before.
func (b *tracker) pending(r *resource, at time.Time) (out map[object]sight, first bool) {
	out, first = map[object]sight{}, true
	look := !r.lookAt.IsZero() && !at.Before(r.lookAt)
	for _, id := range r.ids {
		a, _ := b.applied(id)
		now, ok := b.sight(id, a)
		if !ok || now.leaving { // its fate is known once it is gone
			continue
		}
		was, compared := b.compared[id]
		_, drifted := b.drift[id]
		if !drifted { // others may write their own fields
			was.revision = now.revision
		}
		if !compared || was != now || look && b.unwatched(id) {
			out[id] = now
			first = first && !compared && !now.gone && now.uid == a.uid
		}
	}
	return out, first
}

// unwatched reports whether the watch does not report what happens to an object that has drifted: what others make lacks the labels
// that the watch selects, and so does an object whose label was removed.
func (b *tracker) unwatched(id object) bool {
	d, drifted := b.drift[id]
	return drifted && (b.compared[id].gone || d.What == state.DriftRemade)
}

// Changes implements clusterwatch.Follower.
func (b *tracker) Changes(context.Context, store.View) (actions []store.Action, again time.Duration) {
	now := time.Now()
	b.collect(now)
	for _, name := range slices.Sorted(maps.Keys(b.active)) {
		r := b.resources[name]
		if r == nil || !r.dirty && r.lookAt.IsZero() {
			delete(b.active, name)
			continue
		}
		if left := r.lookAt.Sub(now); !r.lookAt.IsZero() && left > 0 {
			again = sooner(again, left)
		}
		r.dirty = r.dirty || !r.lookAt.IsZero() && !now.Before(r.lookAt)
		if !r.dirty || r.busy || r.entry.Value.Current != nil {
			continue
		}
		if r.due.IsZero() {
			pending, first := b.pending(r, now)
			if len(pending) == 0 {
				r.dirty = false
				continue
			}
			r.due = now.Add(settle)
			if first {
				r.due = now.Add(firstLook)
			}
		}
		if left := r.due.Sub(now); left > 0 {
			again = sooner(again, left)
			continue
		}
		if b.running < atOnce { // otherwise the end of one calls again
			b.compare(name, r, now)
		}
	}
	return b.news(), again
}

// sooner returns the shorter of two pauses, the first of which may be zero for none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// compare begins to compare the objects of a resource that may differ.
func (b *tracker) compare(name model.ManifestName, r *resource, now time.Time) {
	sights, _ := b.pending(r, now)
	r.dirty, r.due, r.lookAt = false, time.Time{}, time.Time{}
	if len(sights) == 0 {
		return
	}
	r.busy = true
	b.running++
	on, ids := "", []model.ObjectID{} // a resource is in one cluster
	for _, id := range slices.SortedFunc(maps.Keys(sights), compareObjects) {
		if on = id.cluster; !b.isForeign(id) {
			ids = append(ids, id.ObjectID)
		}
	}
	acceptances := r.acceptances
	b.checks.Go(func() {
		o := outcome{resource: name, sights: sights, acceptances: acceptances}
		if len(ids) > 0 {
			o.steps, o.err = b.comparer.Differences(b.ctx, on, name, ids)
		}
		b.ended(o)
	})
}

// isForeign reports whether hone did not make an applied object.
func (b *tracker) isForeign(id object) bool {
	a, _ := b.applied(id)
	return a.foreign
}

// collect takes in the comparisons that have ended.
func (b *tracker) collect(now time.Time) {
	b.mu.Lock()
	ended := b.outcomes
	b.outcomes = nil
	b.mu.Unlock()
	for _, o := range ended {
		r := b.resources[o.resource]
		if o.accepted {
			b.recorded = append(b.recorded, o.resource)
			if r != nil {
				r.accepted, r.due = true, now
				b.stir(o.resource)
				r.acceptances++
				for _, id := range r.ids {
					if _, drifted := b.drift[id]; drifted {
						delete(b.compared, id)
					}
				}
			}
			continue
		}
		b.running--
		if r == nil {
			continue
		}
		r.busy = false
		b.stir(o.resource) // something may have happened meanwhile
		r.lookAt = b.lookAt(r, now)
		if o.err != nil {
			r.due = now.Add(retry)
			continue
		}
		if r.entry.Value.Current != nil || o.acceptances != r.acceptances { // the compared objects are being changed
			continue
		}
		steps := map[model.ObjectID]api.PlanStep{}
		for _, s := range o.steps {
			steps[model.ObjectID{Group: s.Object.Group, Kind: s.Object.Kind, Namespace: s.Object.Namespace, Name: s.Object.Name}] = s
		}
		for id, s := range o.sights {
			a, ours := b.applied(id)
			if !ours || a.resource != o.resource {
				continue
			}
			b.compared[id] = s
			was, drifted := b.drift[id]
			delete(b.drift, id)
			d, differs := driftOf(steps[id.ObjectID], id.ObjectID, a, s)
			if !differs || d.What == state.DriftDeleted && b.vanishes(id.ObjectID, a) {
				continue
			}
			asked := d.Keep
			d.Keep = asked && b.keeps(id, o.resource, d, was, drifted, now)
			if asked && !d.Keep && d.What == state.DriftDeleted {
				d.Reason = "again and again"
			}
			b.drift[id] = d
		}
		r.lookAt = b.lookAt(r, now)
	}
}

// keeps reports whether a change of others to an object, or its deletion, is to be undone. was is the drift before, if it had drifted.
func (b *tracker) keeps(id object, name model.ManifestName, d, was state.ObjectDrift, drifted bool, now time.Time) bool {
	same := drifted && d.What == was.What && d.UID == was.UID
	if same && reflect.DeepEqual(d.Fields, was.Fields) { // it was noticed before
		return was.Keep
	}
	before := slices.DeleteFunc(b.kept[id], func(at time.Time) bool { return now.Sub(at) >= keptWithin })
	b.kept[id] = append(before, now)
	if len(before) < mostKept {
		return true
	}
	by := cmp.Or(strings.Join(state.Drift{Objects: []state.ObjectDrift{d}}.Managers(), ", "), "something else")
	text := fmt.Sprintf("is to be kept, but %s changes it again and again: the change stays; restore (key U) takes it back", by)
	if d.What == state.DriftDeleted {
		text = "is deleted again and again: it stays deleted; restore (key U) makes it again"
	}
	logstore.Warnf(b.logs.Logger(name, "drift:"+string(name), logstore.SourceBuild), "%s/%s %s", strings.ToLower(d.Object.Kind), d.Object.Name, text)
	return false
}

// lookAt returns the time at which objects of a resource have to be compared that no watch reports; zero if there are none.
func (b *tracker) lookAt(r *resource, now time.Time) time.Time {
	for _, id := range r.ids {
		if b.unwatched(id) {
			return now.Add(lookAgain)
		}
	}
	return time.Time{}
}

// driftOf returns the drift of an applied object, as it was seen, by the step that would apply it again.
func driftOf(step api.PlanStep, id model.ObjectID, a applied, seen sight) (d state.ObjectDrift, differs bool) {
	d = state.ObjectDrift{Object: id, UID: a.uid, Reason: step.Reason, Replaces: step.Action == api.ActionReplace, Keep: step.Keep}
	switch {
	case a.foreign && seen.gone:
		d.What, d.Reason = state.DriftDeleted, "hone did not make it"
	case step.Action == "" || step.Action == api.ActionUnchanged || step.Action == api.ActionKeep:
		return d, false
	case step.UID == "" && step.Action == api.ActionCreate:
		d.What, d.Reason, d.Keep = state.DriftDeleted, "", true
	case step.UID == "" && seen.gone: // its kind or its namespace is gone, too
		d.What, d.Keep = state.DriftDeleted, true
	case step.UID != a.uid && step.UID != "":
		d.What, d.Keep = state.DriftRemade, false // it is another's object now
	case step.Action == api.ActionBlocked && len(step.Fields) == 0: // it cannot be compared, such as for a lack of permission
		return d, false
	case step.Action == api.ActionBlocked: // without its label, it is not written
		d.What, d.Keep = state.DriftChanged, false
	default:
		d.What = state.DriftChanged
	}
	d.Fields = slices.Clone(step.Fields)
	for i := range d.Fields {
		d.Fields[i].From, d.Fields[i].To = bounded(d.Fields[i].From), bounded(d.Fields[i].To)
	}
	return d, true
}

// longest is the longest text of a field that the session keeps, in bytes.
const longest = 16 << 10

// bounded cuts a long text; hone drift has all of it.
func bounded(v any) any {
	if s, ok := v.(string); ok {
		return words.Clip(s, longest)
	}
	return v
}

// news returns the actions for the changes since the last call.
func (b *tracker) news() (out []store.Action) {
	for _, name := range b.recorded {
		out = append(out, state.DriftAcceptanceEnded{Resource: name})
	}
	b.recorded = nil
	now := map[model.ManifestName]state.Drift{}
	for _, id := range slices.SortedFunc(maps.Keys(b.drift), compareObjects) {
		a, _ := b.applied(id)
		name := a.resource
		now[name] = state.Drift{Objects: append(now[name].Objects, b.drift[id])}
	}
	for _, name := range slices.Sorted(maps.Keys(b.told)) {
		if _, still := now[name]; !still {
			delete(b.told, name)
			out = append(out, state.ResourceDrifted{Resource: name})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was, told := b.told[name]; !told || !was.Equal(now[name]) {
			b.told[name] = now[name]
			out = append(out, state.ResourceDrifted{Resource: name, Objects: now[name].Objects})
		}
	}
	return out
}

func compareObjects(a, b object) int {
	return cmp.Or(cmp.Compare(a.cluster, b.cluster), compareIDs(a.ObjectID, b.ObjectID))
}

func compareIDs(a, b model.ObjectID) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Group, b.Group))
}
