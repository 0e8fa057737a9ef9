package collector

import (
	"context"
	"fmt"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// collect deletes the objects of a resource that left the Tiltfile, or that was switched off. If it comes back at once, its
// objects stay.
func (r *run) collect(ctx, enough context.Context, was state.Resource) error {
	back := was.Next != nil && was.Next.Enabled
	switch {
	case was.Manifest.IsCompose():
		return r.collectContainers(ctx, enough, was)
	case was.Manifest.IsLocal():
		if r.downCommands == nil || was.Next != nil || len(r.beside(ctx)) > 0 { // a later sweep does it
			return nil
		}
		return r.takeDown(ctx, was.Manifest.Name)
	case back || r.cluster == nil || !was.Manifest.IsK8s():
		return nil
	case was.Next != nil:
		return r.remove(ctx, enough, was.Manifest.Name, "which is switched off")
	}
	return r.remove(ctx, enough, was.Manifest.Name, undeclared)
}

// declared returns the declarations of the Tiltfile now, as far as they concern the cluster.
func (r *run) declared() []model.Manifest {
	return model.DeclaredOn(state.Declarations(r.rt.View()), r.on)
}

// namespace returns the namespace for objects that name none.
func (r *run) namespace(v store.View) string { return state.NamespaceOn(v, r.on, r.options.Namespace) }

// settled waits until the declarations are final: a file that is changed and changed back takes no object along.
func (r *run) settled(ctx context.Context) error {
	for {
		wait := state.RestIn(r.rt.View(), time.Now())
		if wait <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

func (r *run) remove(ctx, enough context.Context, resource model.ManifestName, why string) error {
	log := r.logs.Logger(resource, "collect:"+string(resource), logstore.SourceBuild)
	var settled func(context.Context) error
	leaves := why == undeclared || why == moved
	if leaves {
		settled = func(context.Context) error { return r.settled(enough) }
	}
	bereft, err := r.cluster.Remove(ctx, buildanddeploy.RemoveRequest{Resource: resource, Why: why, Undeclared: leaves, Namespace: r.namespace(r.rt.View()), Log: log, Enough: enough,
		Declared: r.declared, Settled: settled,
		Chosen: func(name model.ManifestName) bool { return state.Chosen(r.rt.View())(name) }})
	if len(bereft) > 0 {
		lost := map[model.ManifestName][]string{}
		for _, name := range bereft {
			lost[name] = nil
		}
		r.rt.Dispatch(state.ObjectsLost{UIDs: lost})
	}
	if err != nil && enough.Err() == nil {
		return r.report(resource, fmt.Errorf("delete the objects of %s: %w", resource, err))
	}
	return err
}

// collectContainers removes the containers of a service, unless it comes back at once as the same service. Its networks and
// volumes stay, as with Compose.
func (r *run) collectContainers(ctx, enough context.Context, was state.Resource) error {
	name, t, why := was.Manifest.Name, was.Manifest.Compose, undeclared
	if was.Next == nil {
		if err := r.settled(enough); err != nil && enough.Err() == nil {
			return err
		}
		was = state.Resources.In(r.rt.View()).Value(string(name))
	}
	if next := was.Next; next != nil && next.Enabled {
		if c := next.Manifest.Compose; c != nil && c.Project.Name == t.Project.Name && c.Service == t.Service {
			return nil
		}
	} else if next != nil {
		why = "which is switched off"
	}
	if r.engine == nil {
		return nil
	}
	log := r.logs.Logger(name, "collect:"+string(name), logstore.SourceBuild)
	logstore.Infof(log, "Removing the containers of %s, %s", name, why)
	if err := compose.Remove(ctx, r.engine, t.Project.Name, t.Service, log); err != nil {
		return r.report(name, err)
	}
	return nil
}
