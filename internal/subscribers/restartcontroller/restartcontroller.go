// Package restartcontroller carries out the restarts that the user requests in the cluster and in the container engine: pods
// are deleted, so that their controllers replace them, processes are restarted in their containers, and containers of Compose
// are restarted.
//
// # Concurrency
//
// Run owns one goroutine per restart, and cancels the one that a newer restart of the same resource overtakes.
package restartcontroller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/patience"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/workers"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// limit bounds a restart. It must leave a process the time to end on its own.
const limit = 45 * time.Second

// Pods deletes pods.
type Pods interface {
	RemovePod(ctx context.Context, req k8s.RemovePodRequest) error
}

// Processes restarts processes that run under the synclet.
type Processes interface {
	Restart(ctx context.Context, c model.ContainerRef, log logstore.Logger) error
}

// Containers restarts containers of Compose.
type Containers interface {
	RestartContainer(ctx context.Context, containerID string, gently bool) error
}

// Subscriber is the RestartController.
type Subscriber struct {
	pods       Pods
	processes  Processes
	containers Containers
	logs       *logstore.Store
}

// New returns the subscriber. Any of the parts may be nil in a session that does not need it.
func New(pods Pods, processes Processes, containers Containers, logs *logstore.Store) *Subscriber {
	return &Subscriber{pods: pods, processes: processes, containers: containers, logs: logs}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "RestartController",
		Doc:       "Restarts processes in containers, and replaces pods, on request.",
		Inputs:    store.Reads(state.Restarts, state.Resources, state.Updates, state.Pods, state.Synclets),
		Outputs:   append(store.Emits(state.RestartEnded{}), store.Shares(state.ObjectsLost{})...),
		Calls:     []store.Call{{To: "SyncletManager", Doc: "Processes are restarted through the conversations that it keeps open."}},
		Externals: []string{"kubernetes", "docker"},
		Stage:     store.StageController,
		Feedback:  "a restart that has ended is not carried out again",
	}
}

// job is one restart: its steps were decided when it began.
type job struct {
	serial int
	steps  []step
}

// step restarts one pod, process or container.
type step struct {
	what string
	do   func(ctx context.Context, log logstore.Logger) error
	// applied is the UID of a pod that the resource itself has applied: nothing but another update brings it back.
	applied string
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	same := func(a, b job) bool { return a.serial == b.serial }
	restarts := workers.NewSet(ctx, same, func(ctx context.Context, name model.ManifestName, j job) {
		ended, gone, ok := s.restart(ctx, name, j)
		if !ok {
			return
		}
		rt.Dispatch(ended)
		if len(gone) > 0 {
			rt.Dispatch(state.ObjectsLost{UIDs: map[model.ManifestName][]string{name: gone}})
		}
	})
	defer restarts.Stop()
	begun := map[model.ManifestName]job{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		}
		v := rt.View()
		wanted := map[model.ManifestName]job{}
		for e := range state.Restarts.In(v).Refs() {
			r := e.Value
			m := state.Resources.In(v).Value(e.ID).Manifest
			if !r.Running() || m.IsLocal() {
				continue
			}
			j, ok := begun[r.Resource]
			if !ok || j.serial != r.Serial {
				j = job{r.Serial, s.steps(v, m, r.Pods)}
			}
			wanted[r.Resource] = j
		}
		begun = wanted
		restarts.Want(wanted)
		rt.Succeeded()
	}
}

// steps returns the steps of a restart.
func (s *Subscriber) steps(v store.View, m model.Manifest, pods bool) (out []step) {
	all := state.PodsOf(v, m.Name)
	u := state.Updates.In(v).Value(string(m.Name))
	switch {
	case m.IsCompose():
		if s.containers == nil {
			return nil
		}
		for _, p := range all {
			if p.Stands() && p.OfCompose() {
				out = append(out, step{what: "container " + p.Name, do: func(ctx context.Context, log logstore.Logger) error {
					return liveupdate.Attended("restart "+p.Name, log, func() error { return s.containers.RestartContainer(ctx, p.UID, true) })
				}})
			}
		}
	case pods && s.pods != nil:
		var owners []string
		for _, o := range u.Applied {
			owners = append(owners, o.UID)
		}
		for _, p := range state.OwnPods(u, all) {
			one := step{what: "pod " + p.Name, do: func(ctx context.Context, log logstore.Logger) error {
				defer patience.Tell(log, "the cluster to delete pod "+p.Name)()
				return s.pods.RemovePod(ctx, k8s.RemovePodRequest{Cluster: p.Cluster, Namespace: p.Namespace, Name: p.Name, UID: p.UID, Owners: owners})
			}}
			if slices.Contains(owners, p.UID) {
				one.applied = p.UID
			}
			out = append(out, one)
		}
	case !pods && s.processes != nil:
		for _, c := range state.Supervised(v, m.Name) {
			out = append(out, step{what: fmt.Sprintf("process in %s of pod %s", c.Name, c.Pod), do: func(ctx context.Context, log logstore.Logger) error {
				return s.processes.Restart(ctx, c, log)
			}})
		}
	}
	return out
}

// lost adds the pod that the step has removed for good.
func (s step) lost(gone []string) []string {
	if s.applied != "" {
		gone = append(gone, s.applied)
	}
	return gone
}

// restart carries out a restart, and returns the UIDs of removed objects that nothing brings back by itself. ok is false if it
// was cancelled, because it is over or another one has overtaken it.
func (s *Subscriber) restart(ctx context.Context, name model.ManifestName, j job) (ended state.RestartEnded, gone []string, ok bool) {
	log := s.logs.Logger(name, fmt.Sprintf("restart:%s:%d", name, j.serial), logstore.SourceBuild)
	ended = state.RestartEnded{Resource: name, Serial: j.serial}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, step := range j.steps {
		logstore.Infof(log, "Restarting %s", step.what)
		err := step.do(bounded, log)
		switch {
		case ctx.Err() != nil:
			return ended, nil, false
		case k8s.IsNotFound(err): // it ended on its own meanwhile, and its replacement is new
			logstore.Infof(log, "Gone already: %s", step.what)
			gone = step.lost(gone)
		case errors.Is(err, context.DeadlineExceeded):
			ended.Err = cmp.Or(ended.Err, fmt.Sprintf("restart %s: no answer within %s", step.what, limit))
		case err != nil:
			ended.Err = cmp.Or(ended.Err, fmt.Sprintf("restart %s: %s", step.what, problem.Text(err)))
		default:
			ended.Done = append(ended.Done, step.what)
			gone = step.lost(gone)
		}
	}
	if len(j.steps) == 0 {
		ended.Err = "nothing was left to restart"
	}
	if ended.Err != "" {
		logstore.Errorf(log, "Restart failed: %s", ended.Err)
	}
	logstore.Flush(log)
	return ended, gone, true
}
