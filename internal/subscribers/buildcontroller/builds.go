package buildcontroller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// build is an update that runs, or has ended and is not yet part of the snapshot.
type build struct {
	serial    int
	span      string // of its log
	began     time.Time
	cancel    context.CancelFunc
	pace      *pace
	committed atomic.Bool
	underway  buildcontrol.Underway
	overtaken bool
	// basis are the revisions that a test judges; nil for other builds.
	basis state.Basis
	// changed tells it that files have changed which it may take in; offered is the time up to which it has been told.
	changed chan struct{}
	offered time.Time
	// done is closed when the build is over for the store; behind holds the updates that still run at that time. gone is closed
	// when these have also ended.
	done, gone chan struct{}
	behind     []*buildanddeploy.Lane
}

// The life of a build, and the holder of its state:
//
//	Decide says start ──> running ──> BuildCompleted dispatched, done closed ──> the snapshot shows it: sweep drops the build
//	                         │                                                     └─behind: followed ──> gone closed: dropped
//	                         └─overtaken, removed, taken down: cancel
//
// The goroutine of Run owns the builds, and overtaken and offered of each. Each round takes the newest snapshot, drops and cancels builds
// (sweep, cancelOvertaken), tells builds about later files (offer), asks buildcontrol.Decide for the plan, and starts the builds in it.
//
// The goroutine of a build runs the update, sets behind, dispatches the end, and closes done. Then it waits for the lanes that are behind
// (follow), on one more goroutine each, dispatches the end of each, and closes gone. It reports to Run only through the store,
// done, gone, ended, which wakes Run, and committed: once that is set, the update has begun to change things, and newer changes no
// longer cancel it.

// builds are the builds of a session.
type builds struct {
	*Subscriber
	rt *store.Runtime
	// running are the builds that the snapshot does not show as ended, and followed those that still run in containers.
	running  map[model.ManifestName]*build
	followed followed
	// replaced counts, by resource, the builds in a row that were overtaken.
	replaced map[model.ManifestName]int
	// holding and unconfirmed are the waits that were reported last.
	holding     holding
	unconfirmed string
	// prepared are the clusters that are read for the first deploys, each with the channel that is closed when that is over; preparing are
	// the goroutines that do it. declared is the number of the evaluation of the Tiltfile that
	// was declared last.
	prepared  map[string]chan struct{}
	rooms     map[string]room // by cluster
	preparing sync.WaitGroup
	declared  int
	// fetched is the number of the evaluation of the Tiltfile whose bases were fetched, by resource; fetching are the goroutines that do it.
	fetched  map[model.ManifestName]int
	fetching sync.WaitGroup
	// ended wakes Run when the goroutine of a build has ended, which is a moment after the snapshot shows that.
	ended chan struct{}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	b := &builds{Subscriber: s, rt: rt, running: map[model.ManifestName]*build{}, followed: followed{}, replaced: map[model.ManifestName]int{},
		holding: holding{}, fetched: map[model.ManifestName]int{}, prepared: map[string]chan struct{}{}, rooms: map[string]room{}, ended: make(chan struct{}, 1)}
	defer b.stop()
	retry := time.NewTimer(time.Hour) // set in each round
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		case <-b.ended:
		case <-retry.C:
		}
		v := rt.View()
		if next, at := buildcontrol.NextDue(v); next != nil {
			if left := at.Sub(s.now()); left > 0 {
				retry.Reset(left)
			} else {
				rt.Dispatch(next) // which wakes this loop
			}
		}
		b.round(ctx, v)
		rt.Succeeded()
	}
}

// stop cancels all builds and waits for them.
func (b *builds) stop() {
	all := slices.Concat(slices.Collect(maps.Values(b.followed))...)
	all = slices.AppendSeq(all, maps.Values(b.running))
	for _, build := range all {
		build.cancel()
	}
	for _, build := range all {
		<-build.gone
	}
	b.fetching.Wait()
	b.preparing.Wait()
}

// round brings the builds in line with a snapshot.
func (b *builds) round(ctx context.Context, v store.View) {
	b.sweep(v)
	b.followed.sweep(v)
	b.examine(v)
	underway := make(map[model.ManifestName]buildcontrol.Underway, len(b.running))
	for resource, build := range b.running {
		underway[resource] = build.underway
	}
	plan := buildcontrol.Decide(v, underway)
	b.say(v, plan)
	b.fetchBases(ctx, v, plan)
	b.prepare(ctx, v, plan)
	for _, c := range plan.Start {
		b.running[c.Name] = b.start(ctx, v, c)
	}
	for _, e := range state.Leaving(v, name) {
		if name := model.ManifestName(e.ID); b.running[name] == nil && len(b.followed[name]) == 0 {
			b.rt.Release(state.Resources, e.ID)
		}
	}
}

// say reports the waits that a plan changes.
func (b *builds) say(v store.View, plan buildcontrol.Plan) {
	if changes := b.holding.changes(v, plan); len(changes) > 0 {
		b.rt.Dispatch(state.HoldsChanged{Changes: changes})
		b.nameCircles(v, changes)
		b.sayComebacks(v, plan, changes)
	}
	is := intent.UnconfirmedText(v)
	if is != b.unconfirmed && is != "" {
		logstore.Infof(b.logs.Logger(model.TiltfileName, "", logstore.SourceBuild), "%s: hone confirm shows what would be done", is)
	}
	b.unconfirmed = is
}

// fetchBases fetches the bases for updates that wait for others or for a slot, but are due otherwise.
func (b *builds) fetchBases(ctx context.Context, v store.View, plan buildcontrol.Plan) {
	if b.options.Bases == nil {
		return
	}
	runs := state.TheTiltfile(v).Runs
	for name, hold := range plan.Holds {
		waits := hold.Reason == buildcontrol.HoldSlot || hold.Reason == buildcontrol.HoldDep
		begins := slices.ContainsFunc(plan.Start, func(c buildcontrol.Candidate) bool { return c.Name == name }) // it builds ahead
		if !waits || begins || b.fetched[name] == runs {
			continue
		}
		b.fetched[name] = runs
		m, u := state.Resources.In(v).Value(string(name)).Manifest, state.Updates.In(v).Value(string(name))
		platform := ""
		if arch := state.ClusterOf(v, m).Arch; arch != "" {
			platform = "linux/" + arch
		}
		images := slices.DeleteFunc(slices.Clone(m.Images), func(im model.ImageTarget) bool { return !u.Dirty(im) })
		b.fetching.Go(func() {
			for _, im := range images {
				b.options.Bases.Fetch(ctx, im, platform)
			}
		})
	}
}

// prepare tells the clusters of an evaluation of the Tiltfile before the first resource of it is deployed, and has each cluster read once:
// the first resources of that cluster wait for it, and no others, since it may not answer. A failure costs only time.
func (b *builds) prepare(ctx context.Context, v store.View, plan buildcontrol.Plan) {
	tf := state.TheTiltfile(v)
	for _, c := range plan.Start {
		e := state.Resources.In(v).Ref(string(c.Name))
		if e == nil || !e.Value.Manifest.IsK8s() || b.options.Cluster == nil {
			continue
		}
		on := e.Value.Manifest.Cluster()
		if b.declared == tf.Runs && b.prepared[on] != nil {
			continue
		}
		var manifests []model.Manifest
		for _, e := range state.Ordered(v) {
			manifests = append(manifests, e.Value.Manifest)
		}
		if b.declared != tf.Runs {
			b.options.Cluster.Declare(manifests, tf.Result.Read)
			b.declared = tf.Runs
		}
		if b.prepared[on] == nil {
			over := make(chan struct{})
			b.prepared[on] = over
			b.preparing.Go(func() {
				defer close(over)
				_ = b.options.Cluster.Prepare(ctx, on, model.DeclaredOn(manifests, on), state.NamespaceOn(v, on, b.options.Namespace))
			})
		}
	}
}

// sweep drops the builds whose end the snapshot shows.
func (b *builds) sweep(v store.View) {
	for name, build := range b.running {
		select {
		case <-build.done:
		default:
			continue
		}
		// An entry that is younger than the build belongs to a resource that was declared again: it never shows this build.
		u := state.Updates.In(v).Ref(string(name))
		own := u != nil && !u.Created.After(build.began)
		if own && (u.Value.Serial < build.serial || u.Value.Current != nil) {
			continue
		}
		if !build.overtaken {
			delete(b.replaced, name)
		}
		delete(b.running, name)
		if len(build.behind) > 0 {
			b.followed[name] = append(b.followed[name], build)
		}
	}
}

// examine cancels the builds that are no longer wanted, and tells the others about later files. It goes through all resources once: at the
// start of 1,000 resources all builds run at a time, and to look each of them up took four times as long.
func (b *builds) examine(v store.View) {
	unseen := len(b.running)
	for _, r := range state.WithUpdates(v) {
		if build := b.running[model.ManifestName(r.ID)]; build != nil {
			unseen--
			b.cancelOvertaken(v, r, build)
			build.offer(v, r.Update)
		}
	}
	if unseen == 0 {
		return
	}
	for name, build := range b.running {
		if state.Resources.In(v).Ref(string(name)) == nil {
			build.cancel()
		}
	}
}

// cancelOvertaken cancels a build that is no longer wanted.
func (b *builds) cancelOvertaken(v store.View, r state.Updating, build *build) {
	name := model.ManifestName(r.ID)
	switch {
	case build.overtaken:
	case r.Phase == store.TearingDown:
		build.cancel()
	case r.Update.TakenDown != "", isVoid(v, name, build):
		build.overtaken = true
		build.cancel()
	case b.isOvertaken(v, r, build):
		build.overtaken = true
		b.replaced[name]++
		build.cancel()
	}
}

// isOvertaken reports whether a build is to give way to newer changes: it has not touched the cluster yet, or is a test.
func (b *builds) isOvertaken(v store.View, r state.Updating, build *build) bool {
	m := &r.Value.Manifest
	if b.replaced[m.Name] >= maxReplaced || !replaceable(v, m) {
		return false
	}
	if build.basis != nil {
		return buildcontrol.Overtaken(r.Update, build.began)
	}
	return !build.committed.Load() && buildcontrol.Stale(r.Update, build.began)
}

// replaceable reports whether a build that is cancelled for newer changes is replaced at once, rather than once the user says so.
func replaceable(v store.View, m *model.Manifest) bool {
	session := state.TheSession(v)
	return m.TriggerMode == model.TriggerAuto && !session.Paused() && !session.Confirmation.Asked
}

// offer tells a build that files have changed since it began. An update in place takes in the files that are saved while it waits for a
// distant container to answer.
func (b *build) offer(v store.View, u *state.Update) {
	var newest time.Time
	for _, targets := range []map[model.TargetID]state.Changes{u.Noticed, u.Changes} { // a change may settle before it is seen here
		for _, changes := range targets {
			if at := changes.Newest(); at.After(newest) {
				newest = at
			}
		}
	}
	if newest.After(b.offered) {
		b.offered = v.At
		wake(b.changed)
	}
}

// wake sends a token into a channel that has room for one, unless one is there.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// start begins a build on a goroutine of its own.
func (b *builds) start(ctx context.Context, v store.View, c buildcontrol.Candidate) *build {
	s, rt := b.Subscriber, b.rt
	u := state.Updates.In(v).Value(string(c.Name))
	tiltfile := state.TheTiltfile(v)
	files := state.Relative(tiltfile.Path, c.Files)
	serial := u.Serial + 1
	span := fmt.Sprintf("build:%s:%d", c.Name, serial)
	started := &build{serial: serial, span: span, began: v.At, underway: buildcontrol.Underway{Part: !c.Until.IsZero(), Slot: c.Slot}, done: make(chan struct{}), gone: make(chan struct{}),
		changed: make(chan struct{}, 1), offered: v.At,
		basis: buildcontrol.BasisOf(v, c.Name),
		pace:  &pace{send: func(p state.BuildProgressed) { rt.Dispatch(p) }}}
	ctx, started.cancel = context.WithCancel(ctx)
	log := newUpdateLog(s.logs.Logger(c.Name, span, logstore.SourceBuild), c.Reason, u.Asked, files)
	req := s.request(rt, v, c, started, log)
	// The goroutine keeps as little as it can: with 1,000 resources, most of them wait at a start.
	ci, folder, outages := state.TheSession(v).Command == state.CommandCI, tiltfile.Path, u.Outages
	var prepared <-chan struct{}
	var room room
	if cluster := req.Manifest.Cluster(); req.Manifest.IsK8s() {
		prepared = b.prepared[cluster]
		if !c.Slot && !c.InPlace {
			room = b.roomOf(cluster)
		}
	}
	rt.Dispatch(state.BuildStarted{Resource: c.Name, Serial: started.serial, Reason: c.Reason, Files: files, At: started.began, Made: u.SavedBefore(started.began), Until: c.Until, Ahead: c.Ahead, Span: span, Slot: c.Slot, BuildOnly: c.BuildOnly(), Basis: started.basis,
		Manifest: &req.Manifest})
	go func() {
		defer wake(b.ended)
		defer close(started.gone)
		defer started.cancel()
		log.start(c.InPlace)
		if c.BuildOnly() {
			logstore.Infof(log, "Only its images are built for now: %s %s", c.Name, c.While)
		}
		if len(c.Ahead) > 0 {
			logstore.Infof(log, "The newest version of %s is copied, although it waits: the one that the containers had is not on this machine any more",
				strings.Join(state.Relative(folder, c.Ahead), ", "))
		}
		await(ctx, prepared)
		leave := room.enter(ctx)
		r, err := s.build(ctx, req)
		leave()
		if isVoid(rt.View(), c.Name, started) {
			started.cancel() // which drops the verdict
		}
		started.pace.end()
		done := s.completed(ctx, req, started, r, err, log)
		log.end()
		if done.Passing && !ci { // ci ends with the first failure
			logstore.Infof(log, "Trying again in %s", state.RetryPause(outages+1))
		}
		done.Sending, started.behind = s.sending(v, r.Behind, log), r.Behind
		rt.Dispatch(done)
		close(started.done)
		wake(b.ended)
		s.follow(rt, c.Name, started, log)
	}()
	return started
}

// roomOf returns the room for deploys to a cluster.
func (b *builds) roomOf(cluster string) room {
	if b.rooms[cluster] == nil {
		b.rooms[cluster] = newRoom()
	}
	return b.rooms[cluster]
}

// await waits until a channel is closed, unless it is nil, or ctx is done.
func await(ctx context.Context, over <-chan struct{}) {
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// build runs the chain and turns a panic in it into an error, since its goroutine has no other safety net.
func (s *Subscriber) build(ctx context.Context, req buildanddeploy.Request) (r buildanddeploy.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			bug.Caught("update "+string(req.Manifest.Name), p)
			err = fmt.Errorf("hone made a mistake while updating %s: %v", req.Manifest.Name, p)
		}
	}()
	return s.builder.BuildAndDeploy(ctx, req)
}
