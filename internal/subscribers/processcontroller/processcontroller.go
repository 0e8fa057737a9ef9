// Package processcontroller runs the servers of local resources.
//
// # Concurrency
//
// Run owns one goroutine per server, so that a server that takes long to stop does not delay the others. All of them have ended when
// Run returns, with what runner.Run owns.
package processcontroller

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/base/workers"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const name = "ProcessController"

// slack is the time that stopping may take beyond the grace period of a server: it is killed, and its last output is read.
const slack = 10 * time.Second

// Subscriber is the ProcessController.
type Subscriber struct {
	logs  *logstore.Store
	env   []string
	now   func() time.Time
	grace time.Duration
}

// New returns the subscriber; env is added to the environment of every server and of every probe that is a command.
func New(logs *logstore.Store, env []string) *Subscriber {
	return &Subscriber{logs: logs, env: env, now: time.Now, grace: process.DefaultServeGrace}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      name,
		Doc:       "Runs the servers of local resources, restarts them after each update and on request, and probes them.",
		Inputs:    append(store.Holds(state.Resources), store.Reads(state.Updates, state.Restarts)...),
		Outputs:   store.Emits(state.ProcessChanged{}, state.ProcessGone{}),
		Externals: []string{"process"},
		Stage:     store.StageController,
		Grace:     s.grace + slack,
		Feedback:  "the end of a restart requests no other",
	}
}

// target is the server that a resource should have. A new build and a restart lead to a new server, while a changed probe is
// applied to the running server.
type target struct {
	serve          model.Cmd
	probe          *model.Probe
	build, restart int
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	same := func(a, b *instance) bool { return a == b }
	servers := workers.NewSet(ctx, same, func(ctx context.Context, _ model.ManifestName, i *instance) { i.run(ctx) })
	defer servers.Stop()
	tell := func(p state.Process) { rt.Dispatch(state.ProcessChanged{Process: p}) }
	wanted := map[model.ManifestName]*instance{}
	there := map[model.ManifestName]bool{} // running and stopping servers
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		case <-servers.Ended():
		}
		v := rt.View()
		before := wanted
		wanted = map[model.ManifestName]*instance{}
		for resource, w := range desired(v) {
			i := before[resource]
			if i == nil || i.target.build != w.build || i.target.restart != w.restart {
				i = s.newInstance(resource, w, tell)
			}
			i.server.Probe(w.probe)
			wanted[resource], there[resource] = i, true
		}
		servers.Want(wanted)
		for resource := range there {
			if !servers.Has(resource) {
				delete(there, resource)
				rt.Dispatch(state.ProcessGone{Resource: resource})
			}
		}
		for _, e := range state.Leaving(v, name) {
			if !there[model.ManifestName(e.ID)] {
				rt.Release(state.Resources, e.ID)
			}
		}
		rt.Succeeded()
	}
}

// desired returns the servers that should run: the servers of resources that were updated successfully. While an update
// runs, and when it fails, the server of the update before keeps running.
func desired(v store.View) map[model.ManifestName]target {
	out := map[model.ManifestName]target{}
	for e := range state.Enabled(v) {
		m := e.Value.Manifest
		if e.Phase == store.TearingDown || !m.IsLocal() || m.Local.Serve.Empty() {
			continue
		}
		if u := state.Updates.In(v).Value(e.ID); u.Succeeded {
			out[m.Name] = target{m.Local.Serve, m.Local.Readiness, u.SucceededSerial, state.Restarts.In(v).Value(e.ID).Serial}
		}
	}
	return out
}
