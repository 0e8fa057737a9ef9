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
		Long: `Lists the revisions of the project, the newest first: when, by which command, by whom and from which commit its
objects were applied, and how many were created (+), changed (~) and deleted (-), or forgotten: they stay in the cluster. A run of a command is a revision if it changes
something; in a session of hone up, so is each evaluation of the Tiltfile whose updates do. The last ten are kept.

Each cluster of a project has revisions with numbers of their own, and all clusters are listed that this machine knows of: those that hone has
deployed to or previewed. One that does not answer is named and left out, and the command fails after it has listed the others.

-dirty marks a commit whose working tree had uncommitted changes of tracked files.

With REVISION, it shows how the objects of that revision differ from those of the one before, and from which Tiltfile it comes: its path in
the working tree, and a digest of the files that its evaluation has read. Values of Secrets are never shown.

It does not evaluate the Tiltfile. hone rollback restores a revision.`,
		Example: "  hone history\n  hone history 3\n  hone history 3 --cluster eu",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return history(cmd.Context(), g, &f, output, args) },
	}
	f.Add(c)
	f.AddCluster(c)
	command.AddDocumentFlag(c, &output, []api.Revision{}, api.Plan{})
	return c
}

func history(ctx context.Context, g *command.Global, f *flags.Project, output string, args []string) error {
	write, err := command.DocumentWriter(output, "history")
	if err != nil {
		return err
	}
	return withLedgers(ctx, g, f, func(_ context.Context, _ *opened.Project, all ledgers) error {
		return printRevisions(g, all, args, write)
	})
}

func printRevisions(g *command.Global, in ledgers, args []string, write func(io.Writer, any) error) error {
	if len(args) == 1 {
		return showRevision(g, in, args[0], write)
	}
	all, err := in.history()
	if err != nil {
		return err
	}
	if write != nil {
		return print(g, write, all)
	}
	if len(all) == 0 {
		logstore.Infof(g.Printer(g.Stdout, g.Stderr), "No revisions yet: hone has applied nothing for this project in %s.", in.titles())
		return nil
	}
	title := func(on string) string {
		i := slices.IndexFunc(in.open, func(l ledgerIn) bool { return l.On() == on })
		return in.open[i].Title()
	}
	return printHistory(g.Stdout, all, title, time.Now())
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

// printHistory prints a table. With declared clusters, each cluster has its title and its revisions.
func printHistory(w io.Writer, all []ledger.Revision, title func(on string) string, now time.Time) error {
	var rows bytes.Buffer
	t := tabwriter.NewWriter(&rows, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "REVISION\tAGE\tCOMMAND\tBY\tCOMMIT\tOBJECTS\tCHANGES\tRESULT")
	for _, r := range all {
		age := ""
		if !r.Began.IsZero() {
			age = view.Age(r.Began, now)
		}
		fmt.Fprintln(t, strings.Join(view.RevisionCells(r, age), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	several := view.OfSeveral(all)
	lines := strings.SplitAfter(rows.String(), "\n")
	var out strings.Builder
	out.WriteString(lines[0])
	for i, r := range all {
		if several && view.FirstOfCluster(all, i) {
			fmt.Fprintf(&out, "\n%s\n", title(r.Cluster))
		}
		out.WriteString(lines[i+1])
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// revisionNumber reads the number of a revision from a command line.
func revisionNumber(word string) (int, error) {
	number, err := strconv.Atoi(word)
	if err != nil {
		return 0, problem.New(fmt.Sprintf("%q is not the number of a revision", word), "choose one that hone history shows")
	}
	return number, nil
}

// showRevision prints the differences of a revision to the one before, as a plan.
func showRevision(g *command.Global, all ledgers, revision string, write func(io.Writer, any) error) error {
	number, err := revisionNumber(revision)
	if err != nil {
		return err
	}
	in, err := all.with(number, fmt.Sprintf("hone history %d", number))
	if err != nil {
		return err
	}
	steps, err := deploy.Revised(in.ledger, number)
	if err != nil {
		return err
	}
	history, err := in.ledger.History()
	if err != nil {
		return err
	}
	plan := revisionPlan(in.Path, in.Known.Context, in.On(), history, number, steps)
	if write == nil && plan.Revision != nil {
		fmt.Fprintln(g.Stdout, g.Secrets.Text(view.RevisionTitle(*plan.Revision)))
	}
	return printPlan(g, write, plan, false)
}

// revisionPlan returns the differences of a revision to the one before as a plan. on is its cluster, as in model.K8sTarget.
func revisionPlan(path, kubeContext, on string, all []ledger.Revision, number int, steps []api.PlanStep) api.Plan {
	plan := planOf(path, kubeContext, steps)
	if i := slices.IndexFunc(all, func(r ledger.Revision) bool { return r.Number == number }); i >= 0 {
		is := all[i]
		is.Cluster = on
		plan.Revision = &is
	}
	return plan
}
