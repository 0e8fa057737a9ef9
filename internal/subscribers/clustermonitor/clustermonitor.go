// Package clustermonitor detects the clusters that the session works on, and checks whether each answers.
//
// # Concurrency
//
// Run owns one goroutine per cluster.
package clustermonitor

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/base/workers"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	pollHealthy = 15 * time.Second
	pollMin     = time.Second
	// pollAway is the longest pause while the cluster does not answer, since all updates wait for its return.
	pollAway = 4 * time.Second
	// pollRefused is the pause if no connection is possible: an attempt costs next to nothing, and the line may be back at
	// any time.
	pollRefused = 500 * time.Millisecond
	pollTimeout = 10 * time.Second
	// startPatience bounds the wait, at the start, for a cluster that answers only that it cannot serve requests now.
	startPatience = time.Minute
	// tolerated is the number of polls in a row after which a cluster counts as gone that was connected, or whose answers break off.
	tolerated = 2
)

// Client queries a cluster.
type Client interface {
	// Cluster describes the cluster from the kubeconfig, whose address may change.
	Cluster() model.Cluster
	Detect(ctx context.Context) (model.Cluster, error)
	Healthy(ctx context.Context) error
	// Alive is the cheapest request; Quiet returns the time for which nothing has arrived, as in k8s.Interface.
	Alive(ctx context.Context) error
	Quiet() (d time.Duration, pinged bool)
	// Stuck returns the time for which nothing has arrived on one of the pinged connections. Renew waits for an answer on
	// a new one, and replaces dead ones.
	Stuck() time.Duration
	Renew(ctx context.Context) error
}

// Subscriber is the ClusterMonitor.
type Subscriber struct {
	client Client
	known  model.Cluster
	open   func(cluster string) (Client, error)
}

// New returns the subscriber. A nil client stands for a session without any kubeconfig; known is the cluster according to
// the kubeconfig.
func New(client Client, known model.Cluster) *Subscriber {
	return &Subscriber{client: client, known: known}
}

// With sets the function that opens a declared cluster by its context. Call it before Run.
func (s *Subscriber) With(open func(cluster string) (Client, error)) *Subscriber {
	s.open = open
	return s
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "ClusterMonitor",
		Doc:       "Detects the clusters that the session works on, and keeps checking whether each answers.",
		Inputs:    store.Reads(state.Sessions, state.Clusters, state.Resources, state.Tiltfiles),
		Outputs:   store.Emits(state.ClusterReported{}, state.ClusterLeft{}),
		Externals: []string{"kubernetes"},
		Stage:     store.StageWatch,
		Feedback:  "it checks at once when an update could not reach the cluster",
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	// The start is the first event of a session.
	if !rt.Await(ctx, func(v store.View) bool { return !state.TheSession(v).StartedAt.IsZero() }) {
		return nil
	}
	if s.client == nil {
		rt.Dispatch(state.ClusterReported{Err: "no kubeconfig was found: set KUBECONFIG, or choose a cluster with --context"})
		return nil
	}
	same := func(a, b struct{}) bool { return true }
	monitors := workers.NewSet(ctx, same, func(ctx context.Context, on string, _ struct{}) {
		branch, detach := rt.Branch()
		defer detach()
		s.monitor(ctx, branch, on)
	})
	defer monitors.Stop()
	var watched []string
	for {
		v := rt.View()
		declared := state.DeclaredClusters(v)
		wanted := map[string]struct{}{"": {}}
		for _, on := range declared {
			wanted[on] = struct{}{}
		}
		monitors.Reconcile(wanted)
		for _, on := range watched {
			if _, still := wanted[on]; !still {
				rt.Dispatch(state.ClusterLeft{On: on})
			}
		}
		watched = declared
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		}
	}
}

// monitor follows one cluster, named as in model.K8sTarget, until ctx is done. While its client cannot be opened, it reports that.
func (s *Subscriber) monitor(ctx context.Context, rt *store.Runtime, on string) {
	if on == "" {
		(&monitor{client: s.client, known: s.known}).run(ctx, rt)
		return
	}
	pause := retry.Backoff{First: pollMin, Most: pollHealthy}
	for {
		client, err := s.open(on)
		if err == nil {
			(&monitor{on: on, client: client, known: client.Cluster()}).run(ctx, rt)
			return
		}
		rt.Dispatch(state.ClusterReported{On: on, Cluster: model.Cluster{Context: on}, Err: problem.Text(err), Problem: state.ProblemOf(err)})
		if !pause.Sleep(ctx) {
			return
		}
	}
}

// monitor checks whether one cluster answers. It belongs to one goroutine.
type monitor struct {
	// on is the context of a declared cluster; empty for the session's own.
	on     string
	client Client
	known  model.Cluster
}

// run reports until ctx is done.
func (m *monitor) run(ctx context.Context, rt *store.Runtime) {
	cluster, detected, silent, failures, pause := m.known, false, false, 0, pollMin
	var heard time.Time // before the first of the failures
	patient := time.Now().Add(startPatience)
	for {
		var err, silence error
		if detected && !silent {
			err, silence = m.check(ctx, rt, cluster, failures == 0)
		} else {
			err = m.ask(ctx, &cluster, &detected, silent)
		}
		if ctx.Err() != nil {
			return
		}
		cluster.Server = m.client.Cluster().Server
		if err == nil && silence == nil {
			failures, pause, silent = 0, pollHealthy, false
			rt.Dispatch(state.ClusterReported{On: m.on, Cluster: cluster, Connected: true})
			rt.Succeeded()
			var ok bool
			if silence, ok = m.listen(ctx, rt, cluster, time.Now(), pause); !ok {
				return
			}
			if silence == nil {
				continue
			}
		}
		if failures++; silence != nil {
			err, failures, silent = silence, tolerated, true // it needs no second opinion
		}
		if heard.IsZero() || pause == pollHealthy {
			quiet, _ := m.client.Quiet()
			heard, pause = time.Now().Add(-quiet), pollMin
		}
		busy := k8s.AsBusy(err)
		report := state.ClusterReported{On: m.on, Cluster: cluster, Err: problem.Text(err), Problem: state.ProblemOf(err)}
		if detected {
			report.Heard = heard
		}
		if busy != nil && !detected {
			pause = max(pause, busy.RetryAfter)
			report.Starting = !time.Now().Add(pause).After(patient)
		}
		if unheard := !detected && !k8s.BrokeOff(err); unheard || failures >= tolerated {
			rt.Dispatch(report)
		}
		if !m.await(ctx, rt, pause) {
			return
		}
		if pause = min(2*pause, pollAway); silent {
			pause = listenAway // Renew makes the pauses
		} else if detected && k8s.IsUnreachable(err) {
			pause = pollRefused
		}
	}
}

// ask detects the cluster the first time, and afterwards only checks whether it answers: a silent one on a new connection.
func (m *monitor) ask(ctx context.Context, cluster *model.Cluster, detected *bool, silent bool) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	if *detected && silent {
		quiet, _ := m.client.Quiet()
		if m.client.Renew(ctx) != nil { // the old connections may be dead without an error
			return k8s.Silent(*cluster, quiet)
		}
	}
	if *detected {
		return m.client.Healthy(ctx)
	}
	c, err := m.client.Detect(ctx)
	if err == nil {
		*cluster, *detected = c, true
	}
	return err
}
