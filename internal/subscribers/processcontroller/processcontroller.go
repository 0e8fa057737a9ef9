// Package processcontroller runs the servers of local resources.
//
// # Concurrency
//
// Run owns one goroutine per resource with a server, its keeper, so that a server which takes long to stop holds up nobody
// else's. A keeper owns the goroutine of the server that it keeps, which owns the server's process, and that of its
// prober. All of them have ended when Run returns.
package processcontroller

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const name = "ProcessController"

// slack is what stopping may take beyond the grace of a server: it is killed, and its last output read.
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
		Doc:       "Runs the servers of local resources, restarts them after each update, and probes them.",
		Inputs:    append(store.Holds(state.Resources), store.Reads(state.Updates)...),
		Outputs:   store.Emits(state.ProcessChanged{}, state.ProcessGone{}),
		Externals: []string{"process"},
		Stage:     store.StageController,
		Grace:     s.grace + slack,
	}
}

// wish is the server that a resource should have. A new build is a new server, while another probe goes to the server
// that runs.
type wish struct {
	serve model.Cmd
	probe *model.Probe
	build int
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	keepers := map[model.ManifestName]*keeper{}
	defer func() {
		for _, k := range keepers {
			k.leave()
		}
		for _, k := range keepers {
			<-k.done
		}
	}()
	ended := make(chan struct{}, 1)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		case <-ended:
		}
		v := rt.View()
		s.reconcile(ctx, rt, keepers, desired(v), ended)
		for _, e := range state.Leaving(v, name) {
			if keepers[model.ManifestName(e.ID)] == nil {
				rt.Release(state.Resources, e.ID)
			}
		}
		rt.Succeeded()
	}
}

// reconcile tells each keeper what is wished, hires those that are missing, and sends away those that nobody needs. One
// that is still stopping its server is waited for by way of ended.
func (s *Subscriber) reconcile(ctx context.Context, rt *store.Runtime, keepers map[model.ManifestName]*keeper,
	want map[model.ManifestName]wish, ended chan<- struct{}) {
	for resource, k := range keepers {
		select {
		case <-k.done:
			delete(keepers, resource)
			rt.Dispatch(state.ProcessGone{Resource: resource})
			continue
		default:
		}
		if _, ok := want[resource]; !ok {
			k.leave()
		}
	}
	for resource, w := range want {
		k := keepers[resource]
		if k == nil {
			k = s.hire(ctx, rt, resource, ended)
			keepers[resource] = k
		}
		k.wish(w)
	}
}

// desired returns the servers that should run: those of resources that were updated successfully. While an update runs,
// and when it fails, the server of the one before keeps running.
func desired(v store.View) map[model.ManifestName]wish {
	out := map[model.ManifestName]wish{}
	for e := range state.Enabled(v) {
		m := e.Value.Manifest
		if e.Phase == store.TearingDown || !m.IsLocal() || m.Local.Serve.Empty() {
			continue
		}
		if u := state.Updates.In(v).Value(e.ID); u.Succeeded {
			out[m.Name] = wish{m.Local.Serve, m.Local.Readiness, u.SucceededSerial}
		}
	}
	return out
}
