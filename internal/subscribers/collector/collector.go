// Package collector deletes the objects of resources that the Tiltfile no longer declares, whether they were removed from
// it while hone was running or before. It also deletes the objects of resources that are switched off. For services of
// Compose it removes the containers, for local resources it runs the down commands.
//
// # Deletions
//
// Each deletion runs on a goroutine of its own (deletions.start), and there is at most one for each key. The key tells its kind:
//
//	api                          the objects of a resource that leaves, with its entry, or of a resource of an earlier session
//	left of api                  objects that a deploy of a declared resource has left behind (finish)
//	made by api                  the down command of a local resource of an earlier session (sweepLocal)
//	what is no longer declared   everything that the prune guard kept, when the user releases it (release)
//
// The empty key, "made by " and "left of " alone stand for reading the records. They never run as a deletion, and only wait for
// their next try.
//
// # Concurrency
//
// Run's goroutine owns all fields of run. In each round it takes the end of a deletion, if there is one (ended), and starts the
// deletions that are due by the newest snapshot (collectWhatLeft):
//
//	keep        asks which objects the prune guard keeps, when that may have changed (unsure)
//	sweepAlone  leftovers of earlier sessions, until swept is set; sweepLocal, until sweptLocal is set
//	hold        holds leaving resources back until the user agrees, in a session that asks
//	collectAll  leaving resources that all other subscribers have released, dependents first
//	finish      objects that deploys have left behind, while look is set
//	release, reportDone
//
// A new evaluation of the Tiltfile, the end of a deploy, or the failure of a deletion resets the flag of its part, and the next
// round tries again. A deletion that succeeds releases its entry, if it has one; released remembers the entry until the snapshot
// shows the release. The functions that run on the goroutines of deletions (collect, takeDown, remove, and the closures of release
// and finish) read the newest snapshot, and change no field of run.
package collector

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	again "github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/base/workers"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	name = "Collector"
	// undeclared is the reason for deleting the objects of a resource that left the Tiltfile.
	undeclared = "which the Tiltfile no longer declares"
	// moved is the same for a resource that is deployed to another cluster by now.
	moved = "which is in another cluster now"
)

// Cluster deletes objects that resources applied, directly or through the user's delete commands.
type Cluster interface {
	Ledger(ctx context.Context) (*deploy.Memory, error)
	Remove(ctx context.Context, req buildanddeploy.RemoveRequest) (bereft []model.ManifestName, err error)
	// Leaving names the resources that have left objects behind that are still being deleted, and Finish completes their
	// deletion.
	Leaving(ctx context.Context) ([]model.ManifestName, error)
	Finish(ctx context.Context, req buildanddeploy.RemoveRequest) error
	// Kept returns the objects that it keeps although they are no longer declared, and why. Prune deletes them anyway.
	Kept(ctx context.Context, declared func() []model.Manifest, chosen func(model.ManifestName) bool, namespace string) (buildanddeploy.Kept, error)
	Prune(ctx context.Context, declared []model.Manifest, chosen func(model.ManifestName) bool, namespace string, log logstore.Logger) error
}

// DownCommands run the down commands of local resources.
type DownCommands interface {
	// Recorded returns the resources that have to be taken down, and the recorded dependencies.
	Recorded() (map[model.ManifestName]model.Cmd, ledger.Deps, error)
	Remove(ctx context.Context, req buildanddeploy.RemoveRequest) error
}

// Subscriber is the Collector. Each resource is deleted on a goroutine of its own, since an object that does not go may
// delay its deletion for minutes. Each cluster that the Tiltfile declares has a run on a goroutine of its own, too. Run waits for all of
// them.
type Subscriber struct {
	cluster      Cluster
	open         func(ctx context.Context, on string) (Cluster, error)
	engine       compose.Engine
	downCommands DownCommands
	logs         *logstore.Store
	options      Options
}

// Options are the options of the collector.
type Options struct {
	// Namespace is the namespace of objects that are declared without one.
	Namespace string
	// Beside, unless nil, names the other running sessions of the project. While there are any, leftovers of earlier
	// sessions stay: they may belong to them.
	Beside func(context.Context) []string
}

// New returns the subscriber; if cluster, engine or downCommands is nil, nothing is collected there.
func New(cluster Cluster, engine compose.Engine, downCommands DownCommands, logs *logstore.Store, o Options) *Subscriber {
	return &Subscriber{cluster: cluster, engine: engine, downCommands: downCommands, logs: logs, options: o}
}

// With sets the function that opens a cluster that the Tiltfile declares, named as in model.K8sTarget. Call it before Run.
func (s *Subscriber) With(open func(ctx context.Context, on string) (Cluster, error)) *Subscriber {
	s.open = open
	return s
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name: name,
		Doc:  "Deletes the objects and containers of resources that the Tiltfile no longer declares or that are switched off, once all other subscribers have released them, and runs the down commands of local resources that it no longer declares.",
		Inputs: append(store.WithReleases(store.Holds(state.Resources)),
			store.Reads(state.Tiltfiles, state.Clusters, state.Updates, state.Sessions)...),
		Outputs:   append(store.Emits(state.CollectionReported{}, state.PruneGuardChanged{}, state.LeavingHeld{}), store.Shares(state.ObjectsLost{})...),
		Externals: []string{"kubernetes", "docker", "filesystem"},
		Feedback:  "it checks what a deploy has left behind once the deploy has ended, and reports losses only for deletions",
		Stage:     store.StageController,
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	joint := newJoint()
	others := workers.NewSet(ctx, func(a, b struct{}) bool { return true }, func(ctx context.Context, on string, _ struct{}) {
		branch, detach := rt.Branch()
		defer detach()
		defer joint.left(on)
		s.collectOn(ctx, branch, on, joint)
	})
	defer others.Stop()
	s.newRun(ctx, rt, "", joint).loop(func(v store.View) {
		if s.open == nil {
			return
		}
		wanted := map[string]struct{}{}
		for _, on := range state.DeclaredClusters(v) {
			wanted[on] = struct{}{}
		}
		others.Want(wanted)
	})
	return nil
}

// collectOn collects in a cluster that the Tiltfile declares, once it can be opened. ClusterMonitor says why it cannot.
func (s *Subscriber) collectOn(ctx context.Context, rt *store.Runtime, on string, joint *joint) {
	pause := again.Backoff{First: retry, Most: retryCommandMax}
	for {
		cluster, err := s.open(ctx, on)
		if err == nil {
			part := &Subscriber{cluster: cluster, logs: s.logs, options: s.options}
			part.newRun(ctx, rt, on, joint).loop(func(store.View) {})
			return
		}
		if !pause.Sleep(ctx) {
			return
		}
	}
}

func (s *Subscriber) newRun(ctx context.Context, rt *store.Runtime, on string, joint *joint) *run {
	return &run{Subscriber: s, ctx: ctx, rt: rt, on: on, joint: joint, deletions: newDeletions(ctx), released: map[string]*store.Entry[state.Resource]{},
		held: map[string]time.Time{}, look: true}
}

// loop collects until ctx is done. also is called with each snapshot.
func (r *run) loop(also func(store.View)) {
	ctx, rt := r.ctx, r.rt
	defer r.deletions.wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-rt.Wake():
		case <-timer.C:
		case e := <-r.deletions.ended:
			r.ended(e)
		}
		v := rt.View()
		also(v)
		r.collectWhatLeft(v)
		r.reportGoing()
		timer.Stop()
		if pause, ok := r.deletions.next(); ok {
			timer.Reset(pause)
		} else {
			rt.Succeeded()
		}
	}
}

// run is one Run of the subscriber, for one cluster. The run for the session's own cluster also collects
// services of Compose and local resources.
type run struct {
	*Subscriber
	ctx context.Context
	rt  *store.Runtime
	// on is the cluster, as in model.K8sTarget, and joint everything that all runs report together.
	on        string
	joint     *joint
	deletions *deletions
	known     resources
	deploys   deploys
	// look is set when deploys may have left something behind.
	look bool
	// swept is set when the leftovers of earlier sessions are deleted, or being deleted.
	swept bool
	// sweptLocal is the same for the down commands of earlier sessions.
	sweptLocal bool
	// unsure is set when kept may have changed: the objects that stay although they are no longer declared. told is the last
	// message about them. asked counts the user's releases of the prune guard that were carried out.
	unsure      bool
	kept        buildanddeploy.Kept
	told        string
	toldGuarded string
	asked       int
	// held are the leaving resources whose deletion waits for the user's agreement, by entry, with the time of the user's last
	// agreement before they left. toldHeld are the names that were reported last.
	held     map[string]time.Time
	toldHeld []model.ManifestName
	// tiltfile is the result of the evaluation that was last seen.
	tiltfile *store.Entry[state.Tiltfile]
	// all is set if that evaluation made no choice of resources.
	all bool
	// elsewhere is set when the leftovers may belong to another running session.
	elsewhere bool
	// done is set when the end of the collection was reported, doneLocal when the end for local resources was.
	done, doneLocal bool
	// toldGoing are the resources that were last reported as being deleted.
	toldGoing []model.ManifestName
	// released holds the released entries until the snapshot shows the release. Versions do not distinguish them: a
	// resource that comes back and leaves again starts from 1.
	released map[string]*store.Entry[state.Resource]
}

// ended records the end of a deletion and releases the resource if it succeeded.
func (r *run) ended(e deletion) {
	r.deletions.book(e)
	r.unsure = true
	switch {
	case e.err != nil && e.entry == "":
		switch {
		case strings.HasPrefix(string(e.resource), leftOf):
			r.look = true
		case e.resource == pruning: // the user may ask again
		case strings.HasPrefix(string(e.resource), madeBy):
			r.sweptLocal = false
		default:
			r.swept = false
		}
		r.failed(e.err)
	case e.err == nil && e.entry != "":
		r.let(e.entry)
	}
}

// let lets go of the entry of a resource.
func (r *run) let(entry string) {
	r.released[entry] = state.Resources.In(r.rt.View()).Ref(entry)
	r.rt.Release(state.Resources, entry)
}

// collectWhatLeft starts the deletions that are due.
func (r *run) collectWhatLeft(v store.View) {
	r.deletions.due()
	if r.known.turned(v, r.on) {
		r.swept = false
	}
	if now := state.Tiltfiles.In(v).Ref(state.Only); now != r.tiltfile {
		r.tiltfile, r.sweptLocal, r.unsure = now, false, true
		all := now.Value.Result.Enabled == nil
		r.swept = r.swept && r.kept.Why == "" && r.all == all // the prune guard may hold no longer
		r.all = all
	}
	r.keep(v)
	agreed := r.agreed(v)
	if r.kept.Why != "" { // nothing of earlier sessions is deleted
		r.swept = true
	}
	due := func(swept bool, attempt model.ManifestName) bool {
		return agreed && !swept && !r.deletions.paused(attempt)
	}
	if due(r.swept, sweeping) && r.reaches(v) {
		r.sweepAlone()
	}
	if due(r.sweptLocal, madeBy) && r.runsDownCommands(v) {
		r.sweepLocal(v)
	}
	entries := state.Resources.In(v)
	maps.DeleteFunc(r.released, func(id string, e *store.Entry[state.Resource]) bool { return entries.Ref(id) != e })
	r.collectAll(v, r.hold(v, state.Leaving(v, name)))
	if r.deploys.ended(v) {
		r.look, r.unsure = true, true
	}
	if r.look && r.reaches(v) {
		r.look = r.finish(v)
	}
	r.release(v)
	r.reportDone(v)
}

// reaches reports whether leftovers in the cluster can be found: it answers, and the declarations are known.
func (r *run) reaches(v store.View) bool {
	return r.cluster != nil && state.TheTiltfile(v).Good && state.ClusterOn(v, r.on).Connected
}

// reportDone reports, once each, that nothing is left that local resources have made, and that nothing at all is left. Objects that
// may belong to another session do not count.
func (r *run) reportDone(v store.View) {
	local := r.sweptLocal || r.elsewhere
	if r.downCommands == nil {
		local = local || state.TheTiltfile(v).Good
	}
	if r.done || !local || r.deletions.pending() {
		return
	}
	if r.swept || r.elsewhere {
		r.done = r.joint.end(r.rt, v, r.on)
	}
	if !r.done && !r.doneLocal && r.on == "" {
		r.doneLocal = true
		r.rt.Dispatch(state.CollectionReported{Local: true})
	}
}

// reportGoing reports which resources are being deleted, when others are than before.
func (r *run) reportGoing() {
	going := r.deletions.resources()
	if !slices.Equal(going, r.toldGoing) {
		r.joint.goes(r.rt, r.on, going)
	}
	r.toldGoing = going
}

// failed reports a failed attempt, unless the session ends. The end of the collection is reported again after it.
func (r *run) failed(err error) {
	if r.ctx.Err() == nil {
		r.done, r.doneLocal = false, false
		r.joint.fail(r.rt, r.on, problem.Text(err))
	}
}

// collectAll starts to delete the objects of the leaving resources that no other subscriber holds. A resource waits for
// leaving resources that depend on it: their deletion may need objects that its delete command removes.
func (r *run) collectAll(v store.View, leaving []*store.Entry[state.Resource]) {
	deps := map[model.ManifestName][]model.ManifestName{}
	byName := map[model.ManifestName]*store.Entry[state.Resource]{}
	for _, e := range leaving {
		if _, ok := r.released[e.ID]; ok {
			continue
		}
		m := e.Value.Manifest
		if next := e.Value.Next; next != nil && next.Enabled {
			r.deletions.enough(m.Name) // it should not wait for the leftovers of an earlier life
		}
		deps[m.Name], byName[m.Name] = m.ResourceDeps, e
	}
	var stay []model.ManifestName
	for _, n := range model.DependentsFirst(deps) {
		e, ok := byName[n]
		if !ok {
			continue
		}
		first := !slices.ContainsFunc(stay, func(o model.ManifestName) bool { return model.DependsOn(deps, o, n) })
		last := first && len(e.Finalizers) == 1 // the others release it first
		switch {
		case !r.collects(e.Value.Manifest): // another run does, and this one only waits for it
		case last && r.stays(v, e.Value):
			r.let(e.ID)
		case last:
			r.deletions.start(n, e.ID, func(ctx, enough context.Context) error { return r.collect(ctx, enough, e.Value) })
		}
		stay = append(stay, n)
	}
}

// collects reports whether the run collects the leftovers of a resource.
func (r *run) collects(m model.Manifest) bool { return m.Cluster() == r.on }

// resources are the resources that a snapshot declared.
type resources struct {
	entries []*store.Entry[state.Resource]
	// deployed holds for each known resource whether it had objects.
	deployed map[string]bool
}

// turned records which resources have objects in a cluster, and reports whether one of them has become a resource without objects there.
func (r *resources) turned(v store.View, on string) bool {
	if r.deployed == nil {
		r.deployed = map[string]bool{}
	}
	found := false
	now := slices.AppendSeq(make([]*store.Entry[state.Resource], 0, len(r.entries)), state.Resources.In(v).Refs())
	for i, e := range now {
		if i < len(r.entries) && r.entries[i] == e || e.Phase != store.Running {
			continue
		}
		m := &e.Value.Manifest
		deploys := m.IsK8s() && m.Cluster() == on
		found = found || r.deployed[e.ID] && !deploys
		r.deployed[e.ID] = deploys
	}
	r.entries = now
	return found
}

func (s *Subscriber) report(resource model.ManifestName, err error) error {
	logstore.Errorf(s.logs.Logger(resource, "collect:"+string(resource), logstore.SourceBuild), "%s", problem.Text(err))
	return err
}
