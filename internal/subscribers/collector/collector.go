// Package collector deletes the objects of resources that the Tiltfile no longer declares: of those that leave it while
// hone runs, and of those that left it while hone did not. It also deletes those of resources that are switched off. Of
// services of Compose it removes the containers.
package collector

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/compose"
	"github.com/hone-dev/hone/internal/deploy"
	"github.com/hone-dev/hone/internal/logstore"
	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	name = "Collector"
	// retry is the pause after a deletion that failed.
	retry = 5 * time.Second
	// undeclared is why the objects of a resource go that left the Tiltfile.
	undeclared = "which the Tiltfile no longer declares"
)

// Cluster deletes what resources applied, by itself or through the user's delete commands.
type Cluster interface {
	Ledger(ctx context.Context) (*deploy.Ledger, error)
	Remove(ctx context.Context, name model.ManifestName, log logstore.Logger) error
}

// Subscriber is the Collector. It works on its own goroutine, one resource at a time.
type Subscriber struct {
	cluster Cluster
	engine  compose.Engine
	logs    *logstore.Store
}

// New returns the subscriber; where one is nil, nothing is collected there.
func New(cluster Cluster, engine compose.Engine, logs *logstore.Store) *Subscriber {
	return &Subscriber{cluster, engine, logs}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name: name,
		Doc:  "Deletes the objects and containers of resources that the Tiltfile no longer declares or that are switched off, once everybody else let go of them.",
		Inputs: append(store.WithReleases(store.Holds(state.Resources)),
			store.Reads(state.Tiltfiles, state.Clusters)...),
		Externals: []string{"kubernetes", "docker", "filesystem"},
		Stage:     store.StageController,
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	swept := false
	var known resources
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		case <-timer.C:
		}
		v := rt.View()
		if known.turned(v) {
			swept = false
		}
		var failed error
		if !swept && state.TheTiltfile(v).Good && state.TheCluster(v).Connected && s.cluster != nil {
			failed = s.sweep(ctx, rt)
			swept = failed == nil
		}
		if err := s.collectAll(ctx, rt, state.Leaving(v, name)); err != nil {
			failed = err
		}
		if ctx.Err() != nil {
			return nil
		}
		timer.Stop()
		if failed != nil {
			timer.Reset(retry)
		} else {
			rt.Succeeded()
		}
	}
}

// collectAll deletes the objects of the resources that leave and that nobody else holds. A resource waits for those that
// leave with it and depend on it: what a delete command takes away may be what they need to go.
func (s *Subscriber) collectAll(ctx context.Context, rt *store.Runtime, leaving []store.Entry[state.Resource]) error {
	deps := map[model.ManifestName][]model.ManifestName{}
	byName := map[model.ManifestName]store.Entry[state.Resource]{}
	for _, e := range leaving {
		m := e.Value.Manifest
		deps[m.Name], byName[m.Name] = m.ResourceDeps, e
	}
	var failed error
	var stay []model.ManifestName
	for _, n := range model.DependentsFirst(deps) {
		e := byName[n]
		if len(e.Finalizers) > 1 || slices.ContainsFunc(stay, func(o model.ManifestName) bool { return model.DependsOn(deps, o, n) }) {
			stay = append(stay, n) // the others let go first
			continue
		}
		if err := s.collect(ctx, e.Value); err != nil {
			stay, failed = append(stay, n), err
			continue
		}
		rt.Release(state.Resources, e.ID)
	}
	return failed
}

// resources are what a snapshot declared.
type resources struct {
	entries []*store.Entry[state.Resource]
	// deployed says of each that was there whether it had objects.
	deployed map[string]bool
}

// turned notes which resources have objects, and reports whether one of them has become a resource that has none.
func (r *resources) turned(v store.View) bool {
	if r.deployed == nil {
		r.deployed = map[string]bool{}
	}
	found := false
	now := slices.AppendSeq(make([]*store.Entry[state.Resource], 0, len(r.entries)), state.Resources.In(v).Refs())
	for i, e := range now {
		if i < len(r.entries) && r.entries[i] == e || e.Phase != store.Running {
			continue
		}
		found = found || r.deployed[e.ID] && !e.Value.Manifest.IsK8s()
		r.deployed[e.ID] = e.Value.Manifest.IsK8s()
	}
	r.entries = now
	return found
}

// collect deletes the objects of a resource that left the Tiltfile, or that was switched off. Where it comes back at once,
// its objects stay.
func (s *Subscriber) collect(ctx context.Context, r state.Resource) error {
	switch {
	case r.Manifest.IsCompose():
		return s.collectContainers(ctx, r)
	case !r.Manifest.IsK8s() || s.cluster == nil || r.Next != nil && r.Next.Enabled:
		return nil
	case r.Next != nil:
		return s.remove(ctx, r.Manifest.Name, "which is switched off")
	}
	return s.remove(ctx, r.Manifest.Name, undeclared)
}

// sweep deletes the objects of resources that earlier sessions applied and that are no longer declared. Those of a resource
// that is only left out of this session stay.
func (s *Subscriber) sweep(ctx context.Context, rt *store.Runtime) error {
	ledger, err := s.cluster.Ledger(ctx)
	if err != nil {
		return s.report("", err)
	}
	records, err := ledger.Resources()
	if err != nil {
		return s.report("", err)
	}
	var failed error
	for _, resource := range slices.Sorted(maps.Keys(records)) {
		// One that is declared as something else now, under the same name, has no objects any more either.
		e, known := state.Resources.In(rt.View()).Get(string(resource))
		if known && e.Value.Manifest.IsK8s() {
			continue
		}
		if err := s.remove(ctx, resource, undeclared); err != nil {
			failed = err
		}
	}
	return failed
}

func (s *Subscriber) remove(ctx context.Context, resource model.ManifestName, why string) error {
	log := s.logs.Logger(resource, "collect:"+string(resource), logstore.SourceBuild)
	logstore.Infof(log, "Deleting the objects of %s, %s", resource, why)
	if err := s.cluster.Remove(ctx, resource, log); err != nil {
		return s.report(resource, fmt.Errorf("delete the objects of %s: %w", resource, err))
	}
	return nil
}

func (s *Subscriber) report(resource model.ManifestName, err error) error {
	logstore.Errorf(s.logs.Logger(resource, "collect:"+string(resource), logstore.SourceBuild), "%s", problem.Text(err))
	return err
}

// collectContainers removes the containers of a service, unless it comes back at once as what it was. Its networks and
// volumes stay, as Compose would have it.
func (s *Subscriber) collectContainers(ctx context.Context, r state.Resource) error {
	t, why := r.Manifest.Compose, undeclared
	if next := r.Next; next != nil && next.Enabled {
		if c := next.Manifest.Compose; c != nil && c.Project.Name == t.Project.Name && c.Service == t.Service {
			return nil
		}
	} else if next != nil {
		why = "which is switched off"
	}
	if s.engine == nil {
		return nil
	}
	log := s.logs.Logger(r.Manifest.Name, "collect:"+string(r.Manifest.Name), logstore.SourceBuild)
	logstore.Infof(log, "Removing the containers of %s, %s", r.Manifest.Name, why)
	if err := compose.Remove(ctx, s.engine, t.Project.Name, t.Service, log); err != nil {
		return s.report(r.Manifest.Name, err)
	}
	return nil
}
