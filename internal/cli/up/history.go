package up

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/api"
)

func newHistory(g *command.Global) *cobra.Command {
	var f flags.Project
	var output string
	c := &cobra.Command{
		Use:   "history [REVISION]",
		Short: "List the revisions of the project, or show one of them",
		Long: `Lists the revisions of the project in this cluster, the newest first: when, by which command, by whom and from which commit its
objects were applied, and how many were created (+), changed (~) and deleted (-), or forgotten: they stay in the cluster. A run of a command is a revision if it changes
something; in a session of hone up, so is each evaluation of the Tiltfile whose updates do. The last ten are kept.

-dirty marks a commit whose working tree had uncommitted changes of tracked files.

With REVISION, it shows how the objects of that revision differ from those of the one before, and from which Tiltfile it comes: its path in
the working tree, and a digest of the files that its evaluation has read. Values of Secrets are never shown.

It does not evaluate the Tiltfile. hone rollback restores a revision.`,
		Example: "  hone history\n  hone history 3",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return history(cmd.Context(), g, &f, output, args) },
	}
	f.Add(c)
	command.AddDocumentFlag(c, &output, []api.Revision{}, api.Plan{})
	return c
}

func history(ctx context.Context, g *command.Global, f *flags.Project, output string, args []string) error {
	write, err := command.DocumentWriter(output, "history")
	if err != nil {
		return err
	}
	return withLedger(ctx, g, f, func(_ context.Context, p *opened.Project, records *ledger.Ledger) error {
		return printRevisions(g, p, records, args, write)
	})
}

func printRevisions(g *command.Global, p *opened.Project, records *ledger.Ledger, args []string, write func(io.Writer, any) error) error {
	if len(args) == 1 {
		return showRevision(g, p, records, args[0], write)
	}
	all, err := records.History()
	if err != nil {
		return err
	}
	slices.Reverse(all)
	if write != nil {
		return print(g, write, all)
	}
	if len(all) == 0 {
		logstore.Infof(g.Printer(g.Stdout, g.Stderr), "No revisions yet: hone has applied nothing for this project in %s.", p.Title())
		return nil
	}
	return printHistory(g.Stdout, all, time.Now())
}

// print prints a document, with the values of Secrets hidden.
func print(g *command.Global, write func(io.Writer, any) error, what any) error {
	var doc bytes.Buffer
	if err := write(&doc, what); err != nil {
		return err
	}
	_, err := io.WriteString(g.Stdout, g.Secrets.Text(doc.String()))
	return err
}

func printHistory(w io.Writer, all []ledger.Revision, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "REVISION\tAGE\tCOMMAND\tBY\tCOMMIT\tOBJECTS\tCHANGES\tRESULT")
	for _, r := range all {
		age := ""
		if !r.Began.IsZero() {
			age = view.Age(r.Began, now)
		}
		fmt.Fprintln(t, strings.Join(view.RevisionCells(r, age), "\t"))
	}
	return t.Flush()
}

// showRevision prints the differences of a revision to the one before, as a plan.
func showRevision(g *command.Global, p *opened.Project, records *ledger.Ledger, revision string, write func(io.Writer, any) error) error {
	number, err := strconv.Atoi(revision)
	if err != nil {
		return problem.New(fmt.Sprintf("%q is not the number of a revision", revision), "choose one that hone history shows")
	}
	steps, err := deploy.Revised(records, number)
	if err != nil {
		return err
	}
	all, err := records.History()
	if err != nil {
		return err
	}
	plan := revisionPlan(p, all, number, steps)
	if write == nil && plan.Revision != nil {
		fmt.Fprintln(g.Stdout, g.Secrets.Text(view.RevisionTitle(*plan.Revision)))
	}
	return printPlan(g, write, plan, false)
}

// revisionPlan returns the differences of a revision to the one before as a plan.
func revisionPlan(p *opened.Project, all []ledger.Revision, number int, steps []api.PlanStep) api.Plan {
	plan := planOf(p.Path, p.Known.Context, steps)
	if i := slices.IndexFunc(all, func(r ledger.Revision) bool { return r.Number == number }); i >= 0 {
		plan.Revision = &all[i]
	}
	return plan
}
