package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/build"
	"github.com/hone-dev/hone/internal/buildanddeploy"
	"github.com/hone-dev/hone/internal/deploy"
	"github.com/hone-dev/hone/internal/docker"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/k8s"
	"github.com/hone-dev/hone/internal/kinds"
	"github.com/hone-dev/hone/internal/liveupdate"
	"github.com/hone-dev/hone/internal/logstore"
	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/internal/server"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/internal/synclet"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/pkg/model"
)

// sessionParts are the parts of a session and the store that it runs on.
type sessionParts struct {
	engine.Parts
	Store *store.Store
}

func provideKubeconfig(o options) (*k8s.Kubeconfig, error) {
	return k8s.Load(k8s.Config{Context: o.context, Namespace: o.namespace})
}

// provideKube returns nil where there is no kubeconfig at all: a session may do without a cluster.
func provideKube(kc *k8s.Kubeconfig) (*k8s.Client, func(), error) {
	if kc.Cluster().Context == "" {
		return nil, func() {}, nil
	}
	c, err := kc.Connect()
	if err != nil {
		return nil, nil, err
	}
	return c, func() { _ = c.Close() }, nil
}

func provideDocker(ctx context.Context, kc *k8s.Kubeconfig) (docker.Client, func(), error) {
	endpoint, err := docker.FindFor(ctx, kc.Cluster())
	if err != nil {
		return nil, nil, err
	}
	e, err := docker.New(endpoint)
	if err != nil {
		return nil, nil, err
	}
	return e, func() { _ = e.Close() }, nil
}

// provideLogs spills to a folder of this process below the user's own state, which nobody else can prepare or read. What
// a crash leaves there, the next session removes.
func provideLogs() (*logstore.Store, func(), error) {
	logs, err := logstore.New(logstore.Options{Dir: filepath.Join(stateDir(), "logs")})
	if err != nil {
		return nil, nil, err
	}
	return logs, func() { _ = logs.Close() }, nil
}

// provideLog returns hone's own log: a file, since the terminal belongs to the user's resources.
func provideLog(o options) (*slog.Logger, func(), error) {
	if !o.global.debug && !o.global.verbose {
		log := slog.New(slog.DiscardHandler)
		k8s.RouteKlog(log)
		return log, func() {}, nil
	}
	path := filepath.Join(stateDir(), "hone.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("open hone's log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open hone's log: %w", err)
	}
	level := slog.LevelInfo
	if o.global.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(io.Writer(f), &slog.HandlerOptions{Level: level}))
	k8s.RouteKlog(log)
	return log, func() { _ = f.Close() }, nil
}

// provideListener opens the port of the session's API; nil when none is wanted.
func provideListener(ctx context.Context, o options) (net.Listener, func(), error) {
	if o.port == 0 {
		return nil, func() {}, nil
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(o.host, strconv.Itoa(o.port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, nil, problem.Wrap(err, fmt.Sprintf("hone cannot start because you already have another process on port %d", o.port),
			"if that is another session, end it; else choose another port, or none: hone up --port=0")
	case err != nil:
		return nil, nil, problem.Wrap(err, "cannot open the port of the session's API", "choose another with --host and --port, or none with --port=0")
	}
	return l, func() { _ = l.Close() }, nil
}

// commandEnv is added to the environment of every command that the session starts. It says where the session's API is,
// and makes the commands use the session's cluster and namespace where those are not the user's current ones.
type commandEnv []string

func provideCommandEnv(o options, kc *k8s.Kubeconfig) (commandEnv, error) {
	env := commandEnv{"TILT_HOST=" + o.host, "TILT_PORT=" + strconv.Itoa(o.port)}
	overlay, err := overlayEnv(kc)
	return append(env, overlay...), err
}

// overlayEnv makes commands use the cluster and namespace that were chosen, where those are not the user's current ones.
func overlayEnv(kc *k8s.Kubeconfig) ([]string, error) {
	overlay, err := kc.Overlay(filepath.Join(stateDir(), "kubeconfig"))
	if err != nil || overlay == "" {
		return nil, err
	}
	return []string{"KUBECONFIG=" + overlay}, nil
}

func provideServer(l net.Listener, logs *logstore.Store, log *slog.Logger) *server.Subscriber {
	return server.New(server.Options{TCP: l, Version: Version, Kinds: kinds.All(), Logs: logs, Log: log})
}

func provideSession(o options, kc *k8s.Kubeconfig, l net.Listener) state.Session {
	s := state.Session{Command: o.command, Tiltfile: o.tiltfile, Args: o.args, UpdateMode: o.updateMode, CITimeout: o.timeout,
		Project: deploy.ProjectID(o.tiltfile, kc.Cluster().Context), RunID: uuid.NewString(),
		PID: os.Getpid(), Version: Version}
	if l != nil {
		s.URL = "http://" + net.JoinHostPort(o.host, strconv.Itoa(o.port)) + "/"
	}
	return s
}

func provideStore(log *slog.Logger) *store.Store { return store.New(state.Schema, store.WithLog(log)) }

func provideCluster(kube *k8s.Client, s state.Session, env commandEnv) (*buildanddeploy.Cluster, error) {
	if kube == nil {
		return nil, nil
	}
	return buildanddeploy.NewCluster(kube.RESTConfig(), kube.Mapper(), filepath.Join(stateDir(), "ledger"), s.Project, s.RunID, env)
}

// provideSynclets returns nil in a session without a cluster.
func provideSynclets(kube *k8s.Client) (*synclet.Pool, func(), error) {
	if kube == nil {
		return nil, func() {}, nil
	}
	p := synclet.NewPool(podExecer{kube})
	return p, p.Close, nil
}

// provideInjection decides what pods are given, and lets the pool bring the same image to pods that run.
func provideInjection(kube *k8s.Client, containers docker.Client, pool *synclet.Pool, here *buildanddeploy.Surroundings, st *store.Store) *buildanddeploy.Synclets {
	if kube == nil {
		return nil
	}
	image := build.NewSyncletImage(containers, build.NewDeliverer(containers))
	s := buildanddeploy.NewSynclets(containers, image, pool, here)
	pool.Beside(beside{kube, s, st})
	return s
}

func provideSurroundings(containers docker.Client) *buildanddeploy.Surroundings {
	return buildanddeploy.NewSurroundings(containers)
}

// beside adds containers to the pods of the session's cluster.
type beside struct {
	*k8s.Client
	synclets *buildanddeploy.Synclets
	store    *store.Store
}

var _ synclet.Beside = beside{}

// Image implements synclet.Beside.
func (b beside) Image(ctx context.Context) (string, error) {
	v := b.store.Snapshot().All()
	return b.synclets.Deliver(ctx, state.TheCluster(v).Cluster, state.TheTiltfile(v).Result.DefaultRegistry, "", logstore.Discard)
}

func provideBuilder(kube *k8s.Client, containers docker.Client, cluster *buildanddeploy.Cluster, synclets *synclet.Pool,
	injection *buildanddeploy.Synclets, here *buildanddeploy.Surroundings) buildanddeploy.BuildAndDeployer {
	chain := []buildanddeploy.BuildAndDeployer{buildanddeploy.Local{}, buildanddeploy.Compose{}}
	if kube != nil {
		has := func(ctx context.Context, id string) bool {
			running, err := containers.Containers(ctx, nil)
			return err == nil && slices.ContainsFunc(running, func(c docker.Container) bool { return c.ID == id })
		}
		chain = append(chain,
			buildanddeploy.NewSynclet(synclets),
			buildanddeploy.NewContainer(containers, has),
			buildanddeploy.NewExec(podExecer{kube}),
			buildanddeploy.NewImage(here, build.New(containers), build.NewDeliverer(containers), cluster, injection))
	}
	c := buildanddeploy.NewComposite(chain...)
	if cluster != nil {
		c.Examine(cluster.Examine)
	}
	return c
}

// podExecer is a cluster as live updates see it.
type podExecer struct{ kube *k8s.Client }

var _ liveupdate.PodExecer = podExecer{}

// Exec implements liveupdate.PodExecer.
func (p podExecer) Exec(ctx context.Context, namespace, pod, container string, argv []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return p.kube.Exec(ctx, k8s.ExecRequest{Namespace: namespace, Pod: pod, Container: container, Argv: argv,
		Stdin: stdin, Stdout: stdout, Stderr: stderr})
}

func provideParts(o options, kc *k8s.Kubeconfig, kube *k8s.Client, containers docker.Client, logs *logstore.Store, log *slog.Logger,
	srv *server.Subscriber, session state.Session, st *store.Store, cluster *buildanddeploy.Cluster,
	builder buildanddeploy.BuildAndDeployer, synclets *synclet.Pool, env commandEnv) sessionParts {
	known := kc.Cluster()
	namespace := cmp.Or(o.namespace, known.Namespace)
	p := engine.Parts{
		Session: session, Logs: logs, Known: known, Docker: containers, Builder: builder, Cluster: cluster, Synclets: synclets,
		Tiltfile: tiltfile.Options{
			Cluster:   func() (model.Cluster, error) { return known, nil },
			Namespace: namespace, Env: append(os.Environ(), env...), Debug: o.global.debug,
		},
		Watch: o.command == state.CommandUp, Namespace: namespace, Host: o.host, Forward: o.forward, Env: env,
		Server: srv, Log: log,
	}
	if kube != nil {
		p.Kube = kube
	}
	return sessionParts{p, st}
}
