package up

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/api/server"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/project"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/crash"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/internal/update/synclet"
	"github.com/hone-dev/hone/internal/update/watch"
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
	screens   *hud.Terminals // Parts.Terminals
	login     *server.PageLogin
}

func provideKubeconfig(o options) (*k8s.Kubeconfig, error) {
	return k8s.Load(k8s.Config{Context: o.context, Namespace: o.namespace})
}

// provideKube returns nil if there is no kubeconfig: a session may run without a cluster.
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
	e, err := docker.Open(ctx, kc.Cluster())
	if err != nil {
		return nil, nil, err
	}
	return e, func() { _ = e.Close() }, nil
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

// provideLog returns hone's own log: a file, since the terminal belongs to the user's resources.
func provideLog(o options) (*slog.Logger, func(), error) {
	if !o.global.Debug && !o.global.Verbose {
		log := slog.New(slog.DiscardHandler)
		k8s.RouteKlog(log)
		return log, func() {}, nil
	}
	path := filepath.Join(command.StateDir(), "hone.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("open hone's log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open hone's log: %w", err)
	}
	level := slog.LevelInfo
	if o.global.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(io.Writer(f), &slog.HandlerOptions{Level: level}))
	k8s.RouteKlog(log)
	return log, func() { _ = f.Close() }, nil
}

// commandEnv is added to the environment of every command that the session starts. It names the session and its API, and
// makes the commands use the session's cluster and namespace, whatever the user's current ones are.
type commandEnv []string

func provideCommandEnv(o options, kc *k8s.Kubeconfig, c *sessions.Claim, d listeners) (commandEnv, error) {
	env := commandEnv{flags.SessionVariable + "=" + c.Info().Name, "TILT_HOST=" + o.host}
	if d.tcp != nil {
		env = append(env, "TILT_PORT="+strconv.Itoa(d.port))
	}
	more, err := command.Environment(kc, o.tiltfile)
	return append(env, more...), err
}

func provideTerminals(c *sessions.Claim, login *server.PageLogin, logs *logstore.Store, st *store.Store, object hud.ReadObject, previous hud.ReadPrevious, plan hud.MakePlan) *hud.Terminals {
	return hud.NewTerminals(hud.TerminalsOptions{Logs: logs, Session: c.Info().Name, Stats: st.Stats(), Object: object, Previous: previous, Plan: plan, Ignores: ignores(),
		LayoutFile: layoutFile(c), Snapshot: saver(st, logs, c), Web: webOf(login), Page: login.Address(), BugReports: bugsFile(), Version: command.Version})
}

func providePageLogin(d listeners) *server.PageLogin { return server.NewPageLogin(d.tcp) }

// webOf returns a function that opens the web page from a screen; nil if the session has none.
func webOf(login *server.PageLogin) func(resource string) (string, error) {
	if login.Address() == "" {
		return nil
	}
	return login.Ticket
}

// layoutFile returns the file for the arrangement of the project's screen.
func layoutFile(c *sessions.Claim) string {
	hash := sha256.Sum256([]byte(cmp.Or(c.Info().Project, c.Info().Tiltfile)))
	return filepath.Join(command.StateDir(), "screens", hex.EncodeToString(hash[:8])+".json")
}

// ignores returns the watcher's rules, for the screens' answers about files.
func ignores() view.Ignores {
	return view.Ignores{Ephemeral: watch.Ephemeral, Match: func(patterns model.Ignore, file string) bool {
		m, err := watch.NewMatcher([]model.Ignore{patterns})
		return err == nil && m.Matches(file)
	}}
}

// provideObject returns nil for a session without a cluster.
func provideObject(kube *k8s.Client) hud.ReadObject {
	if kube == nil {
		return nil
	}
	return kube.ObjectYAML
}

// providePrevious returns nil for a session without a cluster.
func providePrevious(kube *k8s.Client) hud.ReadPrevious {
	if kube == nil {
		return nil
	}
	return kube.PreviousLog
}

func provideServer(o options, kc *k8s.Kubeconfig, env commandEnv, d listeners, login *server.PageLogin, stop stopFunc, terminals *hud.Terminals, logs *logstore.Store, log *slog.Logger, plan hud.MakePlan) *server.Subscriber {
	return server.New(server.Options{Kubeconfig: kc.Files(), Env: env, Version: command.Version, Unix: d.unix, TCP: d.tcp, PageLogin: login, Page: web.Files(), Docs: docs.HTML, Kinds: projection.All(), Token: d.keys.Token, Certificate: d.certificate(),
		Hosts: []string{o.host}, Logs: logs, Log: log, Plan: plan, Stop: stop, Attach: terminals.Attach, Graph: architecture})
}

// architecture returns hone's own parts.
func architecture() store.Graph {
	return engine.Graph(hud.New(hud.Options{}), hud.NewTerminals(hud.TerminalsOptions{}))
}

func provideSession(o options, p project.Project, d listeners) state.Session {
	return state.Session{Command: o.command, Tiltfile: o.tiltfile, Args: o.args, UpdateMode: o.updateMode, CITimeout: o.timeout,
		Project: p.ID, RunID: uuid.NewString(), URL: d.url, Confirmation: state.Confirmation{Asked: o.confirm}, Shown: o.shown,
		PID: os.Getpid(), Version: command.Version}
}

func provideProject(ctx context.Context, o options, kc *k8s.Kubeconfig) (project.Project, error) {
	return command.Projects().Open(ctx, o.tiltfile, kc.Cluster().Context)
}

func provideStore(log *slog.Logger) *store.Store { return store.New(state.Schema, store.WithLog(log)) }

func provideCluster(o options, kube *k8s.Client, p project.Project, s state.Session, c *sessions.Claim, env commandEnv) (*buildanddeploy.Cluster, error) {
	if kube == nil {
		return nil, nil
	}
	others := sessionsBeside(c)
	return buildanddeploy.NewCluster(kube, buildanddeploy.ClusterOptions{LedgerDir: command.LedgerDir(),
		Project: p, ProjectPath: command.Projects().Path, RunID: s.RunID, Env: env, Prune: o.prune, Beside: func(ctx context.Context) bool { return len(others(ctx)) > 0 }})
}

func provideDownCommands(o options, p project.Project, env commandEnv) *buildanddeploy.DownCommands {
	return buildanddeploy.NewDownCommands(buildanddeploy.DownsOptions{LedgerDir: command.LedgerDir(), Project: p, Env: env, Prune: o.prune})
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

func provideSynclets(kube *k8s.Client, containers docker.Client) (*synclet.Pool, func(), error) {
	p := synclet.NewPool(execer{kube, containers})
	return p, p.Close, nil
}

// provideInjection provides the injection of synclets into new pods, and lets the pool add the same image to running pods.
func provideInjection(kube *k8s.Client, containers docker.Client, pool *synclet.Pool, here *buildanddeploy.Environment) *buildanddeploy.Synclets {
	if kube == nil {
		return nil
	}
	image := imagebuild.NewSyncletImage(containers, imagebuild.NewDeliverer(containers))
	s := buildanddeploy.NewSynclets(containers, image, pool, here)
	pool.Beside(beside{kube, s})
	return s
}

func provideEnvironment(containers docker.Client) *buildanddeploy.Environment {
	return buildanddeploy.NewEnvironment(containers)
}

// beside adds containers to the pods of the session's cluster.
type beside struct {
	*k8s.Client
	synclets *buildanddeploy.Synclets
}

var _ synclet.Beside = beside{}

// Image implements synclet.Beside.
func (b beside) Image(ctx context.Context, home synclet.Home) (string, error) {
	return b.synclets.Deliver(ctx, home.Cluster, home.Registry, "", logstore.Discard)
}

// provideImage returns nil for a session without a cluster.
func provideImage(kube *k8s.Client, containers docker.Client, images *imagebuild.Builder, cluster *buildanddeploy.Cluster,
	injection *buildanddeploy.Synclets, here *buildanddeploy.Environment) *buildanddeploy.Image {
	if kube == nil {
		return nil
	}
	return buildanddeploy.NewImage(here, images, imagebuild.NewDeliverer(containers), cluster, injection)
}

func provideBuilder(kube *k8s.Client, containers docker.Client, images *imagebuild.Builder, image *buildanddeploy.Image, cluster *buildanddeploy.Cluster, downCommands *buildanddeploy.DownCommands,
	synclets *synclet.Pool) buildanddeploy.BuildAndDeployer {
	has := func(ctx context.Context, id string) bool {
		running, err := containers.Containers(ctx, nil)
		return err == nil && slices.ContainsFunc(running, func(c docker.Container) bool { return c.ID == id })
	}
	chain := []buildanddeploy.BuildAndDeployer{
		buildanddeploy.Local{DownCommands: downCommands},
		buildanddeploy.NewSynclet(synclets),
		buildanddeploy.NewContainer(containers, has),
		buildanddeploy.NewExec(execer{kube, containers}),
		buildanddeploy.NewCompose(compose.NewTool(containers.Env()), images, containers),
	}
	if image != nil {
		chain = append(chain, image)
	}
	c := buildanddeploy.NewComposite(chain...)
	if cluster != nil {
		c.Examine(cluster.Examine)
	}
	return c
}

// execer is a cluster and an engine as live updates see them: containers that Compose runs have no namespace, and their pod
// is the engine's name of the container.
type execer struct {
	kube   *k8s.Client // nil in a session without a cluster
	engine docker.Client
}

var _ liveupdate.PodExecer = execer{}

// Exec implements liveupdate.PodExecer.
func (e execer) Exec(ctx context.Context, req k8s.ExecRequest) error {
	if req.Namespace == "" {
		return e.engine.Exec(ctx, req.Pod, req.Argv, req.Stdin, req.Stdout, req.Stderr)
	}
	return e.kube.Exec(ctx, req)
}

// provideEvaluation returns the options of every evaluation of the Tiltfile.
func provideEvaluation(o options, kc *k8s.Kubeconfig, kube *k8s.Client, env commandEnv) tiltfile.Options {
	known := kc.Cluster()
	evaluation := tiltfile.Options{Cluster: func() (model.Cluster, error) { return known, nil }, Namespace: namespaceOf(o, known),
		Env: append(os.Environ(), env...), Debug: o.global.Debug}
	if kube != nil {
		evaluation.Capabilities = kube.Capabilities
	}
	return evaluation
}

func provideParts(o options, kc *k8s.Kubeconfig, kube *k8s.Client, containers docker.Client, logs *logstore.Store, log *slog.Logger,
	srv *server.Subscriber, terminals *hud.Terminals, claim *sessions.Claim, ses state.Session, d listeners, st *store.Store, cluster *buildanddeploy.Cluster, downCommands *buildanddeploy.DownCommands,
	builder buildanddeploy.BuildAndDeployer, synclets *synclet.Pool, env commandEnv, object hud.ReadObject, previous hud.ReadPrevious, plan hud.MakePlan, login *server.PageLogin, evaluation tiltfile.Options) sessionParts {
	known := kc.Cluster()
	namespace := namespaceOf(o, known)
	if kube != nil {
		said := logs.Logger(model.TiltfileName, "", logstore.SourceBuild)
		kube.HearPlugin(func(text string) { logstore.Warnf(said, "%s", text) })
	}
	p := engine.Parts{
		Session: ses, Logs: logs, Known: known, Docker: containers, Builder: builder, Cluster: cluster, DownCommands: downCommands, Synclets: synclets,
		Tiltfile: evaluation, Evaluated: o.evaluated,
		Watch: o.command == state.CommandUp, Adopt: o.adopt, Reuse: o.shown, Beside: sessionsBeside(claim), Namespace: namespace, Host: o.host, Forward: o.forward, Env: env, SessionOf: sessionOf,
		Server: srv, Terminals: terminals, Log: log,
	}
	if kube != nil {
		p.Kube = kube
	}
	if p.Watch {
		p.Copies = filepath.Join(command.StateDir(), "copies", ses.Project+".json")
	}
	return sessionParts{p, st, claim, d, object, previous, plan, terminals, login}
}

// namespaceOf returns the namespace of objects that are declared without one.
func namespaceOf(o options, known model.Cluster) string { return cmp.Or(o.namespace, known.Namespace) }
