// Package opened opens the project that a command line chooses, as far as the command asks for it: the kubeconfig, the evaluation of the
// Tiltfile, the connection to the cluster, the ledger.
package opened

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/project"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/tiltfile/kubecontext"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// Choice is the project of a command line.
type Choice struct {
	Flags *flags.Project
	// Find returns the absolute path of the Tiltfile, as Flags choose it.
	Find func() (path string, err error)
	// Args are the names of resources, and the arguments of the Tiltfile.
	Args []string
	// Subcommand is the value of config.tilt_subcommand.
	Subcommand string
	// Command is the command, as the revisions that it makes name it; empty for one that changes nothing.
	Command string
	// Builder is the name or the address of the builder of images; empty takes it from the environment.
	Builder string
	// Server has the address of a session's API; nil takes it from the environment.
	Server *flags.Server
}

// Examined is the subcommand while a Tiltfile is only examined, as in Tilt: code that is only for up or ci does not run then.
const Examined = "alpha tiltfile-result"

// Run holds the additions of a session to its project.
type Run struct {
	// ID is the ID of the session.
	ID string
	// Env is added to the environment of its commands.
	Env []string
	// Prune says which objects may be deleted that the Tiltfile no longer declares.
	Prune buildanddeploy.Prune
	// Beside reports whether another session of the project runs.
	Beside func(context.Context) bool
}

// Project is an opened project. The caller closes it.
type Project struct {
	Choice
	// Path is the absolute path of the Tiltfile.
	Path       string
	Kubeconfig *k8s.Kubeconfig
	// Known is the cluster, as the kubeconfig describes it and, after Connect, as it describes itself. Without a kubeconfig it has no
	// context.
	Known model.Cluster
	// Namespace is for objects that are declared without one.
	Namespace string
	// Env is added to the environment of all commands of the project.
	Env []string
	// Debug is hone's own log.
	Debug *slog.Logger

	// home is the context of the session's own cluster if the project is the part of it in a declared one, and title is then the name in
	// the Tiltfile; see In.
	home, title string
	// homeNamespace is the namespace in the session's own cluster. If alone is set, the project has no other cluster; see Alone.
	homeNamespace string
	alone         bool

	run    Run
	global *command.Global
	log    *command.Printer
	held   *held
}

// held is the part of a project that its copies share.
type held struct {
	mu      sync.Mutex // guards kube, closers and parts
	kube    *k8s.Client
	closers []func() error
	parts   map[string]*held // of declared clusters, by context

	deploys chan struct{} // full while a builder is deployed
}

func newHeld() *held { return &held{deploys: make(chan struct{}, 1)} }

// Open reads the kubeconfig, and says in log which project the name of a session has led to. It asks no cluster.
func Open(g *command.Global, c Choice, log *command.Printer) (*Project, error) {
	path, err := c.Find()
	if err != nil {
		return nil, err
	}
	kc, err := k8s.Load(k8s.Config{Context: c.Flags.Context, Namespace: c.Flags.Namespace})
	if err != nil {
		return nil, err
	}
	if c.Flags.Ledger != "" { // the commands of the project find the same ledger
		if err := os.Setenv(command.LedgerVariable, c.Flags.Ledger); err != nil {
			return nil, err
		}
	}
	p := &Project{Choice: c, Path: path, Kubeconfig: kc, Known: kc.Cluster(), global: g, log: log, held: newHeld()}
	p.Namespace = cmp.Or(c.Flags.Namespace, p.Known.Namespace)
	if err := p.setEnv(); err != nil {
		return nil, err
	}
	if err := p.openDebug(); err != nil {
		return nil, err
	}
	c.Flags.Say(p.Known, log)
	return p, nil
}

// setEnv sets the variables that all commands of the project have.
func (p *Project) setEnv() error {
	server := p.Server
	if server == nil {
		server = &flags.Server{Host: flags.EnvOr("TILT_HOST", flags.DefaultHost), Port: flags.EnvPort()}
	}
	p.Env = append(p.Env, "TILT_HOST="+server.Host)
	if port := server.Port.Text(); port != "" {
		p.Env = append(p.Env, "TILT_PORT="+port)
	}
	more, err := command.Environment(p.Kubeconfig, p.Path)
	p.Env = append(p.Env, more...)
	return errors.Join(server.Port.Check(), err)
}

// openDebug opens hone's own log: a file, since the terminal belongs to the user's resources.
func (p *Project) openDebug() error {
	to := slog.DiscardHandler
	if p.global.Debug || p.global.Verbose {
		path := filepath.Join(command.StateDir(), "hone.log")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("open hone's log: %w", err)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("open hone's log: %w", err)
		}
		p.held.closers = append(p.held.closers, f.Close)
		level := slog.LevelInfo
		if p.global.Verbose {
			level = slog.LevelDebug
		}
		to = slog.NewTextHandler(f, &slog.HandlerOptions{Level: level})
	}
	p.Debug = slog.New(to)
	k8s.RouteKlog(p.Debug)
	return nil
}

// During returns the project for a session, whose log says all that the project would say.
func (p *Project) During(r Run) *Project {
	c := *p
	c.run, c.Env = r, slices.Concat(p.Env, r.Env)
	c.log = p.global.Printer(io.Discard, io.Discard)
	return &c
}

// Close closes all that was opened, also in other clusters.
func (p *Project) Close() { p.held.close() }

func (h *held) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, part := range h.parts {
		part.close()
	}
	for _, end := range slices.Backward(h.closers) {
		_ = end()
	}
}

// Evaluation returns the options of an evaluation of the Tiltfile.
func (p *Project) Evaluation() tiltfile.Options {
	known := p.Kubeconfig.Cluster()
	o := tiltfile.Options{Path: p.Path, Args: p.Args, Subcommand: p.Subcommand, Namespace: p.Namespace, Env: append(os.Environ(), p.Env...),
		Cluster: func() (model.Cluster, error) { return known, nil }, Clusters: p.wayTo,
		Logger: p.log, Await: p.log.Await, OnSecrets: p.global.Secrets.Learn, Debug: p.global.Debug || p.global.Verbose}
	if known.Context != "" {
		o.Capabilities = func(ctx context.Context) (none model.Capabilities, err error) {
			kube, err := p.Kube()
			if err != nil {
				return none, err
			}
			return kube.Capabilities(ctx)
		}
	}
	return o
}

// wayTo finds another cluster of the kubeconfig for the Tiltfile.
func (p *Project) wayTo(name, namespace string) (way kubecontext.Way, err error) {
	kc, err := p.Kubeconfig.In(name, namespace)
	if err != nil {
		return way, err
	}
	way.Cluster = kc.Cluster()
	way.Capabilities = func(ctx context.Context) (none model.Capabilities, err error) {
		kube, err := kc.Connect()
		if err != nil {
			return none, err
		}
		defer kube.Close()
		return kube.Capabilities(ctx)
	}
	way.Kubeconfig, err = command.Overlay(kc, p.Path)
	return way, err
}

// Kube returns the client of the cluster, which need not answer; nil without a kubeconfig.
func (p *Project) Kube() (*k8s.Client, error) {
	p.held.mu.Lock()
	defer p.held.mu.Unlock()
	if p.held.kube != nil || p.Known.Context == "" {
		return p.held.kube, nil
	}
	kube, err := p.Kubeconfig.Connect()
	if err != nil {
		return nil, err
	}
	kube.HearPlugin(func(said string) { logstore.Warnf(p.log, "%s", said) })
	p.held.kube, p.held.closers = kube, append(p.held.closers, kube.Close)
	return kube, nil
}

// Connect waits until the cluster has described itself, and returns the project's part of it.
func (p *Project) Connect(ctx context.Context) (*buildanddeploy.Cluster, error) {
	kube, err := p.Kube()
	if err != nil {
		return nil, err
	}
	if kube == nil {
		return nil, problem.New("there is no cluster: no kubeconfig was found", "set KUBECONFIG, or choose a cluster with --context").See("clusters")
	}
	part, err := p.Cluster(ctx) // before the cluster is asked, which opens the connection of the part, too
	if err != nil {
		return nil, err
	}
	answered := p.log.Await(p.Title() + " to answer")
	known, err := kube.DetectPatiently(ctx, p.tell)
	answered()
	if err != nil {
		return nil, err
	}
	p.Known = known
	return part, nil
}

// Title names the cluster in a sentence.
func (p *Project) Title() string {
	return strings.TrimSpace("cluster " + cmp.Or(p.title, p.Known.Context))
}

// Patiently returns ctx for requests that wait while the cluster is busy, and say so.
func (p *Project) Patiently(ctx context.Context) context.Context { return k8s.Patiently(ctx, p.tell) }

func (p *Project) tell(w k8s.Wait) {
	if w.Why != "" {
		logstore.Infof(p.log, "%s", w)
	}
}

// is returns the identity of the project.
func (p *Project) is(ctx context.Context) (project.Project, error) {
	if p.home != "" {
		return command.Projects().Beside(ctx, p.Path, p.home, p.Known.Context)
	}
	return command.Projects().Find(ctx, p.Path, p.Known.Context)
}

// Begin returns the identity of the project for a session, and records it.
func (p *Project) Begin(ctx context.Context) (project.Project, error) {
	if p.home != "" {
		return p.is(ctx)
	}
	return command.Projects().Open(ctx, p.Path, p.Known.Context)
}

// Cluster returns the project's part of the cluster; nil without a kubeconfig.
func (p *Project) Cluster(ctx context.Context) (*buildanddeploy.Cluster, error) {
	kube, err := p.Kube()
	if kube == nil {
		return nil, err
	}
	is, err := p.is(ctx)
	if err != nil {
		return nil, err
	}
	return buildanddeploy.NewCluster(kube, buildanddeploy.ClusterOptions{Namespace: p.leased(), Ledgers: p.ledgers(is), Own: command.Ledgers(), Project: is, ProjectPath: command.Projects().Path, Command: p.Command, Title: p.Name(), Tiltfile: p.Path, Tree: p.tree,
		Debug: p.Debug, RunID: p.run.ID, Env: p.Env, Prune: p.run.Prune, Beside: p.run.Beside})
}

// leased returns the namespace whose lease the command needs; empty for one that changes nothing. A command that a session has started works
// on behalf of that session, which may hold the lease.
func (p *Project) leased() string {
	if p.Command == "" || os.Getenv(flags.SessionVariable) != "" {
		return ""
	}
	return p.Namespace
}

// ledgers returns the ledgers in the storage of the project.
func (p *Project) ledgers(is project.Project) *ledger.Ledgers {
	if is.Ledger == "" {
		return command.Ledgers()
	}
	return p.ledgersAt(is.Ledger)
}

// tree returns the working tree with the Tiltfile, as far as git says.
func (p *Project) tree() buildanddeploy.Tree {
	out, err := p.git("rev-parse", "--show-prefix", "HEAD")
	lines := strings.Split(out, "\n")
	if err != nil || len(lines) < 2 {
		return buildanddeploy.Tree{}
	}
	changes, _ := p.git("status", "--porcelain", "--untracked-files=no")
	return buildanddeploy.Tree{Prefix: lines[0], Commit: lines[1], Uncommitted: changes != ""}
}

// git runs git in the folder of the Tiltfile.
func (p *Project) git(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "-C", filepath.Dir(p.Path)}, args...)...).Output()
	return string(out), err
}

// gitLimit bounds each wait for git: a revision is as good without its commit.
const gitLimit = time.Second

// DownCommands returns the recorded down commands of the project.
func (p *Project) DownCommands(ctx context.Context) (*buildanddeploy.DownCommands, error) {
	is, err := p.is(ctx)
	if err != nil {
		return nil, err
	}
	return buildanddeploy.NewDownCommands(buildanddeploy.DownsOptions{Ledgers: command.Ledgers(), Project: is, Env: p.Env, Prune: p.run.Prune}), nil
}
