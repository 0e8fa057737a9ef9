package collector

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// sweeping stands for the reading of the ledger among the deletions that failed.
const sweeping = model.ManifestName("")

// runsDownCommands reports whether leftovers of local resources can be found.
func (r *run) runsDownCommands(v store.View) bool {
	return r.downCommands != nil && state.TheTiltfile(v).Good
}

// sweepAlone starts to delete the leftovers of earlier sessions, unless other sessions of the project run; in that case it
// checks again later.
func (r *run) sweepAlone() {
	if !r.alone() {
		r.deletions.pause(sweeping)
		return
	}
	complete, err := r.sweep(r.ctx, r.rt)
	r.deletions.book(deletion{resource: sweeping, err: err})
	r.swept = complete && err == nil
	if err != nil {
		r.failed(err)
	}
}

// alone reports whether no other session of the project runs. Otherwise it warns, once.
func (r *run) alone() bool {
	others := r.beside(r.ctx)
	if len(others) > 0 && !r.elsewhere {
		logstore.Warnf(r.logs.Logger("", "collect", logstore.SourceBuild),
			"%s also works on this project: leftovers that may belong to it are not deleted", strings.Join(others, " and "))
	}
	r.elsewhere = len(others) > 0
	return !r.elsewhere
}

// beside names the other running sessions of the project.
func (s *Subscriber) beside(ctx context.Context) []string {
	if s.options.Beside == nil {
		return nil
	}
	return s.options.Beside(ctx)
}

// sweep starts to delete the objects of resources that earlier sessions applied and that are no longer declared. A session on a
// choice of resources leaves all other resources alone. The sweep is not complete, and must be called again, if a deletion of such
// a resource is running or has just failed.
func (r *run) sweep(ctx context.Context, rt *store.Runtime) (complete bool, err error) {
	memory, err := r.cluster.Ledger(ctx)
	if err != nil {
		return false, r.report("", err)
	}
	records, err := memory.Resources()
	if err != nil {
		return false, r.report("", err)
	}
	complete = true
	chosen := state.Chosen(rt.View())
	for _, resource := range slices.Sorted(maps.Keys(records)) {
		// A resource that is now declared as another kind, under the same name, no longer has objects either.
		e := state.Resources.In(rt.View()).Ref(string(resource))
		deploys := e != nil && e.Value.Manifest.IsK8s()
		if deploys && r.collects(e.Value.Manifest) || !chosen(resource) {
			continue
		}
		why := undeclared
		if deploys {
			if why = moved; !standsElsewhere(rt.View(), e.Value.Manifest) {
				complete = false
				continue
			}
		}
		complete = complete && !r.deletions.open(resource)
		r.deletions.start(resource, "", func(ctx, enough context.Context) error { return r.remove(ctx, enough, resource, why) })
	}
	return complete, nil
}

// standsElsewhere reports whether a resource has become ready in the cluster that the Tiltfile declares for it. Until then, its objects in another
// one stay.
func standsElsewhere(v store.View, m model.Manifest) bool {
	u := state.Updates.In(v).Value(string(m.Name))
	there := len(u.Applied) > 0 && u.Applied[0].Cluster == m.Cluster()
	return there && !u.AwaitsReady()
}

// madeBy, before the name of a local resource, stands for its products of earlier sessions.
const madeBy = "made by "

// sweepLocal starts the down commands of local resources that earlier sessions ran and that are no longer declared. A command waits
// until the dependents of its resource are deleted.
func (r *run) sweepLocal(v store.View) {
	commands, deps, err := r.downCommands.Recorded()
	if err != nil {
		r.deletions.book(deletion{resource: madeBy, err: err})
		r.failed(r.report("", err))
		return
	}
	going, leaving := map[model.ManifestName]bool{}, false // beside another session, a leaving one may go without its down command
	chosen := state.Chosen(v)
	for name := range commands {
		e := state.Resources.In(v).Ref(string(name))
		leaves := e != nil && e.Phase != store.Running
		otherKind := e != nil && !leaves && !e.Value.Manifest.IsLocal()
		going[name] = chosen(name) && (e == nil || otherKind)
		leaving = leaving || leaves
	}
	if !slices.Contains(slices.Collect(maps.Values(going)), true) {
		r.sweptLocal = !leaving
		return
	}
	if !r.alone() {
		r.deletions.pause(madeBy)
		return
	}
	r.sweptLocal = !leaving
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		if !going[name] {
			continue
		}
		stands := func(other model.ManifestName) bool {
			if going[other] || r.deletions.open(other) {
				return true
			}
			if e := state.Resources.In(v).Ref(string(other)); e != nil {
				return e.Phase != store.Running
			}
			return r.cluster != nil && !r.swept // it may still have objects
		}
		waits := slices.ContainsFunc(slices.Collect(maps.Keys(deps)), func(other model.ManifestName) bool {
			return model.DependsOn(deps, other, name) && stands(other)
		})
		if waits {
			r.sweptLocal = false
			continue
		}
		r.deletions.start(madeBy+name, "", func(ctx, _ context.Context) error { return r.takeDown(ctx, name) })
		r.sweptLocal = r.sweptLocal && r.deletions.runs(madeBy+name)
	}
}

// takeDown runs the down command of a resource that the Tiltfile no longer declares.
func (r *run) takeDown(ctx context.Context, resource model.ManifestName) error {
	if err := r.settled(ctx); err != nil {
		return err
	}
	log := r.logs.Logger(resource, "collect:"+string(resource), logstore.SourceBuild)
	err := r.downCommands.Remove(ctx, buildanddeploy.RemoveRequest{Resource: resource, Why: undeclared, Undeclared: true, Log: log, Declared: r.declared})
	if err != nil {
		return &commandError{r.report(resource, fmt.Errorf("take down %s: %w", resource, err))}
	}
	return nil
}

// deploys records the deploys that were seen to have ended.
type deploys struct {
	entries []*store.Entry[state.Update]
	serials map[string]int
}

// ended reports whether a deploy has ended since the last call.
func (d *deploys) ended(v store.View) bool {
	if d.serials == nil {
		d.serials = map[string]int{}
	}
	found := false
	now := slices.AppendSeq(make([]*store.Entry[state.Update], 0, len(d.entries)), state.Updates.In(v).Refs())
	for i, e := range now {
		if i < len(d.entries) && d.entries[i] == e {
			continue
		}
		if serial := e.Value.SucceededSerial; serial != d.serials[e.ID] {
			d.serials[e.ID], found = serial, true
		}
	}
	d.entries = now
	return found
}

// leftOf, before the name of a resource, stands for the leftovers of its deploys.
const leftOf = "left of "

// finish completes the deletion of objects that deploys have left behind, and tells the user why it is delayed. It returns whether
// it must be called again.
func (r *run) finish(v store.View) (again bool) {
	if r.deletions.paused(leftOf) {
		return true
	}
	names, err := r.cluster.Leaving(r.ctx)
	if err != nil {
		r.deletions.pause(leftOf)
		return true
	}
	for _, name := range names {
		e := state.Resources.In(v).Ref(string(name))
		if e == nil || e.Phase != store.Running || !r.collects(e.Value.Manifest) {
			continue // it is deleted as a whole
		}
		again = again || r.deletions.paused(leftOf+name)
		r.deletions.start(leftOf+name, "", func(ctx, _ context.Context) error {
			log := r.logs.Logger(name, "collect:"+string(name), logstore.SourceBuild)
			if err := r.cluster.Finish(ctx, buildanddeploy.RemoveRequest{Resource: name, Namespace: r.namespace(v), Declared: r.declared, Settled: r.settled, Log: log}); err != nil {
				return r.report(name, fmt.Errorf("delete what %s no longer declares: %w", name, err))
			}
			return nil
		})
	}
	return again
}
