// Package buildcontroller runs the updates that buildcontrol decides on, several at a time.
//
// # Concurrency
//
// Run owns one goroutine per running build, and after the build one for each container in which it still runs. It cancels a
// build whose resource is gone, and a build that a newer change has overtaken before it touched the cluster. It waits for
// all of them before it returns.
package buildcontroller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// maxReplaced is the number of times in a row that newer changes may overtake a build before it is left to finish, so that a user
// who saves without a pause still gets results.
const maxReplaced = 3

// ciCollectLimit bounds the wait of a session that ends on its own for the leftovers of a deploy to vanish.
const ciCollectLimit = 5 * time.Minute

// stopGrace leaves a local command the time to end on its own, or to be killed.
const stopGrace = 15 * time.Second

const name = "BuildController"

// Options apply to every build.
type Options struct {
	Namespace string
	// Env is added to the environment of local commands.
	Env []string
	// Adopt lets deploys take over objects that others made.
	Adopt bool
	// Reuse takes images that are known to have been built from the same inputs, instead of building them.
	Reuse bool
	// Cluster, unless nil, is prepared before the first deploys.
	Cluster Preparer
	// Settled, unless nil, waits for changes of files on their way to the store; see buildanddeploy.Request.
	Settled func(context.Context)
}

// Preparer reads the cluster's objects of many resources at once, so that deploying unchanged resources costs nothing.
type Preparer interface {
	Prepare(ctx context.Context, manifests []model.Manifest, namespace string) error
}

// Subscriber is the BuildController.
type Subscriber struct {
	builder buildanddeploy.BuildAndDeployer
	logs    *logstore.Store
	options Options
	now     func() time.Time
}

// New returns the subscriber.
func New(builder buildanddeploy.BuildAndDeployer, logs *logstore.Store, o Options) *Subscriber {
	return &Subscriber{builder: builder, logs: logs, options: o, now: time.Now}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	inputs := buildcontrol.Tables()
	for i, in := range inputs {
		inputs[i].Strong = in.Table == state.Resources.Name()
	}
	return store.Contract{
		Name:   name,
		Doc:    "Runs the updates that are due, in parallel up to the limit, and cancels those that were overtaken.",
		Inputs: inputs,
		Outputs: store.Emits(state.BuildStarted{}, state.BuildProgressed{}, state.BuildCompleted{}, state.LaneEnded{},
			state.HoldsChanged{}, state.RetryDue{}, state.RoundDue{}, state.StartOverdue{}),
		Calls: []store.Call{
			{To: "WatchManager", Doc: "Before it reads files, it waits until all changes made so far are known, which is an event and not a state."},
			{To: "SyncletManager", Doc: "Updates in place use the conversations that it keeps open, and their knowledge of images and processes."},
		},
		Externals: []string{"docker", "kubernetes", "process"},
		Stage:     store.StageController,
		Grace:     stopGrace,
		Feedback:  "a completed build includes the changes that requested it",
	}
}

// build is an update that runs, or has ended and is not yet part of the snapshot.
type build struct {
	serial    int
	span      string // of its log
	began     time.Time
	cancel    context.CancelFunc
	pace      *pace
	committed atomic.Bool
	// part is set for a part of an update.
	part      bool
	overtaken bool
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
	// prepared is set once the cluster has been read for the first deploys.
	prepared bool
	// ended wakes Run when the goroutine of a build has ended, which is a moment after the snapshot shows that.
	ended chan struct{}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	b := &builds{Subscriber: s, rt: rt, running: map[model.ManifestName]*build{}, followed: followed{}, replaced: map[model.ManifestName]int{},
		holding: holding{}, ended: make(chan struct{}, 1)}
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
}

// round brings the builds in line with a snapshot.
func (b *builds) round(ctx context.Context, v store.View) {
	b.sweep(v)
	b.followed.sweep(v)
	b.cancelOvertaken(v)
	b.offer(v)
	whole := make(map[model.ManifestName]bool, len(b.running))
	for resource, build := range b.running {
		whole[resource] = !build.part
	}
	plan := buildcontrol.Decide(v, whole)
	b.say(v, plan)
	if !b.prepared {
		b.prepared = b.prepare(ctx, v, plan)
	}
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

// prepare has the cluster read once before the first resource is deployed. A failure costs only time.
func (s *Subscriber) prepare(ctx context.Context, v store.View, plan buildcontrol.Plan) bool {
	starts := slices.ContainsFunc(plan.Start, func(c buildcontrol.Candidate) bool {
		e := state.Resources.In(v).Ref(string(c.Name))
		return e != nil && e.Value.Manifest.IsK8s()
	})
	if starts && s.options.Cluster != nil {
		var manifests []model.Manifest
		for _, e := range state.Ordered(v) {
			manifests = append(manifests, e.Value.Manifest)
		}
		_ = s.options.Cluster.Prepare(ctx, manifests, s.options.Namespace)
	}
	return starts
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

// cancelOvertaken cancels the builds that are no longer wanted.
func (b *builds) cancelOvertaken(v store.View) {
	for name, build := range b.running {
		e, ok := state.Resources.In(v).Get(string(name))
		switch {
		case build.overtaken:
		case !ok || e.Phase == store.TearingDown:
			build.cancel()
		case state.Updates.In(v).Value(string(name)).TakenDown != "":
			build.overtaken = true
			build.cancel()
		case b.isOvertaken(v, e.Value.Manifest, build):
			build.overtaken = true
			b.replaced[name]++
			build.cancel()
		}
	}
}

// isOvertaken reports whether a build is to give way to newer changes: it has not touched the cluster yet.
func (b *builds) isOvertaken(v store.View, m model.Manifest, build *build) bool {
	if build.committed.Load() || b.replaced[m.Name] >= maxReplaced || !replaceable(v, m) {
		return false
	}
	return buildcontrol.Stale(state.Updates.In(v).Value(string(m.Name)), build.began)
}

// replaceable reports whether a build that is cancelled for newer changes is replaced at once, rather than once the user says so.
func replaceable(v store.View, m model.Manifest) bool {
	session := state.TheSession(v)
	return m.TriggerMode == model.TriggerAuto && !session.Paused() && !session.Confirmation.Asked
}

// offer tells the builds that files have changed since they began. An update in place takes in the files that are saved
// while it waits for a distant container to answer.
func (b *builds) offer(v store.View) {
	for name, build := range b.running {
		var newest time.Time
		e := state.Updates.In(v).Ref(string(name))
		if e == nil {
			continue
		}
		for _, targets := range []map[model.TargetID]state.Changes{e.Value.Noticed, e.Value.Changes} { // a change may settle before it is seen here
			for _, changes := range targets {
				if at := changes.Newest(); at.After(newest) {
					newest = at
				}
			}
		}
		if newest.After(build.offered) {
			build.offered = v.At
			wake(build.changed)
		}
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
	started := &build{serial: serial, span: span, began: v.At, part: !c.Until.IsZero(), done: make(chan struct{}), gone: make(chan struct{}),
		changed: make(chan struct{}, 1), offered: v.At,
		pace: &pace{send: func(p state.BuildProgressed) { rt.Dispatch(p) }}}
	ctx, started.cancel = context.WithCancel(ctx)
	log := newUpdateLog(s.logs.Logger(c.Name, span, logstore.SourceBuild), c.Reason, files)
	req := s.request(rt, v, c, started, log)
	session := state.TheSession(v)
	rt.Dispatch(state.BuildStarted{Resource: c.Name, Serial: started.serial, Reason: c.Reason, Files: files, At: started.began, Made: u.SavedBefore(started.began), Until: c.Until, Ahead: c.Ahead, Span: span,
		Manifest: &req.Manifest})
	go func() {
		defer wake(b.ended)
		defer close(started.gone)
		defer started.cancel()
		log.start(c.InPlace)
		if len(c.Ahead) > 0 {
			logstore.Infof(log, "The newest version of %s is copied, although it waits: the one that the containers had is not on this machine any more",
				strings.Join(state.Relative(tiltfile.Path, c.Ahead), ", "))
		}
		r, err := s.build(ctx, req)
		started.pace.end()
		done := s.completed(ctx, req, started, r, err, log)
		log.end()
		if done.Passing && session.Command != state.CommandCI { // ci ends with the first failure
			logstore.Infof(log, "Trying again in %s", state.RetryPause(u.Outages+1))
		}
		done.Sending, started.behind = s.sending(v, r.Behind, log), r.Behind
		rt.Dispatch(done)
		close(started.done)
		wake(b.ended)
		s.follow(rt, c.Name, started, log)
	}()
	return started
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

// Asked returns the request for the update of a resource, without the parts that only a running update has. A plan of the session
// shows this request, and the session carries it out: both begin with the same.
func Asked(v store.View, c buildcontrol.Candidate, o Options) buildanddeploy.Request {
	m := state.Resources.In(v).Value(string(c.Name)).Manifest
	u := state.Updates.In(v).Value(string(c.Name))
	lanes := buildcontrol.LanesOf(&m, &u, state.PodsOf(v, c.Name))
	session, tiltfile, adopt := state.TheSession(v), state.TheTiltfile(v), !u.Adopt.IsZero()
	// Without a change, a trigger asks for new pods, unless it lets pending changes through or has objects taken over.
	replaces := c.Reason.Has(state.ReasonTrigger) && len(c.Files) == 0 && !adopt
	req := buildanddeploy.Request{
		Manifest: m, Mode: session.UpdateMode, InPlace: c.InPlace, InPlaceOnly: c.InPlaceOnly,
		Force:   c.Reason.Has(state.ReasonRebuild) || replaces && m.TriggerMode == model.TriggerAuto,
		NoCache: c.Reason.Has(state.ReasonRebuild), Reuse: o.Reuse,
		Results: u.Images, Dirty: map[string]bool{}, Overlaid: lanes.Overlaid(),
		Cluster: state.TheCluster(v).Cluster, Registry: tiltfile.Result.DefaultRegistry,
		Namespace: o.Namespace, UpsertTimeout: tiltfile.Result.Update.UpsertTimeout, Env: o.Env, Ignores: tiltfile.Ignores,
		Adopt: o.Adopt || adopt, Restoring: c.Reason.Has(state.ReasonRestore) || c.Reason.Has(state.ReasonKeep),
		Reclaim: c.Reason.Has(state.ReasonRestore),
	}
	for _, im := range m.Images {
		req.Dirty[im.Ref] = u.Dirty(im)
	}
	lacking := lanes.LackingFor(c)
	req.Lacking, req.Applied = lanes.LackingOfCommand(), state.SeenOf(v, u.Applied)
	if c.Reason.Has(state.ReasonBroken) {
		req.FellBack = u.InPlaceBroken
	}
	beside := lanes.Beside(lacking)
	req.Others, req.Peers, req.Absent = beside.Others, beside.Peers, c.Absent
	for _, l := range lacking {
		req.Waits = req.Waits || u.Lanes[l.ID].Fault != ""
		l.Arch = state.ArchOf(v, m)
		req.Containers = append(req.Containers, l)
	}
	return req
}

// request returns the request for a build that begins now: the result of Asked, with the parts that only a running update has.
func (s *Subscriber) request(rt *store.Runtime, v store.View, c buildcontrol.Candidate, b *build, log *updateLog) buildanddeploy.Request {
	u, session := state.Updates.In(v).Value(string(c.Name)), state.TheSession(v)
	req := Asked(v, c, s.options)
	req.StartedAt, req.Settled, req.Log = b.began, s.options.Settled, log
	req.Declared = func() []model.Manifest { return state.Declarations(rt.View()) }
	req.Chosen = func(name model.ManifestName) bool { return state.Chosen(rt.View())(name) }
	req.Commit = func() { b.committed.Store(true) }
	req.Progress = func(mode, stage string, at model.BuildProgress) {
		b.pace.report(state.BuildProgressed{Resource: c.Name, Serial: b.serial, Mode: mode, Stage: stage, Progress: at})
	}
	if session.Command == state.CommandCI {
		req.CollectLimit = ciCollectLimit // the session ends with the build, and nothing waits for the build meanwhile
	}
	if session.Command == state.CommandUp {
		req.AtRest = func() bool { return state.RestIn(rt.View(), time.Now()) == 0 }
	}
	req.Save = savesOf(u)
	ids := make([]string, len(req.Containers))
	for i, l := range req.Containers {
		ids[i] = l.ID
	}
	if c.InPlace && !b.part {
		req.Changed, req.Absorb = b.changed, func(since time.Time) *buildanddeploy.AbsorbedChanges {
			return absorbable(rt.View(), c.Name, ids, since, log)
		}
	}
	return req
}

// savesOf returns when files were saved and noticed, as buildanddeploy.Request has it. For files that waited for the user, both
// times are the end of the wait.
func savesOf(u state.Update) func([]string) (made, known time.Time) {
	return func(files []string) (made, known time.Time) {
		save := u.SaveOf(files)
		if let := u.LetAt(save.Known); !save.Known.IsZero() && !let.IsZero() {
			return let, let
		}
		return save.Made, save.Known
	}
}

// absorbable returns the later changes that a running update in place of containers can take in; nil if there are none.
func absorbable(v store.View, name model.ManifestName, containers []string, since time.Time, log *updateLog) *buildanddeploy.AbsorbedChanges {
	lacking := buildcontrol.Absorbable(v, name, containers, since)
	if len(lacking) == 0 {
		return nil
	}
	files := state.Relative(state.TheTiltfile(v).Path, buildcontrol.FilesOf(lacking))
	return &buildanddeploy.AbsorbedChanges{Until: v.At, Containers: lacking, Files: files, Save: savesOf(state.Updates.In(v).Value(string(name))),
		Taken: func() { log.meanwhile(files) }}
}

// completed returns the action for the end of a build. A build that ended because the cluster or the engine does not answer
// counts as cancelled: it is repeated once that answers. The error of a build that was cancelled otherwise is dropped.
func (s *Subscriber) completed(ctx context.Context, req buildanddeploy.Request, b *build, r buildanddeploy.Result, err error, log *updateLog) state.BuildCompleted {
	done := state.BuildCompleted{Resource: req.Manifest.Name, Serial: b.serial, At: s.now(), Mode: r.Mode, FellBack: r.FellBack, Touched: r.Touched,
		Steps: r.Steps, Images: r.Images, Deployed: r.Deployed, Applied: r.Applied, Copies: r.Copies, Left: r.Left, Synced: r.Synced, Until: r.Until, Added: r.Added,
		Containers: r.Containers, Warnings: int(log.warnings.Load())}
	if len(r.Synced) == 0 {
		done.InPlaceBroken = r.FellBack // otherwise another way of updating in place succeeded
	}
	if r.FellBack != "" && r.Deployed {
		done.Synced = append(done.Synced, initialSyncs(req)...)
	}
	if r.Copies && cmp.Or(r.FellBack, req.FellBack) != "" { // their pods end, or have the files by the command
		for _, l := range req.Lacking {
			done.Stuck = append(done.Stuck, l.ID)
		}
	}
	log.updated(r.Containers)
	var away *buildanddeploy.Away
	var gone *buildanddeploy.Gone
	_, explained := problem.Of(err)
	needsEngine := !req.InPlace && req.Manifest.NeedsEngine()
	switch {
	case err == nil:
	case ctx.Err() == nil && errors.As(err, &away):
		done.Cancelled, done.ClusterErr = true, problem.Text(err)
		logstore.Infof(log, "%v. The update continues when it does", err)
	case ctx.Err() == nil && errors.As(err, &gone) && !explained: // what replaces them gets the change
		done.Cancelled, done.Stuck = len(r.Synced)+len(r.Behind) == 0, stuck(req, r, err, b.part)
		logstore.Infof(log, "Interrupted: %v", gone)
	case ctx.Err() == nil && docker.IsUnreachable(err) && needsEngine:
		done.Cancelled, done.EngineErr = true, problem.Text(err)
		logstore.Infof(log, "%s\nThe update continues when it answers", done.EngineErr)
	case ctx.Err() != nil: // an error that only reports the cancellation would be retried without end
		done.Cancelled = true
		logstore.Infof(log, "Build cancelled")
	default:
		why := state.ProblemOf(err)
		done.Err, done.Problem, done.Stuck = problem.Text(err), &why, stuck(req, r, err, b.part)
		logstore.Flush(log)
		done.Output = s.output(req.Manifest.Name, b.span, log)
		logstore.Errorf(log, "Build Failed: %s", done.Err)
		done.Passing = buildanddeploy.IsPassing(err)
	}
	logstore.Flush(log)
	return done
}

// shownOutput is the most lines of a failed build's log that its record repeats, and longestLine the most characters of each.
const (
	shownOutput = 20
	longestLine = 500
)

// output returns the last lines of a build's log, after the last command or step that hone announced. The log has no secrets
// in it.
func (s *Subscriber) output(name model.ManifestName, span string, log *updateLog) []string {
	headline := log.headline()
	var out []string
	for _, l := range s.logs.Tail(logstore.Filter{Resources: []model.ManifestName{name}, Span: span, MinLevel: logstore.LevelInfo}, shownOutput) {
		text := strings.TrimRight(l.Text, " \r\n")
		if announced := strings.TrimSpace(text); announced == headline || strings.HasPrefix(announced, "Running cmd: ") || strings.HasPrefix(announced, "STEP ") {
			out = nil
			continue
		}
		out = append(out, words.ClipChars(text, longestLine))
	}
	return out
}

// stuck returns the containers that could not be updated in place and for which no other way would succeed, or may be tried yet: they are
// tried again with the next change, or are gone.
func stuck(req buildanddeploy.Request, r buildanddeploy.Result, err error, part bool) []string {
	if !part && liveupdate.Classify(err) != liveupdate.Blocked && !errors.As(err, new(*buildanddeploy.Gone)) {
		return nil
	}
	behind := func(id string) bool {
		return slices.ContainsFunc(r.Behind, func(s *buildanddeploy.Lane) bool { return s.Container.ID == id })
	}
	var ids []string
	for _, c := range req.Containers {
		if !slices.Contains(r.Synced, c.ID) && !behind(c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// initialSyncs returns the containers that should have got an initial sync. A container that has survived the deploy made
// instead counts as synced: the initial sync is not tried again and again.
func initialSyncs(req buildanddeploy.Request) []string {
	var ids []string
	for _, c := range req.Containers {
		if steps, _, _ := req.Manifest.LiveUpdateOf(c.Ref); steps.InitialSync && c.New {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
