package up

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/api"
)

func newAdopt(g *command.Global) *cobra.Command {
	var f keepFlags
	c := &cobra.Command{
		Use:   "adopt KIND/NAME… [-- TILTFILE ARGS]",
		Short: "Take over objects of the Tiltfile that existed before",
		Long: `Takes over objects that the Tiltfile declares and that others have made, by hand, with kubectl or with Helm. It shows them first, and asks.
An adopted object gets hone's labels and is in the ledger; nothing else changes. The next hone up, hone ci or hone deploy applies the declaration to it.
hone down gives it back as it was found.

hone up --adopt takes over all such objects, and applies their declarations at once. This command takes over the objects that you name.

An object that another project owns is refused: hone forget, in that project, releases it.`,
		Example: "  hone adopt configmap/colors\n  hone adopt deployment.apps/web service/web --namespace shop --dry-run",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			names, rest := args, []string(nil)
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				names, rest = args[:at], args[at:]
			}
			return adopt(cmd.Context(), g, &f, names, rest)
		},
	}
	f.add(c)
	return c
}

func adopt(ctx context.Context, g *command.Global, f *keepFlags, names, args []string) error {
	if len(names) == 0 {
		return problem.New("no objects are named", "name them: hone adopt KIND/NAME…")
	}
	log := g.Printer(g.Stdout, g.Stderr)
	p, err := opened.Open(g, opened.Choice{Flags: &f.project, Find: f.project.Resolve, Args: args, Subcommand: planned, Command: "adopt"}, log)
	if err != nil {
		return err
	}
	defer p.Close()
	l, err := load(ctx, p, tiltfile.Load(ctx, p.Evaluation()))
	if err = cmp.Or(err, l.unanswered); err != nil {
		return err
	}
	declared := opened.Objects{Missing: "is not declared by the Tiltfile", Mend: "declare it first: hone tiltfile -o yaml shows the declared objects"}
	for _, in := range l.clusters {
		all := in.cluster.DeclaredObjects(in.Patiently(ctx), in.declared(l.manifests), in.Namespace)
		for i := range all {
			all[i].Cluster = in.On()
		}
		declared.All = append(declared.All, all...)
	}
	chosen, err := declared.Choose(names, f.project.Namespace)
	if err != nil {
		return err
	}
	var adoptions []adopting
	var steps []api.PlanStep
	for _, in := range l.clusters {
		in.cluster.Declare(in.declared(l.manifests), l.read)
		here := slices.DeleteFunc(slices.Clone(chosen), func(r deploy.Recorded) bool { return r.Cluster != in.On() })
		if len(here) == 0 {
			continue
		}
		all, err := in.cluster.Adopting(in.Patiently(ctx), in.declared(l.manifests), here, in.Namespace)
		if err != nil {
			return err
		}
		adoptions = append(adoptions, adopting{in, all})
		steps = append(steps, in.mark(all.Steps())...)
	}
	plan := planOf(p.Path, l.Known.Context, steps)
	if !slices.ContainsFunc(steps, func(s api.PlanStep) bool { return s.Action == api.ActionAdopt }) {
		logstore.Infof(log, "Nothing to adopt: the project has %s already.", words.List(titles(chosen), "object"))
		return nil
	}
	if yes, err := f.agreed(ctx, g, log, plan, "adopt", "Adopt them?"); !yes || err != nil {
		return err
	}
	_, end := turn{p.Path, l.Known.Context, l.Namespace, fmt.Sprintf("hone adopt (pid %d)", os.Getpid()), g.Stderr}.take(ctx)
	defer end()
	for _, a := range adoptions {
		if err := a.cluster.Adopt(ctx, a.all, log); err != nil {
			return err
		}
	}
	logstore.Infof(log, "Adopted %s, unchanged. The next deploy applies the declaration.", words.List(titles(chosen), "object"))
	return nil
}

// adopting are the objects to adopt in one cluster.
type adopting struct {
	inCluster
	all buildanddeploy.Adoptions
}
