package up

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/ledger"
)

func newState(g *command.Global) *cobra.Command {
	c := &cobra.Command{
		Use:   "state",
		Short: "Show, unlock, move or copy the ledger of the project",
		Long:  `The ledger records the objects that hone has applied for the project in this cluster. See hone docs state.`,
	}
	c.AddCommand(newStateShow(g), newStateUnlock(g), newStateMove(g), newStateExport(g), newStateImport(g))
	return c
}

// records is the ledger of a project, as far as hone state shows it.
type records struct {
	// Ledger is the place of the ledger, and Encrypted is set if it is encrypted with a key of the user.
	Ledger    string `json:"ledger"`
	Encrypted bool   `json:"encrypted"`
	Project   string `json:"project"`
	Cluster   string `json:"cluster"`
	Resources int    `json:"resources"`
	Objects   int    `json:"objects"`
	// Revision is the number of the newest revision; 0 if there is none.
	Revision int `json:"revision"`
	// Holder holds the lease of the namespace; nil if nobody does.
	Holder *ledger.Holder `json:"holder,omitempty"`
}

func newStateShow(g *command.Global) *cobra.Command {
	var f flags.Project
	var output string
	c := &cobra.Command{
		Use:   "show",
		Short: "Show where the ledger is, and what it records",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, err := command.DocumentWriter(output, "state show")
			if err != nil {
				return err
			}
			return withLedger(cmd.Context(), g, &f, func(ctx context.Context, p *opened.Project, l *ledger.Ledger) error {
				is, err := recordsOf(ctx, p, l)
				if err != nil {
					return err
				}
				if write != nil {
					return print(g, write, is)
				}
				return is.print(g)
			})
		},
	}
	f.Add(c)
	command.AddDocumentFlag(c, &output, records{})
	return c
}

func newStateUnlock(g *command.Global) *cobra.Command {
	var f flags.Project
	var yes bool
	c := &cobra.Command{
		Use:   "unlock",
		Short: "Remove the lease of an operation that no longer runs",
		Long: `One operation at a time changes the objects of a project in a namespace: it holds a lease. The lease of a process that has died ends
by itself, at once on its machine and after half a minute elsewhere. This command removes it earlier. An operation that still runs then
stops, and says why.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withLedger(cmd.Context(), g, &f, func(ctx context.Context, p *opened.Project, l *ledger.Ledger) error {
				return unlock(ctx, g, p, l, yes)
			})
		},
	}
	f.Add(c)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func unlock(ctx context.Context, g *command.Global, p *opened.Project, l *ledger.Ledger, yes bool) error {
	out := g.Printer(g.Stdout, g.Stderr)
	by, err := l.Holder(ctx, p.Namespace)
	if err != nil {
		return err
	}
	if by == nil {
		logstore.Infof(out, "Nobody holds the lease.")
		return nil
	}
	logstore.Infof(out, "The lease is held by %s.", by)
	if !yes {
		if !command.Interactive() {
			return problem.New("cannot ask whether to remove the lease: this is not a terminal", "add --yes")
		}
		if yes, err := confirmed(ctx, g, "Remove it?"); !yes || err != nil {
			return err
		}
	}
	if err := l.Unlock(ctx, p.Namespace, *by); err != nil {
		return err
	}
	logstore.Infof(out, "Removed.")
	return nil
}

// withLedger opens the ledger of a project for use.
func withLedger(ctx context.Context, g *command.Global, f *flags.Project, use func(context.Context, *opened.Project, *ledger.Ledger) error) error {
	p, err := opened.Open(g, opened.Choice{Flags: f, Find: f.Path}, g.Printer(g.Stderr, g.Stderr))
	if err != nil {
		return err
	}
	defer p.Close()
	cluster, err := p.Connect(ctx)
	if err != nil {
		return err
	}
	memory, err := cluster.Ledger(ctx)
	if err != nil {
		return err
	}
	return use(ctx, p, memory.Ledger)
}

func recordsOf(ctx context.Context, p *opened.Project, l *ledger.Ledger) (is records, err error) {
	is = records{Ledger: l.Place(), Encrypted: l.KeepsSecrets(), Project: l.Key().Project, Cluster: l.Key().Cluster}
	all, err := l.Resources()
	if err != nil {
		return is, err
	}
	is.Resources = len(all)
	for _, list := range all {
		is.Objects += len(list)
	}
	history, err := l.History()
	if err != nil {
		return is, err
	}
	if n := len(history); n > 0 {
		is.Revision = history[n-1].Number
	}
	is.Holder, err = l.Holder(ctx, p.Namespace)
	return is, err
}

func (is records) print(g *command.Global) error {
	encrypted, holder := "with the key of this machine, except names", "nobody"
	if is.Encrypted {
		encrypted = "with " + ledger.KeyVariable
	}
	if is.Holder != nil {
		holder = is.Holder.String()
	}
	t := tabwriter.NewWriter(g.Stdout, 0, 4, 2, ' ', 0)
	for _, row := range [][2]string{{"Ledger", is.Ledger}, {"Project", is.Project}, {"Cluster", is.Cluster}, {"Encrypted", encrypted},
		{"Records", fmt.Sprintf("%d objects of %d resources", is.Objects, is.Resources)}, {"Revision", fmt.Sprint(is.Revision)}, {"Lease", holder}} {
		fmt.Fprintf(t, "%s\t%s\n", row[0], row[1])
	}
	return t.Flush()
}
