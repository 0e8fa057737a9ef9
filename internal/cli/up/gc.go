package up

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/api"
)

// gcFlags are the flags of hone gc.
type gcFlags struct {
	project flags.Project
	dryRun  bool
	yes     bool
}

func newGC(g *command.Global) *cobra.Command {
	var f gcFlags
	c := &cobra.Command{
		Use:   "gc [-- TILTFILE ARGS]",
		Short: "Delete what the Tiltfile no longer declares",
		Long: `Deletes the objects that hone applied for this Tiltfile and that it declares no longer: those that up, ci or deploy left with
--no-prune, or that an interrupted one left. It shows them first, and asks. It waits until they are gone.

Objects that the Tiltfile declares are not touched, whether they are enabled or not. Namespaces, volumes and definitions of kinds
stay until hone down deletes them, and so does what was there before hone.`,
		Example: "  hone gc --dry-run\n  hone gc --yes",
		RunE:    func(cmd *cobra.Command, args []string) error { return gc(cmd.Context(), g, f, args) },
	}
	f.project.Add(c)
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "only show what would be deleted")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return c
}

func gc(ctx context.Context, g *command.Global, f gcFlags, args []string) error {
	path, err := f.project.Resolve()
	if err != nil {
		return err
	}
	log := command.NewPrinter(g.Stdout, g.Stderr)
	l, err := load(ctx, path, planRequest{project: f.project, args: args}, log, log)
	if err != nil {
		return err
	}
	defer l.asked.kube.Close()
	l.cluster.Declare(l.manifests)
	steps, err := l.preview(ctx, false, buildanddeploy.PruneAll)
	if err != nil {
		return err
	}
	steps = slices.DeleteFunc(steps, func(s api.PlanStep) bool { return s.Action != api.ActionDelete && s.Action != api.ActionKeep })
	plan := planOf(path, l.asked.known.Context, steps)
	if len(steps) == 0 {
		logstore.Infof(log, "Nothing to delete: the Tiltfile declares all that hone has applied.")
		return nil
	}
	log.Write(logstore.LevelInfo, planText(plan))
	if f.dryRun || !plan.Changes() {
		return nil
	}
	if !f.yes {
		if !command.Interactive() {
			return problem.New("nobody can be asked whether to delete: this is not a terminal", "say --yes, or only look: hone gc --dry-run")
		}
		fmt.Fprint(g.Stdout, "Delete them? (y/N) ")
		answer, err := command.ReadAnswer(ctx)
		if err != nil {
			return err
		}
		if !command.IsYes(answer) {
			fmt.Fprintln(g.Stdout, "Nothing was done.")
			return nil
		}
	}
	return l.cluster.Prune(ctx, l.manifests, l.chosen, l.namespace, log)
}
