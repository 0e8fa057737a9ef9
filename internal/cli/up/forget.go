package up

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// keepFlags are the flags of commands that change the records of single objects.
type keepFlags struct {
	project flags.Project
	dryRun  bool
	yes     bool
}

func (f *keepFlags) add(c *cobra.Command) {
	f.project.Add(c)
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "only show what would be done")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
}

// agreed shows a plan and asks, unless the flags say otherwise. It returns false if nothing is to be done.
func (f *keepFlags) agreed(ctx context.Context, g *command.Global, log logstore.Logger, plan api.Plan, verb, question string) (bool, error) {
	log.Write(logstore.LevelInfo, command.PlanText(plan))
	switch {
	case f.dryRun:
		return false, nil
	case f.yes:
		return true, nil
	case !command.Interactive():
		return false, problem.New("cannot ask whether to "+verb+": this is not a terminal", "add --yes, or only look: hone "+verb+" --dry-run")
	}
	return confirmed(ctx, g, question)
}

func newForget(g *command.Global) *cobra.Command {
	var f keepFlags
	c := &cobra.Command{
		Use:   "forget KIND/NAME…",
		Short: "Drop objects from the ledger without deleting them",
		Long: fmt.Sprintf(`Drops objects from the ledger of the project. They stay in the cluster as they are, and lose hone's labels, annotations and
ownership of fields: from then on they belong to nobody, and hone down does not delete them. It shows them first, and asks.

An object that existed before hone stays as it is now; hone down would give it back as hone found it. An object that other projects
share stays theirs. %s/RESOURCE is the command that deletes what a command of the Tiltfile has deployed, or that undoes the work of a
local resource: hone no longer runs it.

To hone, a forgotten object that the Tiltfile still declares is one of others: the next deploy refuses it, or takes it over with --adopt.
So remove it from the Tiltfile, too. Updates of a session of the project wait meanwhile.

hone get records lists the recorded objects.`, deploy.CommandWord),
		Example: "  hone forget configmap/colors\n  hone forget deployment.apps/web service/web --namespace shop --dry-run",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return forget(cmd.Context(), g, &f, args) },
	}
	f.add(c)
	return c
}

func forget(ctx context.Context, g *command.Global, f *keepFlags, args []string) error {
	log := g.Printer(g.Stdout, g.Stderr)
	p, err := opened.Open(g, opened.Choice{Flags: &f.project, Find: f.project.Path, Command: "forget"}, log)
	if err != nil {
		return err
	}
	defer p.Close()
	all, err := p.Recorded(ctx)
	if err != nil {
		return err
	}
	chosen, err := opened.Records(all).Choose(args, f.project.Namespace)
	if err != nil {
		return err
	}
	downs, err := p.DownCommands(ctx)
	if err != nil {
		return err
	}
	r := forgetting{downs: downs}
	for _, c := range chosen {
		if c.Local {
			r.local = append(r.local, c)
			continue
		}
		r.shared = append(r.shared, c)
		if err := r.add(ctx, p, c); err != nil {
			return err
		}
	}
	steps, err := r.steps(p.Patiently(ctx))
	if err != nil {
		return err
	}
	if yes, err := f.agreed(ctx, g, log, planOf(p.Path, p.Known.Context, steps), "forget", "Forget them?"); !yes || err != nil {
		return err
	}
	waiting, end := turn{p.Path, p.Known.Context, p.Namespace, fmt.Sprintf("hone forget (pid %d)", os.Getpid()), g.Stderr}.take(ctx)
	defer end()
	if err := r.run(ctx, log); err != nil {
		return err
	}
	logstore.Infof(log, "Forgot %s.", words.List(titles(chosen), "record"))
	r.warn(waiting, log)
	return nil
}

// forgetting is one run of hone forget.
type forgetting struct {
	clusters []forgettingIn
	downs    *buildanddeploy.DownCommands
	// shared are records of the project in clusters, and local the ones of this machine.
	shared, local []deploy.Recorded
}

// forgettingIn are the records to forget in one cluster.
type forgettingIn struct {
	inCluster
	records []deploy.Recorded
}

// add adds a record to its cluster.
func (r *forgetting) add(ctx context.Context, p *opened.Project, record deploy.Recorded) error {
	for i, in := range r.clusters {
		if in.On() == record.Cluster {
			r.clusters[i].records = append(r.clusters[i].records, record)
			return nil
		}
	}
	if record.Cluster != "" {
		part, err := p.In(model.ClusterDeclaration{Context: record.Cluster})
		if err != nil {
			return err
		}
		p = part
	}
	cluster, err := p.Cluster(ctx)
	if err == nil {
		r.clusters = append(r.clusters, forgettingIn{inCluster{p, cluster}, []deploy.Recorded{record}})
	}
	return err
}

func (r forgetting) steps(ctx context.Context) (steps []api.PlanStep, err error) {
	for _, in := range r.clusters {
		more, err := in.cluster.Forgetting(ctx, in.records)
		if err != nil {
			return nil, err
		}
		steps = append(steps, in.mark(more)...)
	}
	for _, c := range r.local {
		steps = append(steps, api.PlanStep{Object: api.PlanObject{Kind: c.Kind, Name: c.Name}, Resource: string(c.Resource), Action: api.ActionOrphan,
			Reason: "hone no longer runs it"})
	}
	return steps, err
}

func (r forgetting) run(ctx context.Context, log logstore.Logger) error {
	for _, in := range r.clusters {
		if err := in.cluster.Forget(ctx, in.records, log); err != nil {
			return err
		}
	}
	for _, c := range r.local {
		records, err := r.downs.Ledger()
		if err == nil {
			err = records.ForgetCommand(c.Resource)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// warn says what becomes of objects that the Tiltfile still declares.
func (r forgetting) warn(waiting []sessions.Info, log logstore.Logger) {
	const then = "refuses them as objects of others, or takes them over with --adopt"
	for _, s := range waiting {
		logstore.Warnf(log, "%s works on this project. If its Tiltfile still declares them, its next update of %s %s.", capitalized(sessionTitle(s)),
			words.List(resourcesOf(slices.Concat(r.shared, r.local)), "resource"), then)
	}
	if len(waiting) == 0 && len(r.shared) > 0 {
		logstore.Infof(log, "If the Tiltfile still declares them, the next deploy %s.", then)
	}
}

func titles(records []deploy.Recorded) (out []string) {
	for _, r := range records {
		out = append(out, r.Title())
	}
	return out
}

// resourcesOf returns the names of the resources of records, each once.
func resourcesOf(records []deploy.Recorded) []string {
	var names []model.ManifestName
	for _, r := range records {
		names = append(names, r.Resource)
	}
	slices.Sort(names)
	var out []string
	for _, name := range slices.Compact(names) {
		out = append(out, string(name))
	}
	return out
}
