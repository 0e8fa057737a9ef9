// Package clustermonitor detects the cluster that the session works on, and checks whether it answers.
package clustermonitor

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
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
}

// New returns the subscriber. A nil client stands for a session without any kubeconfig; known is the cluster according to
// the kubeconfig.
func New(client Client, known model.Cluster) *Subscriber {
	return &Subscriber{client: client, known: known}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "ClusterMonitor",
		Doc:       "Detects the cluster that the session works on, and keeps checking whether it answers.",
		Inputs:    store.Reads(state.Sessions, state.Clusters, state.Resources),
		Outputs:   store.Emits(state.ClusterReported{}),
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
	cluster, detected, silent, failures, pause := s.known, false, false, 0, pollMin
	var heard time.Time // before the first of the failures
	patient := time.Now().Add(startPatience)
	for {
		var err, silence error
		if detected && !silent {
			err, silence = s.check(ctx, rt, cluster, failures == 0)
		} else {
			err = s.ask(ctx, &cluster, &detected, silent)
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the end of ctx is the ordinary end
		}
		cluster.Server = s.client.Cluster().Server
		if err == nil && silence == nil {
			failures, pause, silent = 0, pollHealthy, false
			rt.Dispatch(state.ClusterReported{Cluster: cluster, Connected: true})
			rt.Succeeded()
			var ok bool
			if silence, ok = s.listen(ctx, rt, cluster, time.Now(), pause); !ok {
				return nil
			}
			if silence == nil {
				continue
			}
		}
		if failures++; silence != nil {
			err, failures, silent = silence, tolerated, true // it needs no second opinion
		}
		if heard.IsZero() || pause == pollHealthy {
			quiet, _ := s.client.Quiet()
			heard, pause = time.Now().Add(-quiet), pollMin
		}
		busy := k8s.AsBusy(err)
		report := state.ClusterReported{Cluster: cluster, Err: problem.Text(err), Problem: state.ProblemOf(err)}
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
		if !s.await(ctx, rt, pause) {
			return nil
		}
		if pause = min(2*pause, pollAway); silent {
			pause = listenAway // Renew makes the pauses
		} else if detected && k8s.IsUnreachable(err) {
			pause = pollRefused
		}
	}
}

// ask detects the cluster the first time, and afterwards only checks whether it answers: a silent one on a new connection.
func (s *Subscriber) ask(ctx context.Context, cluster *model.Cluster, detected *bool, silent bool) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	if *detected && silent {
		quiet, _ := s.client.Quiet()
		if s.client.Renew(ctx) != nil { // the old connections may be dead without an error
			return k8s.Silent(*cluster, quiet)
		}
	}
	if *detected {
		return s.client.Healthy(ctx)
	}
	c, err := s.client.Detect(ctx)
	if err == nil {
		*cluster, *detected = c, true
	}
	return err
}
