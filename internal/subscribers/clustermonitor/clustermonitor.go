// Package clustermonitor finds out which cluster the session works on and whether it answers.
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
	// pollAway is the longest pause while the cluster does not answer: everybody waits for it to be back.
	pollAway    = 4 * time.Second
	pollTimeout = 10 * time.Second
	// startPatience is for how long a cluster that answers, but only that it cannot serve requests now, is waited for at the start.
	startPatience = time.Minute
	// tolerated is how many polls in a row may fail before a connected cluster counts as gone.
	tolerated = 2
)

// Client asks a cluster about itself.
type Client interface {
	Detect(ctx context.Context) (model.Cluster, error)
	Healthy(ctx context.Context) error
}

// Subscriber is the ClusterMonitor.
type Subscriber struct {
	client Client
	known  model.Cluster
}

// New returns the subscriber. A nil client stands for a session without any kubeconfig; known is what the kubeconfig says.
func New(client Client, known model.Cluster) *Subscriber {
	return &Subscriber{client: client, known: known}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "ClusterMonitor",
		Doc:       "Finds out which cluster the session works on, and keeps asking whether it answers.",
		Inputs:    store.Reads(state.Sessions, state.Clusters),
		Outputs:   store.Emits(state.ClusterReported{}),
		Externals: []string{"kubernetes"},
		Stage:     store.StageWatch,
		Feedback:  "it asks at once when an update could not reach the cluster",
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	for state.TheSession(rt.View()).StartedAt.IsZero() { // that it has started is the first that is said of it
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		}
	}
	if s.client == nil {
		rt.Dispatch(state.ClusterReported{Err: "no kubeconfig was found: set KUBECONFIG, or choose a cluster with --context"})
		return nil
	}
	cluster, detected, failures, pause := s.known, false, 0, pollMin
	patient := time.Now().Add(startPatience)
	for {
		err := s.ask(ctx, &cluster, &detected)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			failures, pause = 0, pollHealthy
			rt.Dispatch(state.ClusterReported{Cluster: cluster, Connected: true})
			rt.Succeeded()
		} else {
			failures++
			if failures == 1 {
				pause = pollMin
			}
			busy := k8s.AsBusy(err)
			report := state.ClusterReported{Cluster: cluster, Err: problem.Text(err)}
			if busy != nil && !detected {
				pause = max(pause, busy.RetryAfter)
				report.Starting = !time.Now().Add(pause).After(patient)
			}
			if failures >= tolerated || !detected {
				rt.Dispatch(report)
			}
		}
		if !s.rest(ctx, rt, pause, err == nil) {
			return nil
		}
		if err != nil {
			pause = min(2*pause, pollAway)
		}
	}
}

// rest waits for the next poll, which comes at once when another subscriber finds that a cluster which was connected does not
// answer. It reports false when ctx is done.
func (s *Subscriber) rest(ctx context.Context, rt *store.Runtime, pause time.Duration, connected bool) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-rt.Wake():
			if c := state.TheCluster(rt.View()); connected && c.Ever && !c.Connected {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

// ask learns about the cluster the first time, and afterwards only whether it answers.
func (s *Subscriber) ask(ctx context.Context, cluster *model.Cluster, detected *bool) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	if *detected {
		return s.client.Healthy(ctx)
	}
	c, err := s.client.Detect(ctx)
	if err == nil {
		*cluster, *detected = c, true
	}
	return err
}
