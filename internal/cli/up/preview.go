package up

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/deploy"
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
	build    bool
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
expected to stay as it is; the names of all others are known after the build, and the plan says why each would be built: which files,
arguments or base differ from its last build on this machine. With --build, they are built, but neither delivered nor deployed, and the
plan has their names.

Commands of local resources, commands that deploy
(k8s_custom_deploy) and services of Docker Compose that run already are shown as what runs ($), not what comes of it. A command that has
not run before, or differs from what ran last, is a change, as are other files and images that a deploying command depends on.

Beside another session of the project, ci deletes nothing that the Tiltfile no longer declares: that session may need it. If the
Tiltfile declares nothing for a cluster, the cluster need not answer: the plan then leaves out what is no longer declared.

It exits with %d, or with %d if something would be refused. With --exit-code, it exits with %d if something would change.`,
			command.ExitOK, command.ExitFailure, exitChanges),
		Example: "  hone preview\n  hone preview -o plan=next.plan && hone deploy next.plan\n  hone preview api -o json | jq '.steps[] | select(.action != \"unchanged\")'",
		RunE:    func(cmd *cobra.Command, args []string) error { return preview(cmd.Context(), g, f, args) },
	}
	f.project.Add(c)
	c.ValidArgsFunction = f.project.CompleteDeclared
	command.AddDocumentFlag(c, &f.output, api.Plan{})
	c.Flags().Lookup("output").Usage = "format for programs: json, yaml; or plan=FILE, for hone deploy"
	c.Flags().BoolVar(&f.exitCode, "exit-code", false, fmt.Sprintf("exit with %d if something would change", exitChanges))
	f.prune.add(c)
	c.Flags().BoolVar(&f.build, "build", false, "build the images, without delivering them, so that the plan shows their names")
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
	// The output of the Tiltfile goes to standard error: standard output holds the plan and nothing else.
	log := g.Printer(g.Stderr, g.Stderr)
	p, err := opened.Open(g, opened.Choice{Flags: &f.project, Find: f.project.Resolve, Args: args, Subcommand: planned}, log)
	if err != nil {
		return err
	}
	defer p.Close()
	var build logstore.Logger
	if f.build {
		build = log
	}
	plan, _, err := makePlan(ctx, p, tiltfile.Load(ctx, p.Evaluation()), buildanddeploy.PreviewOptions{Adopt: f.adopt, Prune: prune}, build, log)
	if err != nil {
		return err
	}
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

// planned is the value of config.tilt_subcommand of commands that plan the next ci.
const planned = string(state.CommandCI)

// loaded is a project whose Tiltfile was evaluated, and its parts of the clusters.
type loaded struct {
	*opened.Project
	// clusters are its parts of the clusters that answer, its own one first. One that does not answer is left out if the Tiltfile declares
	// nothing for it.
	clusters     []inCluster
	downCommands *buildanddeploy.DownCommands
	manifests    []model.Manifest
	read         map[string]uint64                   // as in model.Tiltfile
	registry     func(cluster string) model.Registry // as in model.Tiltfile
	cache        model.ImageCache
	builder      model.Builder
	chosen       func(model.ManifestName) bool
	// unanswered is set if a cluster does not answer, and the Tiltfile declares nothing for it.
	unanswered error
	// others names the other running sessions of the project.
	others []string
}

// load connects an evaluated Tiltfile to its cluster.
func load(ctx context.Context, p *opened.Project, tf tiltfile.Result) (l loaded, err error) {
	if tf.Err != nil {
		return l, command.WithCode(tf.Err, command.ExitTiltfile)
	}
	l = loaded{Project: p, manifests: tf.Manifests, read: tf.Read, chosen: state.ChosenIn(tf.Tiltfile), registry: tf.RegistryFor, cache: tf.ImageCache, builder: tf.Builder}
	if l.downCommands, err = p.DownCommands(ctx); err != nil {
		return l, err
	}
	parts, former, err := p.Beside(tf.Tiltfile)
	if err != nil {
		return l, err
	}
	for _, part := range slices.Concat([]*opened.Project{p}, parts, former) {
		needed := slices.ContainsFunc(l.manifests, func(m model.Manifest) bool { return m.IsK8s() && m.Cluster() == part.On() })
		if kube, err := part.Kube(); err != nil || kube == nil && !needed {
			return l, err
		}
		in, err := part.Connect(ctx)
		switch {
		case err == nil:
			l.clusters = append(l.clusters, inCluster{part, in})
		case needed || ctx.Err() != nil:
			return l, err
		case slices.Contains(former, part):
			part.LeaveOut(err)
		default:
			l.unanswered = cmp.Or(l.unanswered, err)
		}
	}
	return l, nil
}

// inCluster is the part of a project in a cluster.
type inCluster struct {
	*opened.Project
	cluster *buildanddeploy.Cluster
}

// declared returns the resources that the cluster may hold. Those in no cluster are only in the first part.
func (c inCluster) declared(manifests []model.Manifest) []model.Manifest {
	return model.DeclaredOn(manifests, c.On())
}

// mark names the cluster in steps, unless it is the project's own.
func (c inCluster) mark(steps []api.PlanStep) []api.PlanStep {
	for i := range steps {
		if c.On() != "" {
			steps[i].Cluster = c.Name()
		}
	}
	return steps
}

// inClusters returns the parts of the project in the session's clusters, whether they answer or not.
func (l loaded) inClusters(ctx context.Context, tf model.Tiltfile) (out []inCluster, err error) {
	parts, _, err := l.Beside(tf)
	for _, part := range append([]*opened.Project{l.Project}, parts...) {
		if err != nil {
			break
		}
		c := inCluster{Project: part}
		c.cluster, err = part.Cluster(ctx)
		out = append(out, c)
	}
	return out, err
}

// in returns the part of the project in the cluster of a resource; its own one for a resource in none.
func (l loaded) in(m model.Manifest) *opened.Project {
	for _, c := range l.clusters {
		if c.On() == m.Cluster() {
			return c.Project
		}
	}
	return l.Project
}

// makePlan asks the API server for the changes that a deploy would make. It is done if there are none: all objects are as they are
// declared, and ready. Unless build is nil, it builds the images, and build receives the output.
func makePlan(ctx context.Context, p *opened.Project, tf tiltfile.Result, o buildanddeploy.PreviewOptions, build logstore.Logger, log *command.Printer) (plan api.Plan, done bool, err error) {
	l, err := load(ctx, p, tf)
	if err != nil {
		return plan, false, err
	}
	if l.unanswered != nil {
		logstore.Warnf(log, "The plan leaves out objects that are no longer declared: %v", l.unanswered)
	}
	defer log.Await(l.titles() + " to say what would change")()
	var closeEngine func()
	if o.Forecast, closeEngine, err = l.forecast(ctx, build); err != nil {
		return plan, false, err
	}
	defer closeEngine()
	if l.others, err = sessionsOf(ctx, p.Path, p.Home()); err != nil {
		return plan, false, err
	}
	var unready atomic.Bool
	o.Removal, o.Unready = deploy.RemovalBySession, func(model.ObjectID) { unready.Store(true) }
	steps, images, err := l.preview(ctx, o)
	if err != nil {
		return plan, false, err
	}
	if slices.ContainsFunc(images, func(im api.PlanImage) bool { return im.Source == api.ImageToBuild }) {
		l.sayBuilder(ctx, log)
	}
	plan = planOf(p.Path, p.Known.Context, steps)
	plan.Images = images
	return plan, !plan.Changes() && plan.Summary[api.ActionRun] == 0 && !unready.Load(), nil
}

// sayBuilder says that the operation would also start a builder of images in the cluster, which is no resource of the project.
func (l loaded) sayBuilder(ctx context.Context, log logstore.Logger) {
	if !l.BuildsInCluster(l.builder) {
		return
	}
	in, kube, err := l.BuildsIn(l.builder.Pod)
	if err != nil || kube == nil {
		return
	}
	var missing int
	var namespace string
	var how []string
	for _, r := range l.builder.Pod.All() {
		d := in.BuilderPod(kube, r.Pod, r.Number)
		plan, err := d.Plan(ctx)
		_ = d.Close() // it has started nothing
		if err != nil {
			logstore.Warnf(log, "The images cannot be built: %s", problem.Text(err))
			return
		}
		if !plan.There {
			missing++
			namespace = d.Namespace() + ofCluster(l.builder.Pod)
			if way := plan.String(); !slices.Contains(how, way) {
				how = append(how, way)
			}
		}
	}
	switch missing {
	case 0:
	case 1:
		logstore.Infof(log, "For the images, a builder would be started in namespace %s: %s", namespace, strings.Join(how, "; "))
	default:
		logstore.Infof(log, "For the images, %d builders would be started in namespace %s: %s", missing, namespace, strings.Join(how, "; "))
	}
}

// sessionsOf names the running sessions of a project, as a session that begins now sees them.
func sessionsOf(ctx context.Context, path, kubeContext string) (names []string, err error) {
	living, err := flags.Registry().Of(ctx, path, kubeContext)
	for _, s := range living {
		names = append(names, sessionTitle(s))
	}
	return names, err
}

// preview returns the steps of an operation on the chosen resources: objects, services of Compose, commands. It also returns the images
// for which there is something to say.
func (l loaded) preview(ctx context.Context, o buildanddeploy.PreviewOptions) ([]api.PlanStep, []api.PlanImage, error) {
	o.Declared, o.Namespace, o.Chosen, o.Others = l.manifests, l.Namespace, l.chosen, strings.Join(l.others, " and ")
	services, closeEngine, err := l.services(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	defer closeEngine()
	o.Beside = append(o.Beside, append(l.downCommands.Nodes(o), services...)...)
	gone, err := l.downCommands.Gone(o)
	if err != nil {
		return nil, nil, err
	}
	var images plannedImages
	if o.Forecast != nil {
		o.Forecast = images.collect(o.Forecast)
	}
	steps, err := l.previewClusters(ctx, o)
	if err == nil {
		err = l.previewServices(ctx, o)
	}
	markServices(steps, images.sorted())
	return append(steps, gone...), images.sorted(), err
}

// previewClusters returns the steps in all clusters, and outside of them.
func (l loaded) previewClusters(ctx context.Context, o buildanddeploy.PreviewOptions) ([]api.PlanStep, error) {
	if len(l.clusters) == 0 || l.clusters[0].On() != "" {
		return buildanddeploy.PreviewBeside(ctx, o)
	}
	var steps []api.PlanStep
	all := o.Declared
	for _, in := range l.clusters {
		o.Declared, o.Namespace = in.declared(all), in.Namespace
		more, err := in.cluster.Preview(in.Patiently(ctx), o)
		if err != nil {
			return nil, err
		}
		steps, o.Beside = append(steps, in.mark(more)...), nil // a service of Compose or a local resource belongs to the first part
	}
	return steps, nil
}

// titles names the clusters in a sentence.
func (l loaded) titles() string {
	if len(l.clusters) < 2 {
		return l.Title()
	}
	var names []string
	for _, in := range l.clusters {
		names = append(names, in.Title())
	}
	return words.All(names)
}

// previewServices makes the forecasts of the services of Compose, whose steps do without.
func (l loaded) previewServices(ctx context.Context, o buildanddeploy.PreviewOptions) error {
	if o.Forecast == nil {
		return nil
	}
	for _, m := range l.manifests {
		builds := m.Compose != nil && m.Builds()
		if !builds || !o.Affects(m) {
			continue
		}
		if _, err := o.Forecast(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

func planOf(path, kubeContext string, steps []api.PlanStep) api.Plan {
	plan := api.Plan{Tiltfile: path, Context: kubeContext, Steps: steps, Summary: map[api.PlanAction]int{}}
	for _, s := range steps {
		plan.Summary[s.Action]++
	}
	return plan
}
