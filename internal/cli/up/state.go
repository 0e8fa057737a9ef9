package up

import (
	"context"
	"fmt"
	"io"
	"strings"
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
		Long: `The ledger records the objects that hone has applied for the project in a cluster. A project in several clusters has a ledger in each.
See hone docs state.`,
	}
	c.AddCommand(newStateShow(g), newStateUnlock(g), newStateMove(g), newStateExport(g), newStateImport(g))
	return c
}

// records is the ledger of a project, as far as hone state shows it.
type records struct {
	// Context is the context of the cluster.
	Context string `json:"context"`
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
	// Others are the ledgers in the other clusters of the project, as far as these answer.
	Others []records `json:"others,omitempty"`
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
			return withLedgers(cmd.Context(), g, &f, func(ctx context.Context, _ *opened.Project, in ledgers) error {
				return showState(ctx, g, in, write)
			})
		},
	}
	f.Add(c)
	f.AddCluster(c)
	command.AddDocumentFlag(c, &output, records{})
	return c
}

func showState(ctx context.Context, g *command.Global, in ledgers, write func(io.Writer, any) error) error {
	var all []records
	for _, one := range in.open {
		is, err := recordsOf(ctx, one)
		if err != nil {
			return err
		}
		all = append(all, is)
	}
	if write != nil {
		all[0].Others = all[1:]
		return print(g, write, all[0])
	}
	for i, is := range all {
		if in.several() {
			fmt.Fprintf(g.Stdout, "%s%s\n", strings.Repeat("\n", min(i, 1)), in.open[i].Title())
		}
		if err := is.print(g); err != nil {
			return err
		}
	}
	return nil
}

func newStateUnlock(g *command.Global) *cobra.Command {
	var f flags.Project
	var yes bool
	c := &cobra.Command{
		Use:   "unlock",
		Short: "Remove the lease of an operation that no longer runs",
		Long: `One operation at a time changes the objects of a project in a namespace: it holds a lease. The lease of a process that has died ends
by itself, at once on its machine and after half a minute elsewhere. This command removes it earlier, in each cluster of the project. An
operation that still runs then stops, and says why.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withLedgers(cmd.Context(), g, &f, func(ctx context.Context, _ *opened.Project, in ledgers) error {
				return unlock(ctx, g, in, yes)
			})
		},
	}
	f.Add(c)
	f.AddCluster(c)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func unlock(ctx context.Context, g *command.Global, in ledgers, yes bool) error {
	out := g.Printer(g.Stdout, g.Stderr)
	held := map[ledgerIn]ledger.Holder{}
	for _, one := range in.open {
		by, err := one.ledger.Holder(ctx, one.Namespace)
		if err != nil {
			return err
		}
		if by == nil {
			continue
		}
		held[one] = *by
		where := ""
		if in.several() {
			where = " in " + one.Title()
		}
		logstore.Infof(out, "The lease%s is held by %s.", where, by)
	}
	if len(held) == 0 {
		logstore.Infof(out, "Nobody holds the lease.")
		return nil
	}
	question := "Remove it?"
	if len(held) > 1 {
		question = "Remove them?"
	}
	if !yes {
		if !command.Interactive() {
			return problem.New("cannot ask whether to remove the lease: this is not a terminal", "add --yes")
		}
		if yes, err := confirmed(ctx, g, question); !yes || err != nil {
			return err
		}
	}
	for _, one := range in.open {
		by, is := held[one]
		if !is {
			continue
		}
		if err := one.ledger.Unlock(ctx, one.Namespace, by); err != nil {
			return err
		}
	}
	logstore.Infof(out, "Removed.")
	return nil
}

func recordsOf(ctx context.Context, in ledgerIn) (is records, err error) {
	l := in.ledger
	is = records{Context: in.Known.Context, Ledger: l.Place(), Encrypted: l.KeepsSecrets(), Project: l.Key().Project, Cluster: l.Key().Cluster}
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
	is.Holder, err = l.Holder(ctx, in.Namespace)
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
