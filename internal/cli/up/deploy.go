package up

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/api"
)

// deployFlags are the flags of hone deploy.
type deployFlags struct {
	ci  ciFlags
	yes bool
}

func newDeploy(g *command.Global) *cobra.Command {
	var f deployFlags
	c := &cobra.Command{
		Use:   "deploy [PLAN] [NAME…] [-- TILTFILE ARGS]",
		Short: "Show what would change, and then build and deploy once",
		Long: fmt.Sprintf(`Shows what hone preview shows, asks whether to do it, and then builds and deploys once, as hone ci does: it does not watch files,
and ends when everything is ready, or at the first failure that waiting would not fix. The Tiltfile is evaluated once: what is deployed
is what was shown, even if the Tiltfile changes before you answer.

With PLAN, a file of hone preview -o plan=FILE, it does what that showed, and does not ask. The plan holds the Tiltfile, the
arguments, the context and the namespace. It is made once more first: if the Tiltfile or the cluster have changed so that
something else would happen, nothing is done. Changes that the plan would not touch, such as a status or the fields of others,
do not count. Of names after the plan, only those resources are deployed.

Images are built from the source tree as it is now; one whose inputs are as they were when it was built is used again.

If nothing would change and every object is ready, it ends at once.

It exits as hone ci does, and with %d if the plan is refused.`, command.ExitFailure),
		Example: "  hone deploy\n  hone deploy api --yes\n  hone preview -o plan=next.plan && hone deploy next.plan",
		RunE:    func(cmd *cobra.Command, args []string) error { return deployOnce(cmd, g, f, args) },
	}
	f.ci.add(c)
	f.ci.session.project.Begins = false // it carries out the plan of preview, in the same cluster
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return c
}

func deployOnce(cmd *cobra.Command, g *command.Global, f deployFlags, args []string) error {
	shown, names, err := readPlanFile(args)
	if err != nil {
		return err
	}
	if shown != nil {
		if args, err = f.follow(cmd, shown, args[0], names); err != nil {
			return err
		}
	}
	if shown == nil && !f.yes && !command.Interactive() {
		return problem.New("cannot ask whether to deploy: this is not a terminal", "add --yes, or deploy a plan that you have looked at: hone preview -o plan=FILE, then hone deploy FILE").See("preview")
	}
	o, err := f.ci.options(g, args)
	if err != nil {
		return err
	}
	o.called, o.choice.Command, o.shown = "hone deploy", "deploy", true // it carries out the plan that it shows
	p := planning{o: o, yes: f.yes, shown: shown, some: len(names) > 0, path: cmd.Flags().Arg(0)}
	p.evaluate = func(ctx context.Context, p *opened.Project, _ *command.Printer) (deployment, error) {
		return deployment{p, tiltfile.Evaluate(ctx, p.Evaluation()), "Deploy this?"}, nil
	}
	return p.deploy(cmd.Context(), g)
}

// planning is a deploy that shows its plan, asks, and carries it out.
type planning struct {
	o   options
	yes bool // it does not ask
	// evaluate returns the resources of a project to deploy.
	evaluate func(context.Context, *opened.Project, *command.Printer) (deployment, error)
	// shown is the plan that was shown earlier, in the file at path; nil if there is none. If some, only some of its resources are deployed.
	shown *planFile
	some  bool
	path  string
}

// deployment holds the resources that a planning deploys, the part of the project that they belong to, and the question that comes first.
type deployment struct {
	in        *opened.Project
	evaluated *tiltfile.Evaluated
	question  string
}

func (d planning) deploy(ctx context.Context, g *command.Global) (err error) {
	o, shown := d.o, d.shown
	out := g.Printer(g.Stderr, g.Stderr)
	whole, err := opened.Open(g, o.choice, out)
	if err != nil {
		return o.notBegun(err)
	}
	defer whole.Close()
	wanted, err := d.evaluate(ctx, whole, out)
	if err != nil {
		return o.notBegun(err)
	}
	o.project, o.evaluated = wanted.in, wanted.evaluated
	var build logstore.Logger
	if shown != nil && shown.Plan.Tried() {
		build = out // it goes by the names of these images
	}
	plan, done, err := makePlan(ctx, o.project, o.evaluated.Result, buildanddeploy.PreviewOptions{Adopt: o.adopt, Prune: o.prune}, build, out)
	if err != nil {
		return o.notBegun(err)
	}
	if shown != nil {
		lines, err := stale(shown.Plan, plan, d.some, &g.Secrets)
		if err != nil {
			return err
		}
		if len(lines) > 0 {
			return o.notBegun(problem.New("the plan is stale: something else would happen now, and nothing was done\n"+strings.Join(lines, "\n"),
				"look at it again: hone preview -o plan="+d.path).See("preview"))
		}
	}
	out.Write(logstore.LevelInfo, command.PlanText(plan))
	if n := plan.Summary[api.ActionBlocked]; n > 0 {
		return o.notBegun(problem.New(words.Count(n, "object")+" of this plan would be refused, so nothing was done",
			"the plan says why, beside each; hone deploy NAME leaves the others out").See("preview"))
	}
	if done && !o.reports() {
		fmt.Fprintln(o.human(), "SUCCESS. Nothing to deploy: everything is as declared, and ready.")
		return nil
	}
	if shown == nil && !d.yes && (plan.Changes() || plan.Summary[api.ActionRun] > 0) {
		if yes, err := confirmed(ctx, g, wanted.question); !yes || err != nil {
			return err
		}
	}
	return runSession(ctx, o)
}

// follow sets the flags to the values of a plan, and returns its arguments. Names choose resources of a plan that was made for all.
func (f *deployFlags) follow(cmd *cobra.Command, shown *planFile, path string, names []string) ([]string, error) {
	if err := f.ci.session.project.Fix(cmd, shown.Plan.Tiltfile, shown.Plan.Context, shown.Namespace, "the plan "+path); err != nil {
		return nil, err
	}
	for _, name := range []string{"adopt", "prune", "no-prune"} {
		if cmd.Flags().Changed(name) {
			return nil, problem.New(fmt.Sprintf("--%s is given, and the plan %s says already what happens", name, path), fmt.Sprintf("make one with it: hone preview --%s -o plan=%s", name, path))
		}
	}
	f.ci.session.adopt, f.ci.session.prune = shown.Adopt, pruneFlags{shown.Prune, shown.NoPrune}
	switch {
	case len(names) == 0:
		return shown.Args, nil
	case len(shown.Args) > 0:
		return nil, problem.New(fmt.Sprintf("the plan %s was made for %s: it can only be deployed as a whole", path, strings.Join(shown.Args, " ")),
			fmt.Sprintf("make one for less: hone preview %s -o plan=%s", strings.Join(names, " "), path))
	}
	return names, nil
}

// confirmed asks the user a question, and prints that nothing was done if the answer is no.
func confirmed(ctx context.Context, g *command.Global, question string) (bool, error) {
	yes, err := command.Confirm(ctx, g.Stdout, question)
	if err == nil && !yes {
		fmt.Fprintln(g.Stdout, "Nothing was done.")
	}
	return yes, err
}
