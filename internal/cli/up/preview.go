package up

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// exitChanges is the exit code of hone preview --exit-code if there are changes.
const exitChanges = 2

// previewFlags are the flags of hone preview.
type previewFlags struct {
	project  flags.Project
	output   string
	exitCode bool
	adopt    bool
	prune    pruneFlags
}

func newPreview(g *command.Global) *cobra.Command {
	var f previewFlags
	c := &cobra.Command{
		Use:   "preview [NAME…] [-- TILTFILE ARGS]",
		Short: "Show what ci would change in the cluster",
		Long: fmt.Sprintf(`Shows what hone ci would do to the objects in the cluster, as the API server says: every object is sent in a dry run, and
nothing is written. A field is shown only if the declaration is the reason: defaults and what others add stay out.

  ~ a field that the declaration changes
  ! drift: the declaration is as it was applied, and something else has changed the cluster; it is changed back
  x conflict: the declaration has changed, and something else has set the field, too; the declaration wins
  - a field that is no longer declared

With names, only those resources, what they depend on and what belongs to no resource are deployed. What is recorded for others stays,
also if the Tiltfile no longer declares it.

With -o plan=FILE, the plan is also written to a file, and hone deploy FILE does what it says.

Images are not built. One whose inputs are as they were when it was built, such as the files, the Dockerfile and the arguments, is
expected to stay as it is; the names of all others are known after the build. Commands of local resources, commands that deploy
(k8s_custom_deploy) and services of Docker Compose that run already are shown as what runs ($), not what comes of it. A command that has
not run before, or differs from what ran last, is a change, as are other files and images that a deploying command depends on.

Beside another session of the project, ci deletes nothing that the Tiltfile no longer declares: that session may need it.

It exits with %d, or with %d if something would be refused. With --exit-code, it exits with %d if something would change.`,
			command.ExitOK, command.ExitFailure, exitChanges),
		Example: "  hone preview\n  hone preview -o plan=next.plan && hone deploy next.plan\n  hone preview api -o json | jq '.steps[] | select(.action != \"unchanged\")'",
		RunE:    func(cmd *cobra.Command, args []string) error { return preview(cmd.Context(), g, f, args) },
	}
	f.project.Add(c)
	c.ValidArgsFunction = f.project.CompleteDeclared
	command.AddDocumentFlag(c, &f.output)
	c.Flags().Lookup("output").Usage = "format for programs: json, yaml; or plan=FILE, for hone deploy"
	c.Flags().BoolVar(&f.exitCode, "exit-code", false, fmt.Sprintf("exit with %d if something would change", exitChanges))
	f.prune.add(c)
	c.Flags().BoolVar(&f.adopt, "adopt", false, "preview the take-over of objects that hone did not create")
	return c
}

func preview(ctx context.Context, g *command.Global, f previewFlags, args []string) error {
	file, toFile := strings.CutPrefix(f.output, "plan=")
	if toFile {
		f.output = ""
	}
	write, err := command.DocumentWriter(f.output, "preview")
	if err != nil {
		return err
	}
	prune, err := f.prune.value()
	if err != nil {
		return err
	}
	path, err := f.project.Path()
	if err != nil {
		return err
	}
	// The output of the Tiltfile goes to standard error: standard output holds the plan and nothing else.
	log := g.Printer(g.Stderr, g.Stderr)
	made := makePlan(ctx, path, planRequest{project: f.project, args: args, adopt: f.adopt, prune: prune, secrets: &g.Secrets}, log)
	if made.err != nil {
		return made.err
	}
	plan := made.plan
	if toFile {
		if err := writePlanFile(file, planFile{Args: args, Namespace: f.project.Namespace, Adopt: f.adopt, Prune: f.prune.which, NoPrune: f.prune.nothing, Plan: plan}, &g.Secrets); err != nil {
			return err
		}
		defer logstore.Infof(log, "The plan is in %s; hone deploy %s does it.", file, file)
	}
	return printPlan(g, write, plan, f.exitCode)
}

// printPlan prints a plan for people, or as a document with write, and returns the error for its exit code.
func printPlan(g *command.Global, write func(io.Writer, any) error, plan api.Plan, exitCode bool) error {
	if write == nil {
		g.Printer(g.Stdout, g.Stderr).Write(logstore.LevelInfo, command.PlanText(plan))
	} else {
		var doc bytes.Buffer
		if err := write(&doc, plan); err != nil {
			return err
		}
		if _, err := io.WriteString(g.Stdout, g.Secrets.Text(doc.String())); err != nil {
			return fmt.Errorf("print the plan: %w", err)
		}
	}
	switch {
	case plan.Summary[api.ActionBlocked] > 0:
		return command.AlreadyPrinted(errors.New("something would be refused"), command.ExitFailure)
	case exitCode && plan.Changes():
		return command.AlreadyPrinted(errors.New("something would change"), exitChanges)
	}
	return nil
}

// planRequest holds the inputs of a plan, besides the Tiltfile and the cluster.
type planRequest struct {
	project flags.Project
	args    []string
	adopt   bool
	prune   buildanddeploy.Prune
	// secrets learns the values that the Tiltfile reads.
	secrets *command.Secrets
	// record keeps the output of the Tiltfile for the session that follows, instead of logging it.
	record bool
}

// loaded is a Tiltfile that was evaluated, and its cluster. The caller closes it.
type loaded struct {
	asked askedCluster
	// cluster is nil if there is none and the Tiltfile declares nothing for one.
	cluster      *buildanddeploy.Cluster
	downCommands *buildanddeploy.DownCommands
	manifests    []model.Manifest
	namespace    string
	registry     model.Registry
	evaluated    *tiltfile.Evaluated
	chosen       func(model.ManifestName) bool
	// others names the other running sessions of the project.
	others []string
}

// load evaluates the Tiltfile and connects to the cluster.
func load(ctx context.Context, path string, f planRequest, log *command.Printer) (l loaded, err error) {
	if l.asked, err = askIfAny(ctx, f.project, log); err != nil {
		return l, err
	}
	defer func() {
		if err != nil {
			l.asked.close()
		}
	}()
	l.namespace = cmp.Or(f.project.Namespace, l.asked.known.Namespace)
	env, err := command.Environment(l.asked.kc, path)
	if err != nil {
		return l, err
	}
	evaluation := tiltfile.Options{Path: path, Args: f.args, Subcommand: "ci", Namespace: l.namespace, Env: append(os.Environ(), env...),
		Cluster:      func() (model.Cluster, error) { return l.asked.known, nil },
		Capabilities: l.asked.kc.Capabilities, Logger: log, Await: log.Await, OnSecrets: f.secrets.Learn}
	var r tiltfile.Result
	if f.record {
		l.evaluated = tiltfile.Evaluate(ctx, evaluation)
		r = l.evaluated.Result
	} else {
		r = tiltfile.Load(ctx, evaluation)
	}
	if r.Err != nil {
		return l, command.WithCode(r.Err, command.ExitTiltfile)
	}
	l.manifests = r.Manifests
	l.chosen, l.registry = state.ChosenIn(r.Tiltfile), r.DefaultRegistry
	if l.downCommands, err = openDowns(ctx, l.asked.kc, path); err != nil {
		return l, err
	}
	if l.asked.kube == nil && !slices.ContainsFunc(l.manifests, model.Manifest.IsK8s) {
		return l, nil
	}
	if l.asked.kube == nil {
		return l, noCluster()
	}
	l.cluster, err = openCluster(ctx, l.asked.kc, l.asked.kube, path)
	return l, err
}

// madePlan is the result of makePlan.
type madePlan struct {
	plan api.Plan
	// done is set if there are no changes: all objects are as they are declared, and ready.
	done bool
	// evaluated is the evaluation of the Tiltfile, if it was recorded; also if err is set.
	evaluated *tiltfile.Evaluated
	err       error
}

// makePlan evaluates the Tiltfile and asks the API server for the changes that a deploy would make.
func makePlan(ctx context.Context, path string, f planRequest, log *command.Printer) madePlan {
	l, err := load(ctx, path, f, log)
	if err != nil {
		return madePlan{evaluated: l.evaluated, err: err}
	}
	defer l.asked.close()
	plan, done, err := l.plan(ctx, path, f, log)
	return madePlan{plan, done, l.evaluated, err}
}

// plan returns the changes that a deploy would make, and whether there are none.
func (l loaded) plan(ctx context.Context, path string, f planRequest, log *command.Printer) (plan api.Plan, done bool, err error) {
	defer log.Await(clusterTitle(l.asked.known) + " to say what would change")()
	forecast, closeEngine, err := l.forecast(ctx)
	if err != nil {
		return plan, false, err
	}
	defer closeEngine()
	if l.others, err = sessionsOf(ctx, path, l.asked.known.Context); err != nil {
		return plan, false, err
	}
	var unready atomic.Bool
	steps, err := l.preview(ctx, buildanddeploy.PreviewOptions{Adopt: f.adopt, Prune: f.prune, Removal: deploy.RemovalBySession,
		Forecast: forecast, Unready: func(model.ObjectID) { unready.Store(true) }})
	if err != nil {
		return plan, false, err
	}
	plan = planOf(path, l.asked.known.Context, steps)
	return plan, !plan.Changes() && plan.Summary[api.ActionRun] == 0 && !unready.Load(), nil
}

// sessionsOf names the running sessions of a project, as a session that begins now sees them.
func sessionsOf(ctx context.Context, path, kubeContext string) (names []string, err error) {
	living, err := flags.Registry().Of(ctx, path, kubeContext)
	for _, s := range living {
		names = append(names, sessionTitle(s))
	}
	return names, err
}

// preview returns the steps of an operation on the chosen resources: objects, services of Compose, commands.
func (l loaded) preview(ctx context.Context, o buildanddeploy.PreviewOptions) ([]api.PlanStep, error) {
	o.Declared, o.Namespace, o.Chosen, o.Others = l.manifests, l.namespace, l.chosen, strings.Join(l.others, " and ")
	services, closeEngine, err := l.services(ctx, o)
	if err != nil {
		return nil, err
	}
	defer closeEngine()
	o.Beside = append(o.Beside, append(l.downCommands.Nodes(o), services...)...)
	gone, err := l.downCommands.Gone(o)
	if err != nil {
		return nil, err
	}
	var steps []api.PlanStep
	if l.cluster != nil {
		steps, err = l.cluster.Preview(k8s.Patiently(ctx, l.asked.tell), o)
	} else {
		steps, err = buildanddeploy.PreviewBeside(ctx, o)
	}
	return append(steps, gone...), err
}

func planOf(path, kubeContext string, steps []api.PlanStep) api.Plan {
	plan := api.Plan{Tiltfile: path, Context: kubeContext, Steps: steps, Summary: map[api.PlanAction]int{}}
	for _, s := range steps {
		plan.Summary[s.Action]++
	}
	return plan
}

// askedCluster is the cluster that a command without a session looks at. The caller closes it.
type askedCluster struct {
	kc    *k8s.Kubeconfig
	kube  *k8s.Client
	known model.Cluster
	tell  func(k8s.Wait)
}

// close ends the connection, if there is one.
func (a askedCluster) close() {
	if a.kube != nil {
		a.kube.Close()
	}
}

// ask connects to the cluster of a project. Waits go to the log.
func ask(ctx context.Context, p flags.Project, log *command.Printer) (askedCluster, error) {
	a, err := askIfAny(ctx, p, log)
	if err == nil && a.kube == nil {
		err = noCluster()
	}
	return a, err
}

func clusterTitle(known model.Cluster) string { return strings.TrimSpace("cluster " + known.Context) }

func noCluster() error {
	return problem.New("there is no cluster to ask: no kubeconfig was found", "set KUBECONFIG, or choose a cluster with --context").See("clusters")
}

// askIfAny works like ask, for projects that may need no cluster: without a kubeconfig there is no connection.
func askIfAny(ctx context.Context, p flags.Project, log *command.Printer) (askedCluster, error) {
	kc, err := k8s.Load(k8s.Config{Context: p.Context, Namespace: p.Namespace})
	if err != nil {
		return askedCluster{}, err
	}
	p.Say(kc.Cluster(), log)
	if kc.Cluster().Context == "" {
		return askedCluster{kc: kc}, nil
	}
	kube, err := kc.Connect()
	if err != nil {
		return askedCluster{}, err
	}
	kube.HearPlugin(func(said string) { logstore.Warnf(log, "%s", said) })
	tell := func(w k8s.Wait) {
		if w.Why != "" {
			logstore.Infof(log, "%s", w)
		}
	}
	defer log.Await(clusterTitle(kc.Cluster()) + " to answer")()
	known, err := kube.DetectPatiently(ctx, tell)
	if err != nil {
		kube.Close()
		return askedCluster{}, err
	}
	return askedCluster{kc: kc, kube: kube, known: known, tell: tell}, nil
}
