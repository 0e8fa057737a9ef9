package up

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/api/server"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/project"
	"github.com/hone-dev/hone/internal/cli/answers"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/crash"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/mcp"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/internal/update/synclet"
	"github.com/hone-dev/hone/internal/update/verdict"
	"github.com/hone-dev/hone/pkg/model"
	"github.com/hone-dev/hone/web"
	"github.com/hone-dev/hone/web/docs"
)

// sessionParts are the parts of a session and the store that it runs on.
type sessionParts struct {
	engine.Parts
	Store     *store.Store
	Claim     *sessions.Claim
	listeners listeners
	object    hud.ReadObject
	previous  hud.ReadPrevious
	plan      hud.MakePlan
	revision  hud.ReadRevision
	login     *server.PageLogin
}

func provideDocker(ctx context.Context, o options, elsewhere *buildkit.Choice) (docker.Client, func(), error) {
	return openEngine(ctx, o.project, elsewhere)
}

// openEngine returns the container engine, which need not be there while images are built elsewhere.
func openEngine(ctx context.Context, p *opened.Project, elsewhere *buildkit.Choice) (docker.Client, func(), error) {
	e, err := docker.Open(ctx, p.Known)
	if err != nil {
		return nil, nil, err
	}
	return docker.Optional(e, elsewhere.Away), func() { _ = e.Close() }, nil
}

func provideRegistries(o options) imagebuild.Kept { return o.project.Registries() }

func provideElsewhere(o options) (*buildkit.Choice, func(), error) { return openElsewhere(o.project) }

// openElsewhere returns the builder that takes the place of the engine.
func openElsewhere(p *opened.Project) (*buildkit.Choice, func(), error) {
	c, err := p.Elsewhere()
	if err != nil {
		return nil, nil, err
	}
	return c, func() { _ = c.Close() }, nil
}

// provideLogs spills to a folder of this process below the user's state folder, which no other user can prepare or read. The next
// session removes the files that a crash leaves there.
func provideLogs() (*logstore.Store, func(), error) {
	logs, err := logstore.New(logstore.Options{Dir: filepath.Join(command.StateDir(), "logs"), OnSecrets: crash.Hide})
	if err != nil {
		return nil, nil, err
	}
	return logs, func() { _ = logs.Close() }, nil
}

// provideRunning returns the project for the session, whose commands find the session and its API.
func provideRunning(o options, ses state.Session, c *sessions.Claim, d listeners) *opened.Project {
	env := []string{flags.SessionVariable + "=" + c.Info().Name}
	if d.tcp != nil {
		env = append(env, "TILT_PORT="+strconv.Itoa(d.port))
	}
	others := sessionsBeside(c)
	return o.project.During(opened.Run{ID: ses.RunID, Env: env, Prune: o.prune, Beside: func(ctx context.Context) bool { return len(others(ctx)) > 0 }})
}

// provideKube returns nil if there is no kubeconfig: a session may run without a cluster.
func provideKube(o options) (*k8s.Client, error) { return o.project.Kube() }

// provideFleet returns nil for a session without a cluster.
func provideFleet(p *opened.Project, kube *k8s.Client) *k8s.Fleet {
	if kube == nil {
		return nil
	}
	return k8s.NewFleet(kube, func(on string) (*k8s.Client, error) {
		part, err := p.In(model.ClusterDeclaration{Context: on})
		if err != nil {
			return nil, err
		}
		return part.Kube()
	})
}

// provideClusters returns nil for a session without a cluster.
func provideClusters(ctx context.Context, p *opened.Project) (*buildanddeploy.Clusters, error) {
	own, err := p.Cluster(ctx)
	if own == nil {
		return nil, err
	}
	return buildanddeploy.NewClusters(own, func(ctx context.Context, on string) (*buildanddeploy.Cluster, error) {
		part, err := p.In(model.ClusterDeclaration{Context: on})
		if err != nil {
			return nil, err
		}
		return part.Cluster(ctx)
	}), nil
}

func provideDownCommands(ctx context.Context, p *opened.Project) (*buildanddeploy.DownCommands, error) {
	return p.DownCommands(ctx)
}

func providePageLogin(d listeners) *server.PageLogin { return server.NewPageLogin(d.tcp) }

// webOf returns a function that opens the web page from a screen; nil if the session has none.
func webOf(login *server.PageLogin) func(resource string) (string, error) {
	if login.Address() == "" {
		return nil
	}
	return login.Ticket
}

// provideObject returns nil for a session without a cluster.
func provideObject(fleet *k8s.Fleet) hud.ReadObject {
	if fleet == nil {
		return nil
	}
	return fleet.ObjectYAML
}

// providePrevious returns nil for a session without a cluster.
func providePrevious(fleet *k8s.Fleet) hud.ReadPrevious {
	if fleet == nil {
		return nil
	}
	return fleet.PreviousLog
}

func provideServer(o options, p *opened.Project, d listeners, login *server.PageLogin, stop stopFunc, object hud.ReadObject, previous hud.ReadPrevious, logs *logstore.Store, plan hud.MakePlan, revision hud.ReadRevision, readOnly makeKubeconfig) *server.Subscriber {
	return server.New(server.Options{Kubeconfig: p.Kubeconfig.Files(), Env: p.Env, Version: command.Version, Unix: d.unix, TCP: d.tcp, PageLogin: login, Page: web.Files(), Docs: docs.HTML, Kinds: projection.All(), Token: d.keys.Token, Certificate: d.certificate(),
		Hosts: []string{o.host}, Logs: logs, Log: p.Debug, Plan: plan, Revision: revision, Stop: stop, Object: object, Previous: previous, ReadOnly: readOnly, Graph: architecture, Answers: answers.Here{Logs: logs},
		Agents: mcp.Handler(sessions.Info{Name: d.name, PID: os.Getpid(), Socket: d.unix.Addr().String()})})
}

// architecture returns hone's own parts.
func architecture() store.Graph {
	return engine.Graph(hud.New(hud.Options{}))
}

func provideSession(o options, p project.Project, d listeners) state.Session {
	return state.Session{Command: o.command, Tiltfile: o.project.Path, Args: o.project.Args, UpdateMode: o.updateMode, CITimeout: o.timeout,
		Project: p.ID, RunID: uuid.NewString(), URL: d.url, Confirmation: state.Confirmation{Asked: o.confirm}, Shown: o.shown,
		PID: os.Getpid(), Version: command.Version}
}

func provideProject(ctx context.Context, o options) (project.Project, error) {
	return o.project.Begin(ctx)
}

func provideStore(o options) *store.Store {
	return store.New(state.Schema, store.WithLog(o.project.Debug))
}

// sessionsBeside returns a function that names the other running sessions of a session's project. If these cannot be
// determined it names none: a session also works without a registry.
func sessionsBeside(c *sessions.Claim) func(context.Context) []string {
	return func(ctx context.Context) []string {
		others, err := c.Beside(ctx)
		if err != nil {
			return nil
		}
		names := make([]string, len(others))
		for i, s := range others {
			names[i] = sessionTitle(s)
		}
		return names
	}
}

// sessionTitle names a session in a sentence.
func sessionTitle(s sessions.Info) string {
	return fmt.Sprintf("session %s (hone %s, pid %d)", s.Name, s.Command, s.PID)
}

func provideSynclets(fleet *k8s.Fleet, containers docker.Client) (*synclet.Pool, func(), error) {
	p := synclet.NewPool(execer{fleet, containers})
	return p, p.Close, nil
}

// provideInjection provides the injection of synclets into new pods, and lets the pool add the same image to running pods.
func provideInjection(fleet *k8s.Fleet, containers docker.Client, elsewhere *buildkit.Choice, deliverer *imagebuild.Deliverer, pool *synclet.Pool, here *buildanddeploy.Environment, kept imagebuild.Kept) *buildanddeploy.Synclets {
	if fleet == nil {
		return nil
	}
	image := imagebuild.NewSyncletImage(containers, deliverer).Unless(elsewhere.Away)
	s := buildanddeploy.NewSynclets(imagebuild.NewReader(containers).Reaching(kept), image, pool, here)
	pool.Beside(beside{fleet, s})
	return s
}

func provideRuns() *liveupdate.Runs { return &liveupdate.Runs{} }

func provideDeliverer(containers docker.Client, kept imagebuild.Kept) (*imagebuild.Deliverer, func()) {
	d := imagebuild.NewDeliverer(containers).Reaching(kept)
	return d, d.Close
}

func provideEnvironment(containers docker.Client) *buildanddeploy.Environment {
	return buildanddeploy.NewEnvironment(containers)
}

// beside adds containers to the pods of the session's clusters.
type beside struct {
	*k8s.Fleet
	synclets *buildanddeploy.Synclets
}

var _ synclet.Beside = beside{}

// Image implements synclet.Beside.
func (b beside) Image(ctx context.Context, home synclet.Home) (string, error) {
	return b.synclets.Deliver(ctx, home.Cluster, home.Registry, "", logstore.Discard)
}

// provideImage returns nil for a session without a cluster.
func provideImage(deliverer *imagebuild.Deliverer, images *imagebuild.Builder, clusters *buildanddeploy.Clusters,
	injection *buildanddeploy.Synclets, here *buildanddeploy.Environment) *buildanddeploy.Image {
	if clusters == nil {
		return nil
	}
	return buildanddeploy.NewImage(here, images, deliverer, clusters, injection)
}

func provideBuilder(fleet *k8s.Fleet, containers docker.Client, images *imagebuild.Builder, image *buildanddeploy.Image, clusters *buildanddeploy.Clusters, downCommands *buildanddeploy.DownCommands,
	synclets *synclet.Pool, runs *liveupdate.Runs) buildanddeploy.BuildAndDeployer {
	has := func(ctx context.Context, id string) bool {
		running, err := containers.Containers(ctx, nil)
		return err == nil && slices.ContainsFunc(running, func(c docker.Container) bool { return c.ID == id })
	}
	chain := []buildanddeploy.BuildAndDeployer{
		buildanddeploy.Local{DownCommands: downCommands, Verdicts: verdict.NewMemory(command.VerdictsDir())},
		buildanddeploy.NewSynclet(synclets),
		buildanddeploy.NewContainer(containers, has, runs),
		buildanddeploy.NewExec(execer{fleet, containers}, runs),
		buildanddeploy.NewCompose(compose.NewTool(containers.Env()), images, containers),
	}
	if image != nil {
		chain = append(chain, image)
	}
	c := buildanddeploy.NewComposite(chain...)
	if clusters != nil {
		c.Examine(clusters.Examine)
	}
	return c
}

// execer is all clusters and an engine as live updates see them: containers that Compose runs have no namespace, and their pod
// is the engine's name of the container.
type execer struct {
	fleet  *k8s.Fleet // nil in a session without a cluster
	engine docker.Client
}

var _ liveupdate.PodExecer = execer{}

// Exec implements liveupdate.PodExecer.
func (e execer) Exec(ctx context.Context, req k8s.ExecRequest) error {
	if req.Namespace == "" {
		return e.engine.Exec(ctx, req.Pod, req.Argv, req.Stdin, req.Stdout, req.Stderr)
	}
	return e.fleet.Exec(ctx, req)
}

func provideParts(o options, p *opened.Project, kube *k8s.Client, fleet *k8s.Fleet, containers docker.Client, elsewhere *buildkit.Choice, logs *logstore.Store,
	srv *server.Subscriber, claim *sessions.Claim, ses state.Session, d listeners, st *store.Store, clusters *buildanddeploy.Clusters, downCommands *buildanddeploy.DownCommands,
	builder buildanddeploy.BuildAndDeployer, synclets *synclet.Pool, runs *liveupdate.Runs, object hud.ReadObject, previous hud.ReadPrevious, plan hud.MakePlan, revision hud.ReadRevision, login *server.PageLogin) sessionParts {
	if kube != nil {
		said := logs.Logger(model.TiltfileName, "", logstore.SourceBuild)
		kube.HearPlugin(func(text string) { logstore.Warnf(said, "%s", text) })
	}
	parts := engine.Parts{
		Session: ses, Logs: logs, Known: p.Kubeconfig.Cluster(), Docker: containers, Builder: builder, Clusters: clusters, DownCommands: downCommands, Synclets: synclets, Runs: runs,
		Tiltfile: p.Evaluation(), Evaluated: o.evaluated,
		Watch: o.command == state.CommandUp, Adopt: o.adopt, Reuse: o.shown, Beside: sessionsBeside(claim), Namespace: p.Namespace, Host: o.host, Forward: o.forward, Env: p.Env, SessionOf: sessionOf,
		Server: srv, Log: p.Debug, Elsewhere: elsewhere,
	}
	if kube != nil {
		parts.Kube, parts.Fleet = kube, fleet
	}
	if parts.Watch {
		parts.Copies = filepath.Join(command.StateDir(), "copies", ses.Project+".json")
		parts.Past = filepath.Join(command.StateDir(), "past", ses.Project+".jsonl")
	}
	return sessionParts{parts, st, claim, d, object, previous, plan, revision, login}
}
