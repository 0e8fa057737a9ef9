// Package processcontroller runs the servers of local resources.
//
// # Concurrency
//
// Run owns one goroutine per server, which owns the server's process and its prober.
package processcontroller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/logstore"
	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/internal/process"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/internal/task"
	"github.com/hone-dev/hone/pkg/model"
)

const name = "ProcessController"

// Subscriber is the ProcessController.
type Subscriber struct {
	logs *logstore.Store
	env  []string
	now  func() time.Time
}

// New returns the subscriber; env is added to the environment of every server.
func New(logs *logstore.Store, env []string) *Subscriber {
	return &Subscriber{logs: logs, env: env, now: time.Now}
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
	}
}

// server is one run of a server: a new build makes a new one.
type server struct {
	target model.LocalTarget
	build  int
}

func same(a, b server) bool { return a.build == b.build && a.target.Serve.Equal(b.target.Serve) }

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	servers := task.NewSet(ctx, same, func(ctx context.Context, resource model.ManifestName, sv server) {
		s.serve(ctx, rt, resource, sv)
	})
	defer servers.Stop()
	known := map[model.ManifestName]bool{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		}
		v := rt.View()
		want := desired(v)
		servers.Reconcile(want)
		for resource := range known {
			if _, ok := want[resource]; !ok {
				rt.Dispatch(state.ProcessGone{Resource: resource})
				delete(known, resource)
			}
		}
		for resource := range want {
			known[resource] = true
		}
		for _, e := range state.Leaving(v, name) {
			rt.Release(state.Resources, e.ID)
		}
		rt.Succeeded()
	}
}

// desired returns the servers that should run: those of resources that were updated successfully. While an update runs
// the server of the one before goes on.
func desired(v store.View) map[model.ManifestName]server {
	out := map[model.ManifestName]server{}
	for e := range state.Resources.In(v).Entries() {
		m := e.Value.Manifest
		if e.Phase == store.TearingDown || !m.IsLocal() || m.Local.Serve.Empty() {
			continue
		}
		for _, b := range state.Updates.In(v).Value(e.ID).Builds {
			if b.Err == "" && !b.Cancelled {
				out[m.Name] = server{*m.Local, b.Serial}
				break
			}
		}
	}
	return out
}

func (s *Subscriber) serve(ctx context.Context, rt *store.Runtime, resource model.ManifestName, sv server) {
	log := s.logs.Logger(resource, fmt.Sprintf("serve:%s:%d", resource, sv.build), logstore.SourceRuntime)
	p := state.Process{Resource: resource, State: state.ProcessStarting, StartedAt: s.now(), Build: sv.build}
	var mu sync.Mutex // the prober's goroutine reports too
	tell := func(change func(*state.Process)) {
		mu.Lock()
		defer mu.Unlock()
		change(&p)
		rt.Dispatch(state.ProcessChanged{Process: p})
	}
	tell(func(*state.Process) {})
	probing, stopProbing := context.WithCancel(ctx)
	var prober sync.WaitGroup
	defer prober.Wait()
	defer stopProbing()
	if !sv.target.Serve.EchoOff {
		logstore.Infof(log, "Running serve cmd: %s", sv.target.Serve)
	}
	err := process.Serve(ctx, process.Command{
		Cmd: sv.target.Serve, ExtraEnv: s.env,
		Stdout: logstore.WriterAt(log, logstore.LevelInfo), Stderr: logstore.WriterAt(log, logstore.LevelInfo),
	}, process.Events{
		Started: func(st process.Started) {
			tell(func(p *state.Process) {
				p.State, p.PID, p.Ready = state.ProcessRunning, st.PID, sv.target.Readiness == nil
			})
			if sv.target.Readiness != nil {
				prober.Go(func() { s.probe(probing, *sv.target.Readiness, log, tell) })
			}
		},
		Message: func(text string) { logstore.Warnf(log, "%s", text) },
	})
	stopProbing()
	prober.Wait()
	if ctx.Err() != nil {
		tell(func(p *state.Process) { p.State, p.Ready, p.PID = state.ProcessStopped, false, 0 })
		return
	}
	text := "server exited"
	if err != nil {
		text = problem.Text(err)
	}
	logstore.Errorf(log, "Server exited: %s", text)
	tell(func(p *state.Process) {
		p.State, p.Ready, p.PID, p.Err = state.ProcessFailed, false, 0, "serve_cmd ended: "+text
	})
}

// probe asks the server whether it is ready until ctx is done, and reports when the answer changes.
func (s *Subscriber) probe(ctx context.Context, spec model.Probe, log logstore.Logger, tell func(func(*state.Process))) {
	prober := process.Prober{Probe: spec}
	err := prober.Run(ctx, func(ready bool, detail string) {
		word := "success"
		if !ready {
			word = "failure"
		}
		if detail != "" {
			word += ": " + detail
		}
		logstore.Infof(log, "[readiness probe: %s]", word)
		tell(func(p *state.Process) { p.Ready = ready })
	})
	if err != nil && ctx.Err() == nil {
		logstore.Errorf(log, "Readiness probe: %s", problem.Text(err))
	}
}
