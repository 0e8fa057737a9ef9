package up

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
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
		Long: `Deletes the objects that hone applied for this Tiltfile and that it no longer declares: those that up, ci or deploy left with
--no-prune, or that an interrupted one left. It shows them first, and asks. It waits until they are gone. Then it runs the down
commands of local resources that the Tiltfile no longer declares.

Objects that the Tiltfile declares are not touched, whether they are enabled or not. Namespaces, volumes and definitions of kinds
stay until hone down deletes them, and so does what was there before hone.

The Tiltfile is evaluated as for hone ci, or, beside a session of the project, as for that session. The session must have the same
Tiltfile arguments: with others, its Tiltfile may declare what this command would delete.`,
		Example: "  hone gc --dry-run\n  hone gc --yes",
		RunE:    func(cmd *cobra.Command, args []string) error { return gc(cmd.Context(), g, f, args) },
	}
	f.project.Add(c)
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "only show what would be deleted")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return c
}

func gc(ctx context.Context, g *command.Global, f gcFlags, args []string) error {
	log := g.Printer(g.Stdout, g.Stderr)
	p, err := opened.Open(g, opened.Choice{Flags: &f.project, Find: f.project.Resolve, Args: args, Subcommand: planned, Command: "gc"}, log)
	if err != nil {
		return err
	}
	defer p.Close()
	living, err := flags.Registry().Of(ctx, p.Path, p.Known.Context)
	if err != nil {
		return err
	}
	if len(living) > 0 { // its Tiltfile may declare more for that command
		p.Subcommand = living[0].Command
	}
	l, err := load(ctx, p, tiltfile.Load(ctx, p.Evaluation()))
	if err = cmp.Or(err, l.unanswered); err != nil {
		return err
	}
	if len(args) == 0 { // the Tiltfile's own choice decides which resources run, not which objects gc may delete
		l.chosen = func(model.ManifestName) bool { return true }
	}
	l.downCommands.Declare(l.manifests)
	for _, in := range l.clusters {
		in.cluster.Declare(in.declared(l.manifests), l.read)
	}
	found := log.Await(l.titles() + " to say what there is to delete")
	steps, _, err := l.preview(ctx, buildanddeploy.PreviewOptions{Prune: buildanddeploy.PruneAll, Removal: deploy.RemovalAsked})
	found()
	if err != nil {
		return err
	}
	steps = slices.DeleteFunc(steps, func(s api.PlanStep) bool {
		local := s.Object.Kind == api.PlanLocal && s.Action == api.ActionHandOver
		return !local && !slices.Contains([]api.PlanAction{api.ActionDelete, api.ActionKeep, api.ActionOrphan}, s.Action)
	})
	plan := planOf(p.Path, l.Known.Context, steps)
	if len(steps) == 0 {
		logstore.Infof(log, "Nothing to delete: the Tiltfile declares all that hone has applied.")
		return nil
	}
	log.Write(logstore.LevelInfo, command.PlanText(plan))
	if f.dryRun || !plan.Changes() {
		return nil
	}
	if err := besideSessions(ctx, l); err != nil {
		return err
	}
	if !f.yes {
		if !command.Interactive() {
			return problem.New("cannot ask whether to delete: this is not a terminal", "add --yes, or only look: hone gc --dry-run")
		}
		if yes, err := confirmed(ctx, g, "Delete them?"); !yes || err != nil {
			return err
		}
	}
	for _, in := range l.clusters {
		if err := in.cluster.Prune(ctx, in.declared(l.manifests), l.chosen, in.Namespace, log); err != nil {
			return err // a down command may undo something that the remaining objects need
		}
	}
	if err := l.downCommands.Prune(ctx, l.manifests, l.chosen, log); err != nil {
		return err
	}
	logstore.Infof(log, "Done.")
	return nil
}

// besideSessions returns a problem if a running session of the project evaluates the Tiltfile for another command or with other
// arguments, or works in another namespace: that session may declare objects that this command does not see.
func besideSessions(ctx context.Context, l loaded) error {
	living, err := flags.Registry().Of(ctx, l.Path, l.Known.Context)
	if err != nil {
		return err
	}
	for _, s := range living {
		mend := fmt.Sprintf("call hone gc as that session was called, or end it first: hone stop --session %s", s.Name)
		if s.Socket == "" {
			return problem.New(sessionTitle(s)+" is just starting on this project: nothing was deleted", "try again in a moment")
		}
		differs, err := difference(ctx, s, l)
		if err != nil {
			return problem.Wrap(err, sessionTitle(s)+" works on this project and does not answer: nothing was deleted", mend)
		}
		if differs != "" {
			return problem.New(fmt.Sprintf("%s works on this project %s: it may need what would be deleted", sessionTitle(s), differs), mend)
		}
	}
	return nil
}

// difference says how the evaluation of a session differs from this one; empty for not at all.
func difference(ctx context.Context, s sessions.Info, l loaded) (string, error) {
	others, err := client.Over(s).Args(ctx)
	if err != nil {
		return "", err
	}
	view, err := client.Over(s).View(ctx)
	switch {
	case err != nil:
		return "", err
	case !slices.Equal(others, l.Args):
		return "with other Tiltfile arguments" + shownArgs(others), nil
	case view.Namespace != l.Namespace:
		return fmt.Sprintf("in namespace %s, not in %s", view.Namespace, l.Namespace), nil
	case s.Command != l.Subcommand:
		return fmt.Sprintf("as hone %s, and the Tiltfile was evaluated as for hone %s", s.Command, l.Subcommand), nil
	}
	return "", nil
}

// shownArgs returns Tiltfile arguments as part of a message.
func shownArgs(args []string) string {
	if len(args) == 0 {
		return " (none)"
	}
	return " (" + strings.Join(args, " ") + ")"
}
