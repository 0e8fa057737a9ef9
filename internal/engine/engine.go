// Package engine lists the subscribers that hone runs, and runs them.
//
// # Concurrency
//
// Run owns everything that a session starts: the loop and all subscribers, through store.Supervisor. When it returns,
// everything has ended, or its error names the parts that have not.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/api/server"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/portforward"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/buildcontroller"
	"github.com/hone-dev/hone/internal/subscribers/clustermonitor"
	"github.com/hone-dev/hone/internal/subscribers/collector"
	"github.com/hone-dev/hone/internal/subscribers/commandcontroller"
	"github.com/hone-dev/hone/internal/subscribers/composewatcher"
	"github.com/hone-dev/hone/internal/subscribers/copykeeper"
	"github.com/hone-dev/hone/internal/subscribers/deploydiscovery"
	"github.com/hone-dev/hone/internal/subscribers/driftwatcher"
	"github.com/hone-dev/hone/internal/subscribers/enginemonitor"
	"github.com/hone-dev/hone/internal/subscribers/eventwatcher"
	"github.com/hone-dev/hone/internal/subscribers/historian"
	"github.com/hone-dev/hone/internal/subscribers/podlogmanager"
	"github.com/hone-dev/hone/internal/subscribers/podwatcher"
	"github.com/hone-dev/hone/internal/subscribers/portforwardcontroller"
	"github.com/hone-dev/hone/internal/subscribers/processcontroller"
	"github.com/hone-dev/hone/internal/subscribers/pruner"
	"github.com/hone-dev/hone/internal/subscribers/restartcontroller"
	"github.com/hone-dev/hone/internal/subscribers/revisionwatcher"
	"github.com/hone-dev/hone/internal/subscribers/servicewatcher"
	"github.com/hone-dev/hone/internal/subscribers/sessioncontroller"
	"github.com/hone-dev/hone/internal/subscribers/syncletmanager"
	"github.com/hone-dev/hone/internal/subscribers/tiltfileloader"
	"github.com/hone-dev/hone/internal/subscribers/watchmanager"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/internal/update/synclet"
	"github.com/hone-dev/hone/internal/update/unwatched"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/model"
)

// Parts are the parts of a session. Kube, Fleet and Clusters are nil in a session without any cluster.
type Parts struct {
	Session state.Session
	Logs    *logstore.Store
	// Kube is the client of the session's own cluster, and Fleet has the clients of all.
	Kube   k8s.Interface
	Fleet  *k8s.Fleet
	Known  model.Cluster
	Docker docker.Client
	// Elsewhere is the builder that takes the place of the engine; nil for none.
	Elsewhere    *buildkit.Choice
	Builder      buildanddeploy.BuildAndDeployer
	Clusters     *buildanddeploy.Clusters
	DownCommands *buildanddeploy.DownCommands
	Synclets     *synclet.Pool
	Runs         *liveupdate.Runs
	Tiltfile     tiltfile.Options
	// Evaluated is the first evaluation of the Tiltfile; nil if the session has to make it.
	Evaluated *tiltfile.Evaluated
	// Copies is the file that records which files were copied into containers; empty for a session that keeps no record.
	Copies string
	// Past is the file of the updates and the log lines for the project's next session; empty for a session that keeps none.
	Past string
	// Watch is false for a session that leaves files alone once it has read them (ci).
	Watch bool
	// Adopt lets the session take over objects that others made.
	Adopt bool
	// Reuse lets the session take the known image of the same inputs even where a command may depend on more than it declares.
	Reuse bool
	// Beside, if set, names the other running sessions of the project.
	Beside func(context.Context) []string
	// Namespace is for objects that name none. Host is the host on which ports are opened.
	Namespace string
	Host      string
	// Forward is false for a session that opens no ports.
	Forward bool
	// SessionOf returns the name of the session that a process runs, "" for any other process; nil if no session is known.
	SessionOf func(pid int) string
	// Env is added to the environment of local commands.
	Env    []string
	Server *server.Subscriber
	// View shows the session to the user, and Report, if set, records the events.
	View, Report store.Subscriber
	Log          *slog.Logger
}

// Subscribers returns all subscribers of a session. It starts none of them.
func Subscribers(p Parts) []store.Subscriber {
	var monitor clustermonitor.Client
	var dials func(cluster string) portforward.Dialer
	var pods podwatcher.Client
	var services servicewatcher.Client
	var objects deploydiscovery.Client
	var metadata driftwatcher.Client
	var events eventwatcher.Client
	var podLogs podlogmanager.Client
	var removesPods restartcontroller.Pods
	if p.Kube != nil {
		monitor, pods, services, objects, events, podLogs, removesPods = p.Kube, p.Fleet, p.Fleet, p.Fleet, p.Fleet, p.Fleet, p.Fleet
		if p.Watch { // otherwise the session ends soon
			metadata = p.Fleet
		}
		if p.Forward {
			dials = func(cluster string) portforward.Dialer { return dialer{p.Fleet, cluster} }
		}
	}
	var prepares buildcontroller.Preparer
	var compares driftwatcher.Comparer
	var revisions revisionwatcher.Ledger
	var own collector.Cluster
	if p.Clusters != nil {
		own, prepares, compares, revisions = p.Clusters.Own(), p.Clusters, p.Clusters, p.Clusters
	}
	var downCommands collector.DownCommands
	if p.DownCommands != nil {
		downCommands = p.DownCommands
	}
	var containers composewatcher.Engine
	var removes compose.Engine
	var containerLogs podlogmanager.Engine
	var restartsContainers restartcontroller.Containers
	if p.Docker != nil {
		containers, removes, containerLogs, restartsContainers = p.Docker, p.Docker, p.Docker, p.Docker
	}
	watches := watchmanager.New(watch.Options{Logger: p.Log}, p.Watch)
	var synclets syncletmanager.Pool
	var restartsProcesses restartcontroller.Processes
	if p.Synclets != nil {
		synclets, restartsProcesses = p.Synclets, p.Synclets
		p.Server.AnswerBy(p.goesOn)
	}
	p.Server.FindUnwatchedBy(findUnwatched())
	all := []store.Subscriber{
		sessioncontroller.New(p.Session, p.Logs),
		tiltfileloader.New(p.Evaluated.Load, p.Tiltfile, p.Logs),
		watches,
		clustermonitor.New(monitor, p.Known).With(p.client),
		enginemonitor.New(p.Docker).With(p.builder),
		buildcontroller.New(p.Builder, p.Logs, buildcontroller.Options{Namespace: p.Namespace, Env: p.Env, Adopt: p.Adopt, Reuse: p.Reuse, Recall: p.Copies != "", Cluster: prepares, Bases: imagebuild.NewBases(p.Docker).Unless(p.Elsewhere.Away), Settled: watches.Settled}),
		syncletmanager.New(synclets, p.Logs),
		copykeeper.New(p.Copies, p.Log),
		historian.New(p.Past, p.Logs, p.Log),
		restartcontroller.New(removesPods, restartsProcesses, restartsContainers, p.Logs),
		collector.New(own, removes, downCommands, p.Logs, collector.Options{Namespace: p.Namespace, Beside: p.Beside}).With(p.collects),
		pruner.New(imagebuild.New(p.Docker), p.Logs),
		podwatcher.New(pods),
		composewatcher.New(containers),
		servicewatcher.New(services),
		deploydiscovery.New(objects),
		driftwatcher.New(metadata, compares, p.Logs),
		eventwatcher.New(events, p.Logs),
		revisionwatcher.New(revisions),
		podlogmanager.New(podLogs, containerLogs, p.Logs),
		portforwardcontroller.New(dials, p.Host, p.Logs).OpenWith(portforward.Opener{Session: p.SessionOf}),
		processcontroller.New(p.Logs, p.Env),
		commandcontroller.New(p.Logs, p.Env),
		p.Server.SettleBy(watches.Settle),
		p.View,
	}
	if p.Report != nil {
		all = append(all, p.Report)
	}
	return all
}

// client returns the client of a declared cluster.
func (p Parts) client(on string) (clustermonitor.Client, error) { return p.Fleet.On(on) }

// collects returns the part of a declared cluster that collects.
func (p Parts) collects(ctx context.Context, on string) (collector.Cluster, error) {
	return p.Clusters.On(ctx, on)
}

// dialer connects to the pods of one cluster.
type dialer struct {
	fleet   *k8s.Fleet
	cluster string
}

var _ portforward.Dialer = dialer{}

// DialPod implements portforward.Dialer.
func (d dialer) DialPod(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	c, err := d.fleet.On(d.cluster)
	if err != nil {
		return nil, err
	}
	return c.DialPod(ctx, namespace, pod, port)
}

// findUnwatched returns what finds the inputs that nothing watches. Relative sources of secrets belong to the working directory.
func findUnwatched() (u server.Unwatched) {
	if dir, err := os.Getwd(); err == nil {
		u.Changed, u.Since = unwatched.New(dir).Changed, unwatched.Since
	}
	return u
}

// Graph returns the graph of all subscribers' contracts. It needs no cluster, no engine and no Tiltfile.
func Graph(view store.Subscriber) store.Graph {
	var contracts []store.Contract
	for _, s := range Subscribers(Parts{Server: server.New(server.Options{}), View: view}) {
		contracts = append(contracts, s.Contract())
	}
	return store.NewGraph(state.Schema, contracts)
}

// Engine is a session that is ready to run.
type Engine struct {
	store      *store.Store
	supervisor *store.Supervisor
	// end is set before anything is stopped, except after a failure of the loop itself, and before Run returns.
	end atomic.Pointer[ending]
}

// New verifies the contracts of all subscribers and returns the engine.
func New(s *store.Store, p Parts) (*Engine, error) {
	sup, err := store.NewSupervisor(s, p.Log, Subscribers(p)...)
	if err != nil {
		return nil, err
	}
	return &Engine{store: s, supervisor: sup}, nil
}

// Run runs the session until it has reached its end or ctx is done. It returns the session's failure, if it has one.
func (e *Engine) Run(ctx context.Context) error {
	wake, stop := e.store.Watch(state.Sessions.Name())
	defer stop()
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		defer cancel()
		for {
			select {
			case <-ctx.Done():
			case <-running.Done(): // the loop has panicked
			case <-wake:
				if state.TheSession(e.store.Snapshot().All()).Ended == nil {
					continue
				}
			}
			e.end.Store(&ending{e.store.Snapshot().All(), time.Now()})
			return
		}
	}()
	err := e.supervisor.Run(running)
	cancel()
	<-stopped
	if end := state.TheSession(e.store.Snapshot().All()).Ended; end != nil && end.Failure != "" {
		return errors.Join(&Failure{Text: end.Failure, Cause: end.Cause}, err)
	}
	if err != nil {
		return fmt.Errorf("run the session: %w", err)
	}
	return nil
}

// End returns the state at the end of the session, before anything was stopped, and the time of the end. Before the end it
// returns the newest state.
func (e *Engine) End() (store.View, time.Time) {
	if end := e.end.Load(); end != nil {
		return end.view, end.at
	}
	return e.store.Snapshot().All(), time.Now()
}

// goesOn asks a container that was updated in place whether its run still goes on: the run, if it is known, and its synclet, if it has one.
func (p Parts) goesOn(ctx context.Context, id string, synced bool) (goesOn, known bool) {
	goesOn, known = p.Runs.GoesOn(ctx, id)
	if !synced {
		return goesOn, known
	}
	ended := known && !goesOn
	return !ended && p.Synclets.Answers(ctx, id), true
}

// builder returns the builder that takes the place of the engine; nil for the engine's own.
func (p Parts) builder(declared model.Builder) enginemonitor.Builder {
	if is := p.Elsewhere.For(declared); is != nil {
		return is
	}
	return nil
}

// ending is the state at the end of a session.
type ending struct {
	view store.View
	at   time.Time
}

// Failure is the reason why a session ended without success.
type Failure struct {
	Text  string
	Cause state.EndCause
}

// Error returns the reason.
func (f *Failure) Error() string { return f.Text }

var _ error = (*Failure)(nil)
